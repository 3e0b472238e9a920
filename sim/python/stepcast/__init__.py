"""stepcast forecasts the training step of distributed SGD. This module asks the stepcast program and reads its JSON.

    import stepcast
    rows = stepcast.run("quickstart", cluster__workers=[8, 16], evaluator="equations")
    fastest = min(rows, key=lambda row: row["step_time_s"])
    frame = rows.frame()                  # where pandas is installed

A scenario is a dict as its JSON file has it, a path, or a shipped name. Each function returns Rows: a list of dicts.
Any field can be set by keyword: cluster__workers=8, or **{"/cluster/workers": 8}. A list of values makes an axis.
"""
import json
import os

from .program import Rows, StepcastError, ask, program

__all__ = ["Rows", "StepcastError", "crossover", "explain", "program", "run", "solve", "sweep"]


def run(scenario, *, point=None, evaluator=None, **fields):
    """Forecasts each point: a row has its axes and all metrics, in SI units. A point without an answer has "error"."""
    answer = _ask_json("run", scenario, ["--no-plot"], point, evaluator, fields)
    return answer.with_rows(answer.document["points"])


def sweep(study, *, evaluator=None, jobs=None, **fields):
    """Forecasts many points on all cores, or `jobs` of them; replays are kept in stepcast's cache."""
    answer = ask("sweep", *_given(study), *_sets(fields), *_option("--evaluator", evaluator), *_option("--jobs", jobs),
                 "--jsonl", "-", text=_text(study))
    return answer.with_rows([json.loads(line) for line in answer.output.splitlines()])


def explain(scenario, *, point=None, evaluator=None, **fields):
    """Tries some forty changes of one point: a row has what changes, and the step time and speedup that it makes.
    The rows' `document` has what sets the step now."""
    answer = _ask_json("explain", scenario, [], point, evaluator, fields)
    return answer.with_rows(answer.document["changes"])


def crossover(study, along, *, among=None, over=None, point=None, evaluator=None, **fields):
    """Finds where along one field each alternative pays: along="/cluster/link/bandwidth=1Gbps..100Gbps".
    `among` names axes whose values compete, `over` the alternative to compare with: {"variant": "server"}.
    A row is one alternative in one situation: its axes, "pays", "fastest", "most", "worths"."""
    more = ["--along", along, *_repeated("--among", among), *_pairs("--over", over)]
    answer = _ask_json("crossover", study, more, point, evaluator, fields)
    return answer.with_rows([{**situation["coordinates"], **_flat(one)}
                             for situation in answer.document["situations"] for one in situation["alternatives"]])


def solve(study, along, *, goal=None, within=None, point=None, evaluator=None, **fields):
    """Finds for each point the best value of one field, and where a goal such as "efficiency=0.9" is reached.
    A row has the point's axes, "best", "near_best", "reached", "figures"."""
    more = ["--along", along, *_option("--for", goal), *_option("--within", within)]
    answer = _ask_json("solve", study, more, point, evaluator, fields)
    return answer.with_rows([_flat(one) for one in answer.document["points"]])


def _ask_json(command, scenario, more, point, evaluator, fields):
    return ask(command, *_given(scenario), *more, *_sets(fields), *_pairs("--point", point),
               *_option("--evaluator", evaluator), "--json", "-", text=_text(scenario)).read()


def _given(scenario):
    """The scenario as an argument: a dict goes by standard input."""
    return ["-" if isinstance(scenario, dict) else os.fspath(scenario)]


def _text(scenario):
    try:
        return json.dumps(scenario) if isinstance(scenario, dict) else ""
    except TypeError as error:
        raise StepcastError(f"the scenario is no JSON: {error}") from None


def _pointer(name):
    return name if name.startswith("/") else "/" + name.replace("__", "/")


def _sets(fields):
    try:
        return [word for name, value in fields.items() for word in ("--set", f"{_pointer(name)}={json.dumps(value)}")]
    except TypeError as error:
        raise StepcastError(f"a field's value is no JSON: {error}") from None


def _option(name, value):
    return [] if value is None else [name, str(value)]


def _repeated(name, values):
    return [word for value in ([values] if isinstance(values, str) else values or []) for word in (name, str(value))]


def _pairs(name, coordinates):
    return _repeated(name, [f"{axis}={value}" for axis, value in (coordinates or {}).items()])


def _flat(one):
    """The coordinates' axes beside the other fields."""
    return {**one["coordinates"], **{key: value for key, value in one.items() if key != "coordinates"}}
