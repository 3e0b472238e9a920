#!/usr/bin/env python3
"""instructions.py STEPCAST COUNTS.json BUILD [--write]: small cases take no more than 10 % more instructions than stored.

valgrind's callgrind counts instructions, which a busy machine does not change. BUILD names compiler, its version and the kind
of build. The check is skipped (exit code 77) without valgrind, or where COUNTS.json is of another build. --write counts anew.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ALLOWED = 1.10
RING = {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": "bucketed"}}
SERVERS = {"kind": "parameter-server", "shards": 4, "consistency": "asynchronous"}
JITTER = {"distribution": "lognormal", "cv": 0.1}


def scenario(workers, strategy, evaluator="replay", fidelity="auto", **cluster):
    return {"name": "case", "workload": "resnet50-v100", "strategy": strategy, "cluster": {"workers": workers, "link": {"bandwidth": "10Gbps", "latency": "25us"}, **cluster},
            "evaluation": {"evaluator": evaluator, "fidelity": fidelity}}


# For a platform file, the program loads SimGrid. This file is too large, so that it starts no process to look into it.
TOO_LARGE = scenario(2, RING, topology={"kind": "simgrid-xml", "file": "large.xml"})
LARGE_BYTES = 33 << 20
CASES = {
    "equations, ring of 4,096": scenario(4096, RING, "equations"),
    "folded, ring of 4,096": scenario(4096, RING),
    "folded, double binary tree on a fat tree of 256": scenario(
        256, {"kind": "all-reduce", "collective": {"algorithm": "double-binary-tree"}},
        topology={"kind": "fat-tree", "down": [16, 16], "up": [1, 8], "parallel": [1, 1]}),
    "jitter, ring of 64": scenario(64, RING, jitter=JITTER),
    "full, ring of 32": scenario(32, RING, fidelity="full"),
    "asynchronous servers, 16 workers and 4 shards": scenario(16, SERVERS, jitter=JITTER),
    "40 points off a star": {**scenario([8, 16, 32, 64], RING, "equations", topology={"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "50GB/s", "latency": "3us"}}),
                             "compressor": ["none", "8-bit", "top-k", "gradiveq", "signsgd", "qsgd", "dgc", "fp16", "random-k", "natural"],
                             "codec": {"device": "v100"}},
}


def totals(*arguments, exit_code=0):
    """Instructions of a program and of each process that it starts, which begins with its parent's count."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out.%p", *arguments], capture_output=True, text=True, check=False)
        if ran.returncode != exit_code:
            sys.exit(f"exit code {ran.returncode}: {ran.stdout[-1000:]}{ran.stderr[-2000:]}")
        lines = [line for out in pathlib.Path(folder).glob("out.*") for line in out.read_text().splitlines()]
    return [int(line.split()[1]) for line in lines if line.startswith("totals:")]


def totals_of_case(stepcast, case, exit_code=0):
    """Those of `stepcast run` on the case, with a large platform file beside it."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "case.json"
        file.write_text(json.dumps(case))
        with open(file.with_name("large.xml"), "wb") as large:
            large.truncate(LARGE_BYTES)
        return totals(stepcast, "run", str(file), "--jobs", "1", exit_code=exit_code)


def counts(stepcast):
    """Instructions of the start, of a start that loads SimGrid, and of each case without its start."""
    start, with_simgrid = totals(stepcast, "--version")[0], totals_of_case(stepcast, TOO_LARGE, exit_code=3)[0]
    found = {"start": start, "start with SimGrid": with_simgrid}
    for name, case in CASES.items():
        processes = totals_of_case(stepcast, case)
        found[name] = sum(processes) - len(processes) * (with_simgrid if case["evaluation"]["evaluator"] == "replay" else start)
    return found


def main():
    stepcast, stored, build = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    version = subprocess.run([stepcast, "--version"], capture_output=True, text=True, check=True).stdout
    build = f"{build}, {version[version.index('SimGrid'):version.rindex(',')]}"
    if not shutil.which("valgrind"):
        print("valgrind is not here: nothing is counted")
        return 77
    if "--write" in sys.argv:
        stored.write_text(json.dumps({"build": build, "instructions": counts(stepcast)}, indent=2) + "\n")
        return 0
    before = json.loads(stored.read_text())
    if before["build"] != build:
        print(f"the stored counts are of {before['build']}, this is {build}: nothing is compared")
        return 77
    worse = 0
    found = counts(stepcast)
    if found.keys() != before["instructions"].keys():
        sys.exit(f"{stored} has other cases: store them anew with --write")
    for name, now in found.items():
        ratio = now / before["instructions"][name]
        print(f"{name}: {now:,} instructions, {ratio:.3f} of those stored")
        worse += ratio > ALLOWED
    if worse:
        print(f"{worse} of {len(found)} cases take more than {ALLOWED} of the stored instructions; if that is meant, {sys.argv[0]} ... --write stores them")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
