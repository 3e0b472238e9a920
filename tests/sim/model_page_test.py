"""model_page_test.py STEPCAST PROJECT: the commands of docs/model.md print the figures beside them.

A ```json block is a file of its "name". In a ```console block each "$ " line is a command, and each line below one is a
part of some line that it prints, whatever the spaces between words.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands(text):
    """Pairs of a command and the lines expected of it."""
    for block in blocks(text, "console"):
        for part in block.split("$ ")[1:]:
            command, *expected = part.strip().split("\n")
            yield command, expected


def main(stepcast, project):
    text = (pathlib.Path(project) / "docs/model.md").read_text(encoding="utf-8")
    all_commands = list(commands(text))
    assert len(all_commands) > 20, all_commands
    missing = 0
    with tempfile.TemporaryDirectory() as folder:
        for block in blocks(text, "json"):
            name = json.loads(block)["name"]
            (pathlib.Path(folder) / f"{name}.json").write_text(block, encoding="utf-8")
        for command, expected in all_commands:
            assert expected, f"no figure beside: {command}"
            done = subprocess.run(
                [stepcast, *shlex.split(command)[1:]], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}"
            lines = [" ".join(line.split()) for line in done.stdout.split("\n")]
            for figure in expected:
                if not any(" ".join(figure.split()) in line for line in lines):
                    missing += 1
                    print(f"{command}\ndoes not print: {figure}\nbut:\n{done.stdout}")
    return missing


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
