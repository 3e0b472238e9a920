"""stepcast's answers in JSON, for tests that compare one subcommand's answers with another's."""
import json
import subprocess


def answer(program, command, file, *options):
    run = subprocess.run([program, command, file, "--json", "-", *options], capture_output=True, text=True)
    assert run.returncode == 0, (command, file, options, run.stderr)
    return json.loads(run.stdout)


def written(along, values):
    """The field's values as a scenario has them, by that text: {"1e9B/s": 1e9}, {"16": 16}; and the list of them for --set."""
    unit = {"B_per_s": "B/s", None: "", "B": "B", "s": "s"}[along["si_unit"]]
    text = {f"{x!r}{unit}" if unit else json.dumps(x): x for x in values}
    return text, f"{along['pointer']}={json.dumps([t if unit else json.loads(t) for t in text])}"
