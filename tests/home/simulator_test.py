#!/usr/bin/env python3
"""simulator_test.py STEPCAST SCENARIOS: SimGrid is loaded for replays alone, and a program without its module says so."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

STEPCAST, SCENARIOS = sys.argv[1:]
# Three points, which the equations answer.
RUN = ["run", "quickstart", "--no-plot", "--point", "workers=4", "--point", "bandwidth=10Gbps", "--point", "workload=vgg16-v100"]


def run(program, *arguments, **environment):
    return subprocess.run([program, *arguments], env={**os.environ, "STEPCAST_SCENARIOS": SCENARIOS, **environment},
                          capture_output=True, text=True, check=False)


class Simulator(unittest.TestCase):
    def assert_loads_simgrid(self, loads, *arguments):
        done = run(STEPCAST, *arguments, LD_DEBUG="files")  # the dynamic linker tells each file on standard error
        self.assertEqual(done.returncode, 0, done.stderr[-1000:])
        self.assertIn("libstdc++", done.stderr)
        self.assertEqual("libsimgrid" in done.stderr, loads, arguments)

    def test_replays_alone_load_simgrid(self):
        self.assert_loads_simgrid(False, "--version")
        self.assert_loads_simgrid(False, *RUN, "--evaluator", "equations")
        self.assert_loads_simgrid(True, *RUN, "--evaluator", "replay")

    def test_a_program_alone_answers_by_equations(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(STEPCAST, folder)
            self.assertEqual(run(alone, *RUN, "--evaluator", "equations").returncode, 0)
            done = run(alone, *RUN, "--evaluator", "replay")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\Astepcast: cannot load the simulator: \S+: .*No such file or directory; "
                                          r"install stepcast again; equations need no simulator\n\Z")

    def test_a_module_of_another_build_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            program = shutil.copy(STEPCAST, folder)
            (module,) = pathlib.Path(STEPCAST).parent.glob("stepcast-simulator-*.so")
            state = re.search(r"\(git (\S+),", run(STEPCAST, "--version").stdout)[1]
            content, other = module.read_bytes(), "f" * len(state)
            pathlib.Path(folder, module.name).write_bytes(content.replace(state.encode() + b"\0", other.encode() + b"\0"))
            done = run(program, *RUN, "--evaluator", "replay")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"is of git {other}, and the program of {state};", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
