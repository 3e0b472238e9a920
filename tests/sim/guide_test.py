"""guide_test.py STEPCAST PROJECT: the files and commands of "Your own model and cluster" in scenarios/README.md work."""

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


def main(stepcast, project):
    project = pathlib.Path(project)
    text = section((project / "scenarios/README.md").read_text(encoding="utf-8"))
    documents = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    commands = [
        shlex.split(command)[1:]
        for command in re.findall(r"`(stepcast \w+\s[^`]*)`", text)
    ]
    assert [document["name"] for document in documents] == ["mine", "mine, measured"], documents
    assert sorted(command[0] for command in commands) == ["explain", "run", "solve", "sweep", "validate", "validate"], commands
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "workloads").mkdir()
        (folder / "clusters").mkdir()
        (folder / "workloads/my-net.json").write_text(
            (project / "scenarios/workloads/unet-tiny.json").read_text(encoding="utf-8"), encoding="utf-8")
        (folder / "clusters/lab.json").write_text(
            json.dumps({
                "workers": 4,
                "link": {"bandwidth": "100Gbps", "latency": "5us"},
                "topology": {"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "200GB/s", "latency": "1us"}},
            }), encoding="utf-8")
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
