#!/usr/bin/env python3
"""command_lines_test.py STEPCAST CALIBRATE SCENARIOS DATA: command lines with faults.

One fault has one exit code in every subcommand of both programs, and no message comes from a library. Standard streams
may be closed or full, and memory and file size may be limited."""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

STEPCAST, CALIBRATE, SCENARIOS, DATA = (str(pathlib.Path(a).resolve()) for a in sys.argv[1:5])
GOOD = '{"name": "good", "workload": "resnet50-v100", "cluster": {"workers": 4, "link": {"bandwidth": "10Gbps", "latency": "25us"}}}'
NOT_FOR_USERS = ["Traceback", "bad_alloc", "filesystem error", "terminate called", "json.exception", "std::", "basic_", "vector::"]
failures = []


def run(program, arguments, before=None, env=None, redirect=""):
    command = ["bash", "-c", f'exec "$0" "$@" {redirect}', program, *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          timeout=120, preexec_fn=before, env={**os.environ, "XDG_CACHE_HOME": os.getcwd(), **(env or {})})


def expect(code, program, arguments, says="", **how):
    ran = run(program, arguments, **how)
    told = ran.stderr
    wrong = []
    if ran.returncode != code:
        wrong.append(f"exit code {ran.returncode} instead of {code}")
    if says not in told:
        wrong.append(f"does not say {says!r}")
    wrong += [f"says {words!r}" for words in NOT_FOR_USERS if words in told]
    if wrong:
        failures.append(f"{pathlib.Path(program).name} {' '.join(arguments)} {how or ''}: {'; '.join(wrong)}\n    {told.strip()[:600]}")
    return ran


def limit(which, size):
    return lambda: resource.setrlimit(which, (size, size))


ALONG = ["--along", "/cluster/workers=1..4"]
# Each subcommand with a scenario, and one of its outputs.
READERS = {"run": [], "sweep": ["--no-cache"], "explain": [], "crossover": ALONG, "solve": ALONG, "trace": ["-o", "t.json"],
           "show": [], "validate": [], "report": ["-o", "t.html"]}
OUTPUT = {"run": "--csv", "sweep": "--csv", "merge": "--csv", "explain": "--json", "crossover": "--csv", "solve": "--csv",
          "validate": "--csv", "trace": "-o", "list": "--json", "show": "--json", "report": "-o"}
INPUT = {"merge": ["good.json"], "list": [], "validate": ["ddp-2020"]}


def table():
    for name, more in READERS.items():
        for file in ("nowhere.json", "folder.json", "broken.json", "no-such-name"):
            expect(3, STEPCAST, [name, file, *more])
        if name != "show":
            expect(2, STEPCAST, [name, "good.json", *more, "--set", "no pointer"], "--set")
            bad = "suite.json" if name == "validate" else "good.json"
            expect(3, STEPCAST, [name, bad, *more, "--set", "/nope=1"], "nope")
    expect(3, STEPCAST, ["merge", "nowhere.jsonl"])
    expect(3, STEPCAST, ["merge", "broken.json"])
    expect(3, CALIBRATE, ["link", "--from", "nowhere.txt"])
    expect(3, CALIBRATE, ["link", "--from", "folder.json"])
    expect(3, CALIBRATE, ["transfer", "nowhere", "--from", "v100-datasheet", "--to", "a100-datasheet", "-o", "p.json"])
    for name in ("run", "sweep", "merge", "explain", "crossover", "solve", "validate", "trace", "list", "show", "schema", "new", "import", "report"):
        expect(2, STEPCAST, [name, "--nope"], "there is no option --nope")
        expect(2, STEPCAST, [name, "--nope=1", "good.json"], "there is no option --nope")
    for name in ("device", "link", "transfer"):
        expect(2, CALIBRATE, [name, "--nope"], "there is no option --nope")
    for program in (STEPCAST, CALIBRATE):
        expect(2, program, ["nope"], "there is no subcommand nope")
        expect(2, program, [], "A subcommand is required")
    expect(2, STEPCAST, ["run", "good.json", "--no-plo"], "did you mean --no-plot?")
    expect(2, STEPCAST, ["run", "good.json", "more"], "more is an argument too many")
    expect(3, STEPCAST, ["show", "rign"], "did you mean ring?")
    expect(2, STEPCAST, ["report", "good.json", "-o", "page.md"], "must end in .html")
    expect(2, STEPCAST, ["new", "nope"], "nope")
    expect(2, STEPCAST, ["import", "good.json"], "--batch is required")
    for trace in ("nowhere.json", "folder.json", "broken.json", "good.json"):
        expect(3, STEPCAST, ["import", trace, "--batch", "8"], trace)
    for name, option in OUTPUT.items():
        given = [name, *INPUT.get(name, ["good.json"])]
        given += [a for a in READERS.get(name, []) if a not in ("-o", "t.json", "t.html")]
        for target in ("nowhere/x", "folder.json", "good.json/x"):
            if name == "report" and target != "folder.json":
                target += "/page.html"
            if name == "merge" and target == "good.json/x":
                continue
            expect(2, STEPCAST, [*given, option, target], target)
    link = ["link", "--from", f"{DATA}/osu_latency.txt"]
    transfer = ["transfer", "v100-datasheet", "--from", "v100-datasheet", "--to", "a100-datasheet"]
    for target in ("nowhere/x", "folder.json"):
        for given in (link, transfer, ["device"]):
            expect(2, CALIBRATE, [*given, "-o", target], target)


def empty_values():
    for name, options in {"run": ["--csv", "--json", "--plot", "--kind", "--x", "--y", "--lines", "--panels", "--point", "--set", "--by", "--evaluator"],
                          "sweep": ["--csv", "--jsonl", "--shard", "--shard-file", "--cache"], "trace": ["-o"],
                          "explain": ["--json", "--scenario", "--phase"], "solve": ["--for", "--csv"],
                          "crossover": ["--among", "--over"], "validate": ["--csv"], "fit": ["--constant", "--train", "--leave-out", "--write"], "show": ["--variant", "--dtype", "--json"],
                          "list": ["--json"], "merge": ["--csv"], "report": ["-o"], "import": ["-o", "--name", "--batch"]}.items():
        given = [] if name == "list" else ["ddp-2020"] if name in ("validate", "fit") else ["good.json"]
        for option in options:
            along = ALONG if name in ("solve", "crossover") else []
            expect(2, STEPCAST, [name, *given, *along, option, ""], "an empty value")
    for name in ("run", "sweep", "show", "validate", "list", "schema"):
        expect(2, STEPCAST, [name, ""], "an empty value")
    for option in ("--name", "--csv", "-o", "--algorithm", "--min-size"):
        expect(2, CALIBRATE, ["link", "--from", f"{DATA}/osu_latency.txt", option, ""], "an empty value")


def streams():
    whole = run(STEPCAST, ["sweep", "good.json", "--no-cache"]).stdout
    for redirect in ("2>&-", "2>/dev/full", "0<&- 2>&-"):
        expect(0, STEPCAST, ["trace", "good.json", "-o", "t.json"], redirect=redirect)
        text = pathlib.Path("t.json").read_text()
        if "stepcast:" in text or not text.endswith("]\n"):
            failures.append(f"trace {redirect}: a message is in the trace")
        expect(0, STEPCAST, ["sweep", "good.json", "--no-cache", "--csv", "s.csv"], redirect=redirect)
        if pathlib.Path("s.csv").read_text() != whole:
            failures.append(f"sweep {redirect}: the CSV is another")
        expect(3, STEPCAST, ["run", "broken.json"], redirect=redirect)
        expect(2, STEPCAST, ["run", "--nope"], redirect=redirect)
        expect(3, CALIBRATE, ["link", "--from", "nowhere.txt"], redirect=redirect)
        expect(2, CALIBRATE, ["link", "--nope"], redirect=redirect)
    link = ["link", "--from", f"{DATA}/osu_latency.txt"]
    for redirect in (">&-", ">/dev/full"):
        for program, given in ((STEPCAST, ["run", "good.json"]), (STEPCAST, ["sweep", "good.json", "--no-cache"]),
                               (STEPCAST, ["--help"]), (STEPCAST, ["list"]), (CALIBRATE, link), (CALIBRATE, ["--version"])):
            ran = expect(1, program, given, "cannot write", redirect=redirect)
            if ran.stderr.count("cannot write") != 1:
                failures.append(f"{given} {redirect}: not one sentence")


def limits():
    no_file = {"before": limit(resource.RLIMIT_FSIZE, 0)}
    for given in (["run", "good.json", "--csv"], ["sweep", "good.json", "--no-cache", "--csv"], ["trace", "good.json", "-o"], ["list", "--json"]):
        expect(1, STEPCAST, [*given, "l.out"], "File too large", **no_file)
    expect(1, CALIBRATE, ["link", "--from", f"{DATA}/osu_latency.txt", "-o", "l.out"], "File too large", **no_file)
    if b"__asan_init" in pathlib.Path(STEPCAST).read_bytes():
        return  # AddressSanitizer reserves terabytes of addresses
    large = ["run", "good.json", "--set", f"/cluster/workers={list(range(1, 20001))}".replace(" ", "")]
    expect(1, STEPCAST, large, "not enough memory", before=limit(resource.RLIMIT_AS, 120 << 20))


def plots():
    pathlib.Path("python").write_text("#!/bin/sh\necho 'Traceback (most recent call last):' >&2\necho 'OSError: gone' >&2\nexit 1\n")
    os.chmod("python", 0o755)
    plot = ["run", "good.json", "--plot", "p.png"]
    expect(1, STEPCAST, plot, "cannot make p.png: OSError: gone", env={"STEPCAST_PYTHON": "./python"})
    expect(1, STEPCAST, plot, "does not start", env={"STEPCAST_PYTHON": "./no-python"})
    expect(1, STEPCAST, plot, "failed and did not say why", env={"STEPCAST_PYTHON": "false"})
    expect(1, STEPCAST, plot, "TMPDIR", env={"TMPDIR": "/nowhere"})
    expect(2, STEPCAST, ["run", "good.json", "--kind", "bars"], "--kind requires --plot")
    expect(2, STEPCAST, [*plot, "--kind", "pie"], "heatmap")
    for option in ("--x", "--lines", "--panels"):
        expect(2, STEPCAST, [*plot, option, "nowhere"], "has no axes")
        expect(2, STEPCAST, ["sweep", "good.json", "--no-cache", "--csv", "s.csv", "--plot", "p.png", option, "nowhere"], "has no axes")
    expect(2, STEPCAST, ["sweep", "good.json", "--shard", "0/2", "--plot", "p.png"], "wants all points")
    # A scenario's own picture: not for who reads standard output.
    own, fails = ["run", "good.json", "--set", "/output/plot=own.png"], {"STEPCAST_PYTHON": "false"}
    expect(1, STEPCAST, own, "cannot make own.png", env=fails)
    for option in ("--csv", "--json"):
        expect(0, STEPCAST, [*own, option, "-"], env=fails)
        expect(1, STEPCAST, [*own, option, "-", "--plot", "p.png"], "cannot make p.png", env=fails)


def suites():
    ran = expect(0, STEPCAST, ["validate", "hkbu-10gbe", "--set", "/cluster/topology/gpus_per_node=3", "--set", "/impossible=leave-out", "--csv", "-"],
                 "measurements left out, whose points are impossible so")
    shipped = run(STEPCAST, ["validate", "hkbu-10gbe", "--csv", "-"]).stdout
    if not 1 < ran.stdout.count("\n") < shipped.count("\n"):
        failures.append("leave-out: not fewer measurements")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["STEPCAST_SCENARIOS"] = SCENARIOS
    pathlib.Path("good.json").write_text(GOOD)
    pathlib.Path("broken.json").write_text('{"name": ')
    pathlib.Path("suite.json").write_bytes(pathlib.Path(SCENARIOS, "validation/ddp-2020.json").read_bytes())
    pathlib.Path("workloads").symlink_to(pathlib.Path(SCENARIOS, "validation/workloads").resolve())
    os.mkdir("folder.json")
    for part in (table, empty_values, streams, limits, plots, suites):
        part()
    left = [f for f in os.listdir(".") if f.endswith(".partial") or f.startswith(".")]
    if left:
        failures.append(f"left behind: {left}")
    os.chdir("/")
print("\n".join(failures) or "all as it should be")
sys.exit(bool(failures))
