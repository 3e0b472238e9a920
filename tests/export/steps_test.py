#!/usr/bin/env python3
"""measure_torch.py's use of marks in time, without torch: the test moves the clock on. stepcast, if built, reads the written
workload.

    steps_test.py [STEPCAST]"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "calibrate"))
sys.dont_write_bytecode = True
import measure_torch as measure

STEPCAST = None


class Clock:
    def __init__(self): self.at = 0.0
    def now(self): return self.at
    def sleep(self, milliseconds): self.at += milliseconds * 1e-3


def later(earlier, now): return now - earlier


def train(steps, warm_up=1, passes=1, gradients=(("b", 2.0), ("a", 5.0)), forward=lambda step: 10.0, mark=0.0, tail=0.0, idle=0.0, scaling=0.0, clipping=0.0):
    """Steps of forward, backward and an update of 4 ms. Gradients get ready so many ms after backward began; each mark takes
    `mark` ms; backward goes on for `tail` ms after the last. Nothing is timed for `idle` ms before a step, `scaling` before
    backward, `clipping` before the update."""
    clock = Clock()
    record = measure.Steps(clock.now, warm_up, steps=100)
    for step in range(steps):
        clock.sleep(idle)
        for _ in range(passes):
            with record.forward(): clock.sleep(forward(step))
            clock.sleep(scaling)
            with record.backward():
                before = 0.0
                for name, at in gradients(step) if callable(gradients) else gradients:
                    clock.sleep(at - before)
                    record.ready(name)
                    if record.step.is_marked: clock.sleep(mark)
                    before = at
                clock.sleep(tail)
        clock.sleep(clipping)
        with record.update(): clock.sleep(4.0)
    return record


def milliseconds(times): return [(name, round(gap * 1e3, 9)) for name, gap in times.gaps]


class Medians(unittest.TestCase):
    def test_times_of_equal_steps_are_theirs(self):
        times = train(steps=9, idle=3.0).times(later)
        self.assertEqual(milliseconds(times), [("b", 2.0), ("a", 3.0)])
        for found, expected in ((times.forward, 10e-3), (times.backward, 5e-3), (times.update, 4e-3), (times.between, 3e-3)): self.assertAlmostEqual(found, expected)
        self.assertEqual((times.passes, times.steps), (1, 8))  # 9 of which one warms up

    def test_steps_of_the_warm_up_do_not_count(self):
        slow_at_first = lambda step: 500.0 if step < 3 else 10.0 + step
        # The middle one of the steps 3 to 9, 6, takes 16 ms.
        self.assertAlmostEqual(train(steps=10, warm_up=3, forward=slow_at_first).times(later).forward, 16e-3)

    def test_what_stands_between_the_parts_of_a_step_is_in_them(self):
        times = train(steps=9, idle=3.0, scaling=0.5, clipping=1.5).times(later)
        for found, expected in ((times.forward, 10.5e-3), (times.backward, 5e-3), (times.update, 5.5e-3), (times.between, 3e-3)): self.assertAlmostEqual(found, expected)

    def test_marks_share_no_period_with_the_loop(self):
        for period in (2, 3, 4, 8):  # as of two models that take turns
            turns = train(steps=40, gradients=lambda step: (("b", 2.0),) if step % period else (("a", 5.0),))
            with self.assertRaisesRegex(measure.ScriptError, "has a gradient in some passes only"): turns.times(later)

    def test_it_ends_after_its_steps(self):
        clock = Clock()
        record = measure.Steps(clock.now, warm_up=2, steps=6)
        for step in range(50):
            with record.forward(): clock.sleep(1.0)
            with record.backward():
                clock.sleep(2.0)
                record.ready("a")
            with record.update(): pass
            self.assertEqual(record.is_complete, step >= 7)
        self.assertEqual(record.times(later).steps, 6)

    def test_a_step_that_fails_does_not_count(self):
        record, clock = train(steps=9), Clock()
        for part in (record.forward, record.backward, record.update):
            with self.assertRaises(ZeroDivisionError):
                with record.forward(): part is record.forward and 1 / 0
                with record.backward(): part is record.backward and 1 / 0
                with record.update(): 1 / 0
        self.assertEqual(len(record.done), 9)
        with record.forward(): pass
        with record.backward(): record.ready("a")
        with record.update(): pass
        self.assertEqual(len(record.done), 10)

    def test_backward_takes_what_it_takes_without_marks(self):
        # Marks of 1 ms make 7 ms of 5: b is seen at 2 ms, a at 6. All is 5/7 of that, and the last one ends with backward.
        times = train(steps=9, mark=1.0).times(later)
        self.assertEqual(milliseconds(times), [("b", round(2 * 5 / 7, 9)), ("a", round(5 - 2 * 5 / 7, 9))])
        self.assertAlmostEqual(times.backward, 5e-3)

    def test_what_follows_the_last_gradient_counts_as_before_it(self):
        self.assertEqual(milliseconds(train(steps=9, tail=1.5).times(later)), [("b", 2.0), ("a", 4.5)])

    def test_passes_of_a_step_are_accumulation(self):
        times = train(steps=7, passes=3).times(later)
        self.assertEqual(times.passes, 3)
        self.assertAlmostEqual(times.forward, 10e-3)
        self.assertEqual(milliseconds(times), [("b", 2.0), ("a", 3.0)])
        self.assertAlmostEqual(times.between, 0.0)

    def test_a_gradient_that_is_added_to_twice_is_ready_after_the_second_time(self):
        times = train(steps=9, gradients=(("tied", 1.0), ("b", 2.0), ("tied", 5.0))).times(later)
        self.assertEqual(milliseconds(times), [("b", 2.0), ("tied", 3.0)])

    def test_what_no_workload_can_say_is_refused(self):
        for record, message in ((train(steps=6), "6 steps that update\\(\\) ended, of which the first 1 warm up; 6 after these is the least"),
                                (train(steps=9, gradients=lambda step: (("b", 1.0),) if step == 4 else (("b", 1.0), ("a", 2.0))), "a has a gradient in some passes only"),
                                (train(steps=9, gradients=()), "no parameter had a gradient")):
            with self.assertRaisesRegex(measure.ScriptError, message): record.times(later)
        record = train(steps=9)
        with self.assertRaisesRegex(measure.ScriptError, "backward\\(\\) without a forward"):
            with record.backward(): pass
        with self.assertRaisesRegex(measure.ScriptError, "update\\(\\) without backward"):
            with record.update(): pass
        with self.assertRaisesRegex(measure.ScriptError, "backward\\(\\) inside forward\\(\\)"):
            with record.forward():
                with record.backward(): pass
        with self.assertRaisesRegex(measure.ScriptError, "forward\\(\\) a second time"):
            with record.forward(): pass
            with record.forward(): pass
        record = train(steps=9)
        for _ in range(2):
            with record.forward(): pass
            with record.backward(): pass
        with record.update(): pass
        with self.assertRaisesRegex(measure.ScriptError, "steps of 1 to 2 passes"): record.times(later)


class Document(unittest.TestCase):
    GRADIENTS = {"b": measure.Gradient("b", [7], "fp32"), "a": measure.Gradient("a", [7, 3], "fp32")}

    def head(self, **more): return {"name": "mine", "source": "a test", "batch": 8, "sample": "image", "dtype": "fp32", "optimizer": "adam", **more}

    @unittest.skipUnless(sys.argv[1:2], "no stepcast was built")
    def test_stepcast_reads_it(self):
        text = measure.document(train(steps=9, passes=2).times(later), self.GRADIENTS, self.head())
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "mine.json").write_text(text)
            scenario = {"name": "s", "workload": str(Path(folder) / "mine.json"), "cluster": {"workers": 1, "link": {"bandwidth": "10Gbps"}}, "strategy": "all-reduce"}
            (Path(folder) / "s.json").write_text(json.dumps(scenario))
            run = subprocess.run([STEPCAST, "run", Path(folder) / "s.json", "--json", "-"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        [point] = json.loads(run.stdout)["points"]
        # Two passes of 10 + 5 ms and an update of 4 ms.
        self.assertAlmostEqual(point["step_time_s"], 34e-3)

    def test_matrices_have_their_dimensions(self):
        tensors = json.loads(measure.document(train(steps=9).times(later), self.GRADIENTS, self.head()))["gradients"]
        self.assertEqual(tensors, [{"name": "b", "elements": 7, "gap": "2ms"}, {"name": "a", "elements": 21, "gap": "3ms", "dims": [7, 3]}])

    def test_optimizers_by_their_state(self):
        class Optimizer: pass
        for name, groups, kind in (("SGD", [{"momentum": 0}], "sgd"), ("SGD", [{"momentum": 0}, {"momentum": 0.9}], "momentum"), ("AdamW", [{}], "adam")):
            optimizer = type(name, (Optimizer,), {"param_groups": groups})()
            self.assertEqual(measure.optimizer_kind(optimizer), kind)
        self.assertEqual([measure.optimizer_kind(name) for name in ("sgd", "momentum", "adam", "AdamW")], ["sgd", "momentum", "adam", "adam"])
        with self.assertRaisesRegex(measure.ScriptError, "optimizer adafactor; allowed"): measure.optimizer_kind("adafactor")

    def test_doubts(self):
        steady = train(steps=20).times(later)
        self.assertEqual(measure.doubts(steady), [])
        # 3 ms between steps of 19 ms.
        [told] = measure.doubts(train(steps=20, idle=3.0).times(later))
        self.assertTrue(told.startswith("left out: 3ms between steps, 14% of the time"), told)
        uneven = train(steps=20, gradients=lambda step: (("b", 2.0), ("a", 5.0 + step))).times(later)
        self.assertRegex(measure.doubts(uneven)[0], "^backward passes differ, half of them by more than [0-9]+%: time more")
        late = train(steps=20, gradients=(("b", 4.0), ("c", 4.9), ("a", 5.0))).times(later)
        self.assertRegex(measure.doubts(late)[0], "^the first gradient is ready after 80% of backward")

    def test_one_type(self):
        with self.assertRaisesRegex(measure.ScriptError, "gradients of bf16 and fp32"):
            measure.dtype_of([measure.Gradient("a", [1], "fp32"), measure.Gradient("b", [1], "bf16")])

    def test_durations(self):
        self.assertEqual([measure.duration(s) for s in (0.0, 12.3456789e-6, 0.99e-3, 1.5e-3, 2.0)], ["0us", "12.3457us", "990us", "1.5ms", "2s"])


if __name__ == "__main__":
    STEPCAST = sys.argv.pop(1) if sys.argv[1:] else None
    unittest.main()
