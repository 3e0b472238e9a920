#!/usr/bin/env python3
"""python_test.py STEPCAST PROJECT: the Python module beside the program's own output, and its faults."""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

STEPCAST, PROJECT = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
sys.path.insert(0, str(PROJECT / "sim/python"))
sys.dont_write_bytecode = True
os.environ.update({"STEPCAST_PROGRAM": str(STEPCAST), "STEPCAST_SCENARIOS": str(PROJECT / "scenarios")})
import stepcast  # noqa: E402

FIRST = {"name": "first", "workload": "resnet50-v100",
         "cluster": {"workers": [4, 16], "link": {"bandwidth": "10Gbps", "latency": "25us"}}}
ALONG = "/cluster/link/bandwidth=1Gbps..100Gbps"


def printed(*arguments):
    """The program's JSON for FIRST."""
    said = subprocess.run([STEPCAST, *arguments, "--json", "-"], input=json.dumps(FIRST), capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


class Answers(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.file = pathlib.Path(place.name) / "first.json"
        self.file.write_text(json.dumps(FIRST), encoding="utf-8")
        os.environ["XDG_CACHE_HOME"] = place.name

    def test_notes(self):
        for rows in (stepcast.run("survey", point={"workers": 2, "bandwidth": "1Gbps", "workload": "lstm-ptb", "compressor": "none"}),
                     stepcast.explain("pufferfish-resnet50", **{"/variants": []})):
            self.assertTrue(any("not measured" in note for note in rows.notes), rows.notes)
        self.assertEqual(stepcast.sweep("quickstart", evaluator="equations").notes, [])

    def test_dict_path_and_name_give_the_programs_rows(self):
        expected = printed("run", "-")["points"]
        self.assertEqual(len(expected), 2)
        for scenario in (FIRST, self.file, str(self.file)):
            self.assertEqual(stepcast.run(scenario), expected)
        rows = stepcast.run("quickstart", point={"workers": 16, "workload": "resnet50-v100", "bandwidth": "10Gbps"})
        self.assertEqual([row["variant"] for row in rows], ["AllReduce, overlapped buckets", "parameter server, 4 shards", "pipelined, K = 2"])

    def test_fields_are_set_by_name_or_pointer(self):
        expected = printed("run", "-", "--set", "/cluster/workers=[8]", "--set", "/cluster/link/bandwidth=25Gbps")["points"]
        self.assertEqual(stepcast.run(FIRST, cluster__workers=[8], cluster__link__bandwidth="25Gbps"), expected)
        self.assertEqual(stepcast.run(FIRST, **{"/cluster/workers": [8], "/cluster/link/bandwidth": "25Gbps"}), expected)
        self.assertEqual(stepcast.run(FIRST, strategy={"kind": "gossip"})[0]["strategy"], "gossip")

    def test_evaluator(self):
        rows = stepcast.run(FIRST, evaluator="both", point={"workers": 4})
        self.assertEqual(len(rows), 1)
        self.assertLess(abs(rows[0]["replay_step_time_s"] / rows[0]["equations_step_time_s"] - 1), 1e-9)

    def test_sweep(self):
        rows = stepcast.sweep(FIRST, jobs=1)
        self.assertEqual([row["step_time_s"] for row in rows], [row["step_time_s"] for row in stepcast.run(FIRST)])
        self.assertTrue(any("2 points" in message for message in rows.messages))

    def test_explain(self):
        rows = stepcast.explain(FIRST, point={"workers": 4})
        self.assertEqual(rows.document["changes"], rows)
        faster = {row["what"]: row["speedup"] for row in rows}
        self.assertGreater(faster["link bandwidth 20 Gb/s"], 1.2)

    def test_crossover_and_solve(self):
        both = {**FIRST, "strategy": {"kind": "all-reduce", "exchange": {"grouping": ["whole-model", "bucketed"]}}}
        rows = stepcast.crossover(both, ALONG, among="grouping", over={"grouping": "whole-model"})
        self.assertEqual([str(row["workers"]) for row in rows], ["4", "4", "16", "16"])
        self.assertEqual([row["grouping"] for row in rows], ["whole-model", "bucketed"] * 2)
        self.assertEqual(rows[0]["pays"], [])  # the reference does not pay over itself
        self.assertTrue(rows[1]["pays"])  # buckets overlap with back-propagation
        # Half the efficiency is reached from some bandwidth on, and more workers need no less of it.
        reached = [row["reached"][0]["from"] for row in stepcast.solve(FIRST, ALONG, goal="efficiency=0.5")]
        self.assertEqual(len(reached), 2)
        self.assertLess(125e6, reached[0])  # 1 Gb/s does not suffice
        self.assertLessEqual(reached[0], reached[1])

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_frame(self):
        frame = stepcast.run(FIRST).frame()
        self.assertEqual(len(frame), 2)
        self.assertGreater(frame["throughput_samples_per_s"].min(), 0)


    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_the_pages_example_runs(self):
        page = (PROJECT / "docs/install.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 1)
        ran = subprocess.run([sys.executable, "-c", blocks[0]], env={**os.environ, "PYTHONPATH": str(PROJECT / "sim/python")},
                             capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        # Pipelining hides all of the exchange: 31.77 ms forward, 63.53 ms backward and 1.7 ms of update remain.
        self.assertRegex(ran.stdout, r"^pipelined, K = 2 \S+ 0\.09699")
        self.assertIn("local SGD, averaged every 8 steps", ran.stdout)
        self.assertIn("gosip", ran.stdout)


class Faults(unittest.TestCase):
    def expect(self, says, code, what, *arguments, **more):
        with self.assertRaises(stepcast.StepcastError) as raised:
            what(*arguments, **more)
        self.assertIn(says, str(raised.exception))
        self.assertNotIn("Traceback", str(raised.exception))
        self.assertEqual(raised.exception.exit_code, code)
        return raised.exception

    def test_each_fault_is_told(self):
        wrong = {**FIRST, "clster": 1, "cluster": {**FIRST["cluster"], "workers": 0}}
        error = self.expect("/clster", 3, stepcast.run, wrong)
        self.assertEqual(len(error.faults), 2)
        self.assertTrue(any("/cluster/workers" in fault for fault in error.faults))
        self.expect("nowhere.json", 3, stepcast.explain, "nowhere.json")
        self.expect("--point", 2, stepcast.run, FIRST, point={"nope": 1})
        self.expect("of one", 2, stepcast.explain, FIRST)

    def test_values_that_are_no_json(self):
        self.expect("no JSON", None, stepcast.run, FIRST, cluster__workers={1, 2})
        self.expect("no JSON", None, stepcast.run, {"name": object()})

    def test_a_missed_tolerance_has_its_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "stepcast"
            program.write_text("#!/bin/sh\necho '{\"points\": [{\"difference\": 0.5}]}'\necho 'stepcast: too far off' >&2\nexit 4\n", encoding="utf-8")
            program.chmod(0o755)
            os.environ["STEPCAST_PROGRAM"] = str(program)
            try:
                error = self.expect("too far off", 4, stepcast.run, FIRST)
            finally:
                os.environ["STEPCAST_PROGRAM"] = str(STEPCAST)
        self.assertEqual(error.rows, [{"difference": 0.5}])

    def test_the_program_is_gone(self):
        os.environ["STEPCAST_PROGRAM"] = "/nowhere/stepcast"
        try:
            self.expect("/nowhere/stepcast does not start", None, stepcast.run, FIRST)
            ran = subprocess.run([sys.executable, "-m", "stepcast", "list"], cwd=PROJECT / "sim/python", capture_output=True, text=True, check=False)
            self.assertEqual((ran.returncode, len(ran.stderr.splitlines())), (1, 1))
        finally:
            os.environ["STEPCAST_PROGRAM"] = str(STEPCAST)

    def test_pandas_is_missing(self):
        code = "import sys; sys.modules['pandas'] = None\nimport stepcast\ntry: stepcast.Rows([]).frame()\nexcept stepcast.StepcastError as e: print(e)"
        ran = subprocess.run([sys.executable, "-c", code], cwd=PROJECT / "sim/python", capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout, "frame() needs pandas; Debian's package is python3-pandas\n")

    def test_data_that_is_gone(self):
        os.environ["STEPCAST_SCENARIOS"] = "/nowhere"
        try:
            self.expect("the shipped scenarios are not in /nowhere", 1, stepcast.run, "quickstart")
        finally:
            os.environ["STEPCAST_SCENARIOS"] = str(PROJECT / "scenarios")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
