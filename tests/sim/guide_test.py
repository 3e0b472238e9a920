"""guide_test.py STEPCAST CALIBRATE PROJECT: the files and commands of "Your own model and cluster" in scenarios/README.md work."""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

kThresholdMissed = 4  # the suite's numbers are made up


def section(readme):
    return readme.split("\n## Your own model and cluster\n")[1].split("\n## ")[0]


def nccl_tests(hosts, each):
    """As nccl-tests prints rings of machines whose links have two protocols."""
    ranks = hosts * each
    lines = ["# Collective test starting: all_reduce_perf"]
    lines += [
        f"#  Rank {rank:2} Group  0 Pid {4711 + rank} on    host{rank // each} device {rank % each} [0000:01:00] made up"
        for rank in range(ranks)
    ]
    lines += ["# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"]
    rounds, bandwidth = 2 * (ranks - 1), 200e9 if hosts == 1 else 12.5e9
    latency = 1e-6 + (0 if hosts == 1 else 5e-6 / each)  # the mean over a ring's hops, one of which leaves each machine
    for size in (1024 * 2**k for k in range(21)):
        sent = rounds / ranks * size / bandwidth
        us = 1e6 * min(rounds * latency + sent / 0.4, rounds * 4 * latency + sent)
        lines.append(f"{size} {size // 4} float sum -1 {us:.3f} 0 0 0 {us:.3f} 0 0 0")
    return "\n".join([*lines, "# Avg bus bandwidth    : 0 ", ""])


def main(stepcast, calibrate, project):
    project = pathlib.Path(project)
    text = section((project / "scenarios/README.md").read_text(encoding="utf-8"))
    documents = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    commands = [
        shlex.split(command)[1:]
        for command in re.findall(r"`(stepcast \w+\s[^`]*)`", text)
    ]
    [fit] = [shlex.split(command)[1:] for command in re.findall(r"`(stepcast-calibrate link [^`]*)`", text)]
    assert [document["name"] for document in documents] == ["mine", "mine, measured"], documents
    assert sorted(command[0] for command in commands) == ["explain", "run", "solve", "sweep", "validate", "validate"], commands
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "workloads").mkdir()
        (folder / "clusters").mkdir()
        (folder / "workloads/my-net.json").write_text(
            (project / "scenarios/workloads/unet-tiny.json").read_text(encoding="utf-8"), encoding="utf-8")
        (folder / "one.txt").write_text(nccl_tests(hosts=1, each=4), encoding="utf-8")
        (folder / "four.txt").write_text(nccl_tests(hosts=4, each=4), encoding="utf-8")
        fitted = subprocess.run([calibrate, *fit], cwd=folder, capture_output=True, text=True, check=True).stdout
        assert "protocol 2: 4 times the latency, 1 of the bandwidth" in fitted, fitted
        assert '"collective": ' + json.dumps(documents[0]["strategy"]["collective"]) in fitted, fitted
        (folder / "mine.json").write_text(json.dumps(documents[0]), encoding="utf-8")
        (folder / "mine-measured.json").write_text(json.dumps(documents[1]), encoding="utf-8")
        for command in commands:
            done = subprocess.run([stepcast, *command], cwd=folder, capture_output=True, text=True, check=False)
            allowed = (0, kThresholdMissed) if command[0] == "validate" else (0,)
            assert done.returncode in allowed, f"{command}: {done.returncode}\n{done.stderr}"
            assert "/workload/measured" not in done.stderr, done.stderr
            print(" ".join(command), "\n" + done.stdout)
        assert (folder / "all.csv").read_text(encoding="utf-8").count("\n") == 1 + len(documents[0]["cluster"]["workers"])


if __name__ == "__main__":
    main(*sys.argv[1:])
