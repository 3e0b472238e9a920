#!/usr/bin/env python3
"""help_examples_test.py STEPCAST CALIBRATE PROJECT: every --help ends with examples, and these run as they stand.

CALIBRATE measures a made-up device. The examples' own files (study.json, my-network.json, ...) are in the working
folder, as a reader's would be. mpirun's examples are run by sim.sweep.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

STEPCAST, CALIBRATE, PROJECT = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
sys.path.insert(0, str(PROJECT / "tests/sim"))
sys.dont_write_bytecode = True
from pages_test import nccl_tests  # noqa: E402

STUDY = '{"name": "study", "workload": "resnet50-v100", "cluster": {"workers": [2, 4], "link": {"bandwidth": "10Gbps", "latency": "25us"}}}'
# Examples in this order: some read the files that others write.
FIRST = ["sweep", "merge", "device", "transfer"]


def prepare(folder):
    (folder / "study.json").write_text(STUDY, encoding="utf-8")
    shutil.copy(PROJECT / "scenarios/workloads/unet-tiny.json", folder / "my-network.json")
    shutil.copy(PROJECT / "tests/data/traces/torch-2.15-cpu.json", folder / "trace.json")
    for name, hosts in (("all_reduce_perf", 1), ("1_host", 1), ("2_hosts", 2), ("8_hosts", 8)):
        (folder / f"{name}.txt").write_text(nccl_tests(hosts, 4), encoding="utf-8")
    sums = [f"A100,fp32,add,forward,1,elements={size}000000,{5 + 8 * size}us" for size in range(1, 13)]
    (folder / "a100.csv").write_text("\n".join(["device,dtype,layer,pass,batch,shape,time", *sums]) + "\n", encoding="utf-8")
    tools = folder / "tools"
    tools.mkdir()
    (tools / "stepcast").symlink_to(STEPCAST)
    (tools / "stepcast-calibrate").symlink_to(CALIBRATE)
    return {**os.environ, "PATH": f"{tools}:/usr/bin:/bin", "STEPCAST_SCENARIOS": str(PROJECT / "scenarios"), "XDG_CACHE_HOME": str(folder),
            "SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "1"}


def examples(text):
    """The commands behind the last "Example:" or "Examples:", one a line, up to the end of the help."""
    found = re.split(r"^ *Examples?:\s*", re.sub(r" \\\n +", " ", text), flags=re.MULTILINE)
    return [line.strip() for line in found[-1].splitlines() if line.strip()] if len(found) > 1 else []


class HelpExamples(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.environment = prepare(self.folder)

    def said(self, command):
        return subprocess.run(["bash", "-euc", command], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              check=False, timeout=600, stdin=subprocess.DEVNULL)

    def subcommands(self, program):
        below = re.split(r"^Subcommands:\n", self.said(f"{program} --help").stdout, flags=re.MULTILINE)[1]
        names = re.findall(r"^  ([a-z]+) ", below, flags=re.MULTILINE)
        return sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))

    def check(self, program, fewest):
        count = 0
        for command in ["", *self.subcommands(program)]:
            text = self.said(f"{program} {command} --help").stdout
            found = examples(text)
            self.assertLessEqual(max(map(len, text.splitlines())), 80, f"{program} {command} --help is wider than a terminal")
            self.assertTrue(found, f"{program} {command} --help has no example")
            for example in found:
                with self.subTest(example):
                    self.assertRegex(example, rf"^(mpirun -n 64 )?{program} ", "the help goes on behind its examples")
                    count += 1
                    if not example.startswith("mpirun"):
                        ran = self.said(example)
                        self.assertEqual(ran.returncode, 0, f"{example}\n{ran.stderr}")
        self.assertGreaterEqual(count, fewest)

    def test_stepcast(self):
        self.check("stepcast", 20)

    def test_calibrate(self):
        self.check("stepcast-calibrate", 6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
