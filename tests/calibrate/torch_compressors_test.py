#!/usr/bin/env python3
"""calibrate/torch_compressors.py without torch: its table of kernels, the reader of samples, times between sizes.

    torch_compressors_test.py PATH/kernel_names
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "calibrate"))
import torch_compressors as peers
NAMES = sys.argv.pop() if len(sys.argv) > 1 else None

HEADER = {"format": "stepcast-samples", "device": {"name": "A device"}}
# A device whose events add nothing: an empty kernel takes 1 ns alone and in a chain.
OWN = [{"name": "device/single", "size": 1, "repeats": 1, "cold_s": [1e-9]}, {"name": "device/launch", "size": 1, "repeats": 64, "cold_s": [1e-9]}]


def kernels_of(method):
    return [*method.encode_kernels, *method.decode_kernels]


class Table(unittest.TestCase):
    def registry(self):
        lines = subprocess.run([NAMES], check=True, capture_output=True, text=True).stdout.splitlines()
        return {name: (int(repeats), int(largest)) for name, repeats, largest in (line.split() for line in lines)}

    def test_every_kernel_is_in_the_registry_and_all_of_its_sweeps_are_counted(self):
        registry = self.registry()
        calls = {"sample/adaptive": 2, "count/adaptive": 2, "compact-mean/adaptive": 2}  # one for either sign
        for name, method in peers.METHODS.items():
            for kernel in kernels_of(method):
                self.assertIn(kernel.name, registry, name)
                called = 2 if name == "adaptive" and kernel.name == "radix-select/dgc" else calls.get(kernel.name, 1)
                self.assertEqual(kernel.passes, called * registry[kernel.name][0], f"{name}: {kernel.name}")

    def test_methods_end_where_their_kernels_do(self):
        registry = self.registry()
        for name, method in peers.METHODS.items():
            least = min(registry[kernel.name][1] for kernel in kernels_of(method))
            self.assertEqual(min(method.largest, 2**63 - 1), least, name)

    def test_constants_are_the_kernels(self):
        text = (ROOT / "kernels/call.hpp").read_text() + (ROOT / "kernels/cpu/lists.hpp").read_text() + (ROOT / "kernels/cpu/low_rank.cpp").read_text()
        for name, value in (("kBucket", peers.BUCKET), ("kLevels", peers.LEVELS), ("kTernaryClip", peers.CLIP), ("kThreshold", peers.THRESHOLD), ("kMomentum", peers.MOMENTUM), ("kQuantiles", peers.QUANTILES),
                            ("kSparsity", peers.SPARSITY), ("kRank", peers.RANK), ("kTriplets", peers.TRIPLETS)):
            found = re.search(rf"constexpr \S+ {name} = ([0-9.]+)", text)
            self.assertIsNotNone(found, name)
            self.assertEqual(float(found[1]), value, name)


class Samples(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "profile.samples.jsonl")

    def write(self, records, tail=""):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("".join(json.dumps(line) + "\n" for line in [HEADER, *OWN, *({"repeats": 1, **record} for record in records)]) + tail)

    def read(self):
        """The device, and the times of all but its own rates."""
        device, times, _ = peers.read_samples(self.path)
        return device, {name: points for name, points in times.items() if not name.startswith("device/")}

    def test_starts_are_pooled_and_an_unfinished_line_left_out(self):
        # Cold times 1, 3 and 8 of two starts: median 3.
        self.write([{"name": "a/b", "size": 200, "cold_s": [7.0]}, {"name": "a/b", "size": 100, "cold_s": [1.0, 8.0]}, {"name": "a/b", "size": 100, "cold_s": [3.0]}], '{"name": "a/b", "si')
        self.assertEqual(self.read(), ("A device", {"a/b": [(100, 3.0), (200, 7.0)]}))

    def test_what_the_events_add_is_taken_off(self):
        # One empty kernel takes 5 s, four 11 s: events (4·5 - 11)/3 = 3 s, a launch (11 - 3)/4 = 2 s.
        own = [{"name": "device/single", "size": 1, "repeats": 1, "cold_s": [5.0]}, {"name": "device/launch", "size": 1, "repeats": 4, "cold_s": [2.75]}]
        self.write([*own, {"name": "a/b", "size": 1, "cold_s": [10.0]}, {"name": "c/d", "size": 1, "cold_s": [10.0], "repeats": 2}, {"name": "e/f", "size": 1, "cold_s": [1.0]}, {"name": "g/h", "size": 1, "cold_s": [2.0], "repeats": 2}, {"name": "i/j", "size": 1, "cold_s": [4.5]}])
        text = Path(self.path).read_text().split("\n")
        Path(self.path).write_text("\n".join(text[:1] + text[1 + len(OWN):]))
        # One pass loses 3 s, one of two passes half of that. At least a launch stays, or half of one, but no more than
        # the measured time.
        self.assertEqual(self.read()[1], {"a/b": [(1, 7.0)], "c/d": [(1, 8.5)], "e/f": [(1, 1.0)], "g/h": [(1, 1.0)], "i/j": [(1, 2.0)]})
        self.assertEqual(peers.read_samples(self.path)[2], (3.0, 2.0))
        Path(self.path).write_text("\n".join(text[:1] + text[2 + len(OWN):]))
        with self.assertRaisesRegex(peers.ScriptError, "no samples of device/single"): peers.read_samples(self.path)

    def test_faults_name_file_and_line(self):
        self.write([{"name": "a/b", "size": 1}])
        with self.assertRaisesRegex(peers.ScriptError, "jsonl:4: found .*cold_s"): peers.read_samples(self.path)
        Path(self.path).write_text('{"format": "other"}\n')
        with self.assertRaisesRegex(peers.ScriptError, "jsonl:1: found"): peers.read_samples(self.path)
        Path(self.path).write_text("")
        with self.assertRaisesRegex(peers.ScriptError, "found nothing"): peers.read_samples(self.path)
        with self.assertRaisesRegex(peers.ScriptError, "No such file.*--samples wants"): peers.read_samples(self.path + ".missing")


class Times(unittest.TestCase):
    POINTS = [(100, 1.0), (10000, 100.0), (40000, 800.0)]

    def test_between_sizes_in_logarithms(self):
        self.assertAlmostEqual(peers.time_at(self.POINTS, 1000), 10.0)  # t = n/100
        self.assertAlmostEqual(peers.time_at(self.POINTS, 20000), 100 * 2**1.5)  # 8 times the time at 4 times the size: t ~ n^1.5
        for size, seconds in self.POINTS:
            self.assertAlmostEqual(peers.time_at(self.POINTS, size), seconds)

    def test_little_beyond_the_largest_and_not_below_the_least(self):
        self.assertAlmostEqual(peers.time_at(self.POINTS, 42000), 800 * 1.05**1.5)
        for n in (99, 45000):
            self.assertIsNone(peers.time_at(self.POINTS, n))
        self.assertIsNone(peers.time_at(self.POINTS[:1], 100))

    def test_kernels_add_up_by_their_passes(self):
        times = {"a/b": self.POINTS, "c/d": [(10, 5.0), (20000, 5.0)]}
        # Four passes of 10, and one of 5 at half of the elements.
        self.assertAlmostEqual(peers.our_time(times, [peers.Kernel("a/b", 4), peers.Kernel("c/d", 1, 0.5)], 1000)[0], 45.0)
        self.assertEqual(peers.our_time(times, [peers.Kernel("e/f")], 1000), (None, "no samples of e/f"))
        self.assertEqual(peers.our_time(times, [peers.Kernel("a/b")], 50), (None, "a/b was not measured at 50 elements"))


class Program(unittest.TestCase):
    def run_with(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "calibrate/torch_compressors.py", *arguments], capture_output=True, text=True)

    def test_wrong_arguments(self):
        for arguments, message in ((["--methods", "top-q"], "found top-q; allowed: fp16, "), (["--sizes", "0"], "found 0; allowed: 1 or more"), (["--samples-each", "0"], "found 0")):
            done = self.run_with(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    @unittest.skipIf(peers.torch, "torch is here")
    def test_without_torch(self):
        done = self.run_with("--device", "cpu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("torch cannot be imported", done.stderr)

    @unittest.skipUnless(peers.torch, "needs torch")
    def test_what_a_library_refuses_leaves_the_other_methods_and_each_is_kept(self):
        def refuses(x, s):
            raise RuntimeError("cusolver error: 7\nmore lines")

        kept = []
        options = types.SimpleNamespace(device="cpu", samples_each=2, methods=["fp16", "qsgd"], sizes=[100, 200])
        with unittest.mock.patch.dict(peers.METHODS, {"fp16": peers.METHODS["fp16"]._replace(encode=refuses)}):
            peers.compare(options, None, (0.0, 0.0), lambda results: kept.append([result["method"] for result in results]))
            results = peers.compare(options, None, (0.0, 0.0), lambda results: None)
        self.assertEqual(kept, [["fp16"], ["fp16"] * 2, ["fp16"] * 2 + ["qsgd"], ["fp16"] * 2 + ["qsgd"] * 2])
        self.assertEqual([result.get("why") for result in results], ["PyTorch: cusolver error: 7"] * 2 + [None] * 2)
        self.assertTrue(all(len(result["decode"]["samples_s"]) == 2 for result in results[2:]))

    @unittest.skipUnless(peers.torch, "needs torch")
    def test_what_is_refused_without_a_word_is_named_by_its_kind(self):
        def refuses(x, s):
            raise NotImplementedError

        options = types.SimpleNamespace(device="cpu", samples_each=2, methods=["fp16"], sizes=[100])
        with unittest.mock.patch.dict(peers.METHODS, {"fp16": peers.METHODS["fp16"]._replace(encode=refuses)}):
            (result,) = peers.compare(options, None, (0.0, 0.0), lambda results: None)
        self.assertEqual(result["why"], "PyTorch: NotImplementedError")

    @unittest.skipUnless(peers.torch, "needs torch")
    def test_on_a_cpu_no_ratio_is_given(self):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "peers.json")
            samples = os.path.join(folder, "profile.samples.jsonl")
            kernels = [kernel.name for kernel in kernels_of(peers.METHODS["fp16"])]
            Path(samples).write_text("\n".join(json.dumps(line) for line in [HEADER, *OWN, *({"name": name, "size": size, "repeats": 1, "cold_s": [1e-6 * size]} for name in kernels for size in (1000, 10000))]) + "\n")
            done = self.run_with("--device", "cpu", "--sizes", "5000", "--methods", "fp16,qsgd", "--samples-each", "3", "--samples", samples, "--output", output)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("these times mean nothing", done.stdout)
            document = json.loads(Path(output).read_text())
            fp16, qsgd = document["results"]
            self.assertTrue(math.isclose(fp16["encode"]["ours_s"], 5e-3, rel_tol=1e-9), fp16)  # 1 us an element
            self.assertEqual((fp16["encode"]["ratio"], fp16["encode"]["why"]), (None, "PyTorch ran on a CPU"))
            self.assertEqual(qsgd["encode"]["why"], "no samples of norm-quantize/qsgd")
            self.assertEqual(len(fp16["decode"]["samples_s"]), 3)
            self.assertEqual(json.loads(self.run_with("--device", "cpu", "--sizes", "500", "--methods", "fp16", "--json").stdout)["results"][0]["size"], 500)
            done = self.run_with("--device", "cpu", "--sizes", "500", "--methods", "fp16", "--output", os.path.join(folder, "missing", "x.json"))
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot be written: No such file", done.stderr)


if __name__ == "__main__":
    unittest.main()
