#!/usr/bin/env python3
"""completion_test.py STEPCAST CALIBRATE PROJECT: words that the programs offer, and what bash, fish and zsh make of them.

Shells that are not installed are left out; bash is everywhere.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

STEPCAST, CALIBRATE, PROJECT = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
ENVIRONMENT = {**os.environ, "STEPCAST_SCENARIOS": str(PROJECT / "scenarios")}
STUDY = '{"name": "study", "workload": "resnet50-v100", "cluster": {"workers": [2, 4], "link": {"bandwidth": "10Gbps", "latency": "25us"}}}'


def offered(*words, program=STEPCAST, **more):
    """What fits as the last word: whether files do, and the words."""
    said = subprocess.run([program, "__complete", *words], capture_output=True, text=True, check=True, env={**ENVIRONMENT, **more}).stdout
    first, *lines = said.splitlines()
    assert first in ("files", "words"), said
    return first == "files", [line.split("\t")[0] for line in lines]


class Words(unittest.TestCase):
    def expect(self, words, some, files=False, **more):
        of_files, found = offered(*words, **more)
        self.assertEqual(of_files, files, words)
        self.assertLessEqual(set(some), set(found), words)
        self.assertEqual(len(found), len(set(found)), words)
        for one in found:
            self.assertTrue(one.startswith(words[-1]), (words, one))

    def test_subcommands_and_options(self):
        self.expect([""], ["run", "sweep", "explain", "list", "show"])
        self.assertEqual(offered("cross"), (False, ["crossover"]))
        self.expect(["run", "study.json", "--"], ["--set", "--csv", "--evaluator", "--help"])
        self.expect(["trace", "-"], ["-o", "--output"])
        self.expect(["--"], ["--help", "--version"])
        self.expect([""], ["device", "link", "transfer"], program=CALIBRATE)

    def test_values_of_options(self):
        every = ["auto", "equations", "replay", "both"]
        self.assertEqual(offered("run", "x", "--evaluator", ""), (False, every))
        self.assertEqual(offered("run", "x", "--evaluator=b"), (False, ["--evaluator=both"]))
        self.expect(["run", "x", "--csv", ""], [], files=True)
        self.expect(["run", "x", "--best", "3", "--by", ""], ["step", "throughput", "efficiency"])
        self.expect(["show", "resnet50", "--profile", "v"], ["v100-datasheet"])

    def test_names(self):
        self.expect(["run", ""], ["quickstart", "pipe-sgd"], files=True)
        self.expect(["run", "--csv", "x", ""], ["quickstart"], files=True)
        self.assertEqual(offered("run", "quickstart", ""), (False, []))
        self.expect(["show", ""], ["resnet50", "dgx-h100", "top-k", "ring", "quickstart"], files=True)
        self.expect(["validate", "hkbu-10gbe", ""], ["ddp-2020"], files=True)
        self.expect(["list", ""], ["workloads", "clusters"])
        self.expect(["schema", ""], ["scenario", "cluster"])

    def test_pointers(self):
        self.expect(["run", "x", "--set", ""], ["/cluster/", "/cluster=", "/workload=", "/strategy/", "/compressor/"])
        self.expect(["run", "x", "--set", "/cluster/"], ["/cluster/workers=", "/cluster/link/"])
        self.expect(["run", "x", "--set", "/cluster/link/"], ["/cluster/link/bandwidth=", "/cluster/link/latency="])
        self.expect(["run", "x", "--set", "/strategy/kind="], ["/strategy/kind=gossip", "/strategy/kind=sharded"])
        self.expect(["run", "x", "--set", "/cluster="], ["/cluster=dgx-h100"])
        self.expect(["solve", "x", "--along", "/cluster/w"], ["/cluster/workers="])
        self.assertEqual(offered("run", "x", "--set", "/nope/"), (False, []))
        self.assertEqual(offered("run", "x", "--set", "cluster"), (False, []))

    def test_axes_of_the_study(self):
        with tempfile.TemporaryDirectory() as folder:
            study = pathlib.Path(folder) / "study.json"
            study.write_text(STUDY, encoding="utf-8")
            self.assertEqual(offered("run", str(study), "--point", ""), (False, ["workers=2", "workers=4"]))
            self.assertEqual(offered("run", str(study), "--set", "/cluster/workers=[8]", "--point", ""), (False, ["workers=8"]))
            self.assertEqual(offered("run", str(study), "--best", "1", "--each", ""), (False, ["workers"]))

    def test_faults_offer_nothing(self):
        self.assertEqual(offered("nope", ""), (False, []))
        self.assertEqual(offered("run", "nowhere.json", "--point", ""), (False, []))
        self.assertEqual(offered("run", "x", "--set", "/cluster=", STEPCAST_SCENARIOS="/nowhere"), (False, []))


class Shells(unittest.TestCase):
    LINES = {"stepcast cross": "crossover", "stepcast run quickst": "quickstart", "stepcast list work": "workloads",
             "stepcast run x --eval": "--evaluator", "stepcast run x --set /cluster/li": "/cluster/link/"}

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        for program in (STEPCAST, CALIBRATE):
            (self.folder / program.name).symlink_to(program)
        # The project's folder may have a quickstart.png, which the README's first command writes.
        self.here = self.folder / "here"
        self.here.mkdir()
        for name in ("completions", "CITATION.cff"):
            (self.here / name).symlink_to(PROJECT / name)
        self.environment = {**ENVIRONMENT, "PATH": f"{self.folder}:/usr/bin:/bin", "HOME": str(self.folder)}

    def said(self, *command):
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=self.here, env=self.environment, timeout=60).stdout

    def by_bash(self, line):
        script = """source completions/stepcast.bash; compopt() { :; }
                    COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=(stepcast); _stepcast; printf '%s\\n' "${COMPREPLY[@]}" """
        return self.said("bash", "-c", script, "_", line).splitlines()

    def test_bash(self):
        for line, word in self.LINES.items():
            self.assertEqual(self.by_bash(line), [word])
        # Bash replaces the text after "="; spaces are quoted.
        self.assertEqual(self.by_bash("stepcast run x --set /strategy/kind=gos"), ["gossip"])
        self.assertIn("parameter\\ server\\,\\ 4\\ shards", self.by_bash("stepcast run quickstart --point variant="))
        self.assertEqual(self.by_bash("stepcast run x --csv CITAT"), ["CITATION.cff"])

    @unittest.skipUnless(shutil.which("fish", path="/usr/bin"), "fish is not installed")
    def test_fish(self):
        for line, word in self.LINES.items():
            said = self.said("fish", "-N", "-c", f"source completions/stepcast.fish; complete -C '{line}'")
            self.assertEqual([one.split("\t")[0] for one in said.splitlines()], [word])

    @unittest.skipUnless(shutil.which("zsh", path="/usr/bin"), "zsh is not installed")
    def test_zsh(self):
        keys = "".join(f"zpty -w -n z '{line}'$'\\t'; sleep 1; zpty -w -n z $'\\x14'; sleep 0.2\n" for line in self.LINES)
        out = self.folder / "typed"
        self.said("zsh", "-f", "-c", f"""zmodload zsh/zpty; zpty z zsh -f -i
            zpty -w z 'fpath=({PROJECT}/completions $fpath); autoload -U compinit; compinit -u -D
            show() {{ print -r -- $BUFFER >> {out}; BUFFER= }}; zle -N show; bindkey "^T" show'
            sleep 2
            {keys} sleep 0.5; zpty -d z""")
        typed = out.read_text(encoding="utf-8").splitlines()
        self.assertEqual([one.split()[-1] for one in typed], list(self.LINES.values()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
