#!/usr/bin/env python3
"""Time and memory of whole stepcast commands, beside their limits, full replays, a plain SimGrid loop and SMPI.

    bench.py [--quick] STEPCAST PLAIN_LOOP SMPI_ALLREDUCE FOLDER      SMPI_ALLREDUCE - leaves out SMPI

It prints a table. FOLDER gets bench.json and, with matplotlib, bench.png (notebooks/plot_growth.py). --quick leaves
out what takes more than about ten seconds.

- Seconds are CPU time of the whole command with its start, and of the processes that it starts. MiB are the largest
  resident set. A command runs up to ten times until it has taken half a second. The fastest run counts. Rows
  with a limit, and plain loops with the full replay beside them, run until they have taken five seconds, at most sixty times.
- Commands that a person waits for have a limit of wall time, which several cores shorten. They run until they have
  taken ten seconds, at most sixty times. Their row ends with the shortest wall time of the runs.
- A row beside another one has the ratio of their seconds and the difference of their predictions. More than a per
  cent of difference is a failure. A row over its limit is marked, and fails nothing: machines differ.
- The ratio of a full replay to the plain loop leaves out both commands' start, which is their time with two workers.
  The loop has the system's allocator, as a program written by hand has; stepcast brings its own.
- SMPI runs MPI_Allreduce's ring ("lr") on SimGrid's ideal network, like stepcast, without its own costs of
  computation, copies and arithmetic. All its ranks share two buffers of 100 MiB. Its messages are 16 bytes longer,
  and MPI_Wtime adds 10 ns.

Needs GNU time (Debian: time), and for SMPI smpirun (libsimgrid-dev).
"""
import datetime
import json
import os
import pathlib
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time

import cases

LARGEST_DIFFERENCE = 0.01
MOST_RUNS, ENOUGH_SECONDS = 10, 0.5
MOST_COMPARED, ENOUGH_COMPARED, ENOUGH_WAITED = 60, 5, 10
TIMEOUT_SECONDS = 300
GNU_TIME = "/usr/bin/time"
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Debian's matplotlib belongs to the system's Python, as in sim/program/output.cpp.
PYTHON = os.environ.get("STEPCAST_PYTHON") or ("/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable)

PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="host-" suffix="" radical="0-{last}" speed="1Gf" bw="100Gbps" lat="2.5us" sharing_policy="SPLITDUPLEX"/>
</platform>
"""  # a message passes two links: 5 us, as cases.LINK
# Options of stepcast's ideal transport. A rank's copy of its own part takes no time.
SMPI = ["--log=root.thresh:critical", "--cfg=smpi/allreduce:lr", "--cfg=smpi/simulate-computation:no", "--cfg=smpi/host-speed:1Gf",
        "--cfg=network/model:CM02", "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1", "--cfg=network/crosstraffic:0",
        "--cfg=network/TCP-gamma:0", "--cfg=network/weight-S:0", "--cfg=network/loopback-bw:1e18", "--cfg=network/loopback-lat:0"]

LIMITED = {"seconds": "limit_s", "wall_s": "limit_wall_s", "mebibytes": "limit_mib", "ratio": "limit_ratio"}
LIMIT_TEXTS = {"limit_s": "{:g} s", "limit_wall_s": "{:g} s wall", "limit_mib": "{:g} MiB", "limit_ratio": "{:g}x"}
PEERS = (2, 64, 128, 256, 512, 1024)  # the first one shows the start of each command
SHARDS = 16
SERVER_STEPS = 4             # steps of a full replay of the servers, as `stepcast trace --fidelity full` says
RESNET50_BYTES = 102228128   # of gradients, 25,557,032 in FP32


class Bench:
    """Runs commands in a folder of its own, prints a row for each and keeps it."""

    def __init__(self, programs, work, quick):
        self.stepcast, self.plain_loop, self.smpi_allreduce = programs
        self.work, self.quick, self.rows = work, quick, []
        self.peers = PEERS[:-1] if quick else PEERS
        # No answers of earlier runs, but what Python keeps: compiled scripts, and matplotlib's list of fonts, which takes a second.
        fonts = os.environ.get("MPLCONFIGDIR") or os.path.expanduser("~/.cache/matplotlib")
        self.environment = {"STEPCAST_SCENARIOS": str(ROOT / "scenarios"), **os.environ, "XDG_CACHE_HOME": work, "MPLCONFIGDIR": fonts}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        print(f"{'case':44} {'way':10} {'workers':>8} {'CPU s':>8} {'MiB':>7} "
              f"{'limit':>18} {'ratio':>7} {'beside':10} {'step':>12} {'difference':>10}")

    def write(self, name, content):
        text = content if isinstance(content, str) else json.dumps(content)
        pathlib.Path(self.work, name).write_text(text)
        return name

    def measure(self, command):
        """CPU seconds, seconds, MiB, exit code and streams of a command."""
        memory = os.path.join(self.work, "memory")
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        # GNU time starts it, since a child of this process would inherit its size.
        measured = [GNU_TIME, "-q", "-o", memory, "-f", "%M", "timeout", str(TIMEOUT_SECONDS), *command]
        done = subprocess.run(measured, cwd=self.work, env=self.environment, capture_output=True, text=True, check=False)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"seconds": seconds, "wall_s": wall, "mebibytes": int(pathlib.Path(memory).read_text()) / 1024, "done": done}

    def run(self, command, may_refuse, enough):
        """The fastest run. A command that refuses is kept with its words, if it may."""
        runs, most = [self.measure(command)], MOST_RUNS if enough <= ENOUGH_SECONDS else MOST_COMPARED
        while runs[-1]["done"].returncode == 0 and len(runs) < most and sum(run["seconds"] for run in runs) < enough:
            runs.append(self.measure(command))
        best = min(runs, key=lambda run: run["seconds"])
        best["wall_s"] = min(run["wall_s"] for run in runs)
        done = best.pop("done")
        if done.returncode != 0 and not may_refuse:
            sys.exit(f"bench.py: exit code {done.returncode} of {' '.join(command)}\n{done.stderr}")
        return best, (done.stdout if done.returncode == 0 else None), done.stderr.strip() or f"nothing for {TIMEOUT_SECONDS} s"

    def add(self, case, way, workers, command, step=None, line="", beside=None, starts=(0.0, 0.0), enough=ENOUGH_SECONDS, **limits):
        """Measures a command and adds its row.

        `step` reads the predicted step from its output. `line` is that of the picture. `beside` is the row to compare with.
        `starts` are the seconds that the ratio leaves out, of this row and of that one. `enough` seconds are measured. Limits are `limit_s`,
        `limit_wall_s`, `limit_mib` and `limit_ratio`, with their `source`.
        """
        if limits:
            enough = ENOUGH_WAITED if "limit_wall_s" in limits else ENOUGH_COMPARED
        measured, output, words = self.run(command, may_refuse="limit_mib" in limits, enough=enough)
        row = {"case": case, "way": way, "line": line, "workers": workers, **measured, "step_s": None, **limits}
        if output is None:
            row["refused"] = words
        elif step:
            row["step_s"] = step(output)
        if beside and output is not None:
            row["beside"] = beside["way"]
            row["ratio"] = (row["seconds"] - starts[0]) / (beside["seconds"] - starts[1])
            row["memory_ratio"] = row["mebibytes"] / beside["mebibytes"]
            row["difference"] = row["step_s"] / beside["step_s"] - 1
        row["over"] = any(key in row and limit in limits and row[key] > limits[limit] for key, limit in LIMITED.items())
        self.rows.append(row)
        print(text_of(row), flush=True)
        return row

    def replay(self, fidelity, study):
        return [self.stepcast, "run", self.write("scenario.json", study), "--jobs", "1", "--json", "-", "--fidelity", fidelity]


def text_of(row):
    limit = ", ".join(text.format(row[key]) for key, text in LIMIT_TEXTS.items() if key in row)
    ratio = f"{row['ratio']:7.3f}" if "ratio" in row else " " * 7
    step = f"{row['step_s']:12.6g}" if row["step_s"] is not None else " " * 12
    difference = f"{row['difference']:+10.1e}" if "difference" in row else " " * 10
    text = "{case:44} {way:10} {workers:>8} {seconds:8.3f} {mebibytes:7.1f} ".format(**row)
    text += f"{limit:>18} {ratio} {row.get('beside', ''):10} {step} {difference}"
    if "limit_wall_s" in row:
        text += f" {row['wall_s']:.3f} s wall"
    return text.rstrip() + ("  OVER" if row["over"] else "") + (f"  said: {row['refused']}" if "refused" in row else "")


def step_time(output):
    return json.loads(output)["points"][0]["step_time_s"]


def exchange_time(output):
    return json.loads(output)["points"][0]["exposed_communication_s"]


def latest(output):
    """The plain loop prints one time, SMPI that of each rank."""
    return max(float(line) for line in output.split())


def peer_limit(p):
    return {"limit_ratio": 1.3, "source": "issue 27, part 3"} if p > PEERS[0] else {}


def ring_peers(bench):
    """One ring all-reduce of 100 MiB on a star, predicted by each way. A full replay ends after one step."""
    case, starts = "ring, star", (0.0, 0.0)
    for p in bench.peers:
        network = bench.write("star.xml", PLATFORM.format(last=p - 1))
        hosts = bench.write("hosts", "".join(f"host-{i}\n" for i in range(p)))
        study = cases.scenario(p, cases.collective("ring"))
        by_hand = [bench.plain_loop, network, "ring", str(cases.BYTES)]
        loop = bench.add(case, "plain loop", p, by_hand, latest, line="plain loop", enough=ENOUGH_COMPARED)
        full = bench.add(case, "full", p, bench.replay("full", study), step_time, line="full", beside=loop, starts=starts,
                         enough=ENOUGH_COMPARED, **peer_limit(p))
        bench.add(case, "folded", p, bench.replay("folded", study), step_time, line="folded", beside=loop)
        if bench.smpi_allreduce:
            smpirun = ["smpirun", "-quiet", "-no-privatize", "-np", str(p), "-platform", network, "-hostfile", hosts]
            bench.add(case, "SMPI", p, [*smpirun, *SMPI, bench.smpi_allreduce, str(cases.BYTES // 4)], latest, line="SMPI", beside=loop)
        if p == PEERS[0]:
            starts = full["seconds"], loop["seconds"]


def server_peers(bench):
    """Every worker pushes to every shard, and then pulls. Computing comes before, so the exchanges alone are compared."""
    case, starts = f"{SHARDS} servers, {SERVER_STEPS} steps, star", (0.0, 0.0)
    for p in bench.peers:
        network = bench.write("star.xml", PLATFORM.format(last=p + SHARDS - 1))
        study = cases.scenario(p, cases.servers(SHARDS))
        by_hand = [bench.plain_loop, network, "servers", str(RESNET50_BYTES), str(SHARDS), str(SERVER_STEPS)]
        loop = bench.add(case, "plain loop", p, by_hand, latest, enough=ENOUGH_COMPARED)
        full = bench.add(case, "full", p, bench.replay("full", study), exchange_time, beside=loop, starts=starts,
                         enough=ENOUGH_COMPARED, **peer_limit(p))
        bench.add(case, "folded", p, bench.replay("folded", study), exchange_time, beside=loop)
        if p == PEERS[0]:
            starts = full["seconds"], loop["seconds"]


def replays(bench):
    """Folded replays at their sizes, and beside full replay at the size at which that takes some seconds."""
    for case in (*cases.JITTERED, *cases.FOLDED):
        full, limits = None, dict(case.limits)
        if case.beside:
            full = bench.add(case.name, "full", case.beside, bench.replay("full", case.scenario(case.beside)), step_time)
        for p in sorted({case.beside, *case.sizes, *limits} - {0}):
            if bench.quick and p in case.slow:
                continue
            command, limit = bench.replay("folded", case.scenario(p)), {}
            if p in limits:
                is_said = limits[p] == cases.SAID
                limit = {"limit_s": limits[p], "source": "docs/many-points.md" if is_said else f"issue 27, part {case.part}"}
                if p == cases.MILLION:
                    limit["limit_mib"] = cases.SAID_MIB if is_said else 1024
            bench.add(case.name, "folded", p, command, step_time, line=case.line, beside=full if p == case.beside else None, **limit)


def studies(bench):
    """Studies of many points, with one of their points beside its full replay, and commands that a person waits for."""
    program = bench.stepcast
    for name, study, points, limit, source, programs in cases.sweeps():
        file, case = bench.write("study.json", study), f"{points:,} {name}"
        for words in programs:
            bench.add(case, words[0], "", [program, words[0], file, *words[1:]], limit_s=limit, source=source)
        if study["evaluation"]["evaluator"] == "replay":
            continue
        point = cases.last_point(study)
        case, p, command = f"one of {name}", point["cluster"]["workers"], bench.replay("full", point)
        full = bench.add(case, "full", p, [*command, "--evaluator", "replay"], step_time)
        bench.add(case, "equations", p, [*command, "--evaluator", "equations"], step_time, beside=full)
    source = "issue 27, part 5"
    survey = [program, "crossover", "survey", "--along", "bandwidth=100Mbps..100Gbps"]
    bench.add("crossover survey along bandwidth", "equations", "", survey, limit_wall_s=0.5, limit_mib=100, source=source)
    quickstart = [program, "run", "quickstart"]
    bench.add("run quickstart", "run", "", [*quickstart, "--no-plot"], limit_wall_s=0.2, source=source)
    bench.add("run quickstart with its plot", "run", "", [*quickstart, "--plot", "quickstart.png"], limit_wall_s=1.2, source=source)


def machine():
    models = re.findall(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return {"name": platform.node(), "cpu": models[0] if models else platform.machine(), "cores": os.cpu_count()}


def summary_of(stepcast, rows):
    version = subprocess.run([stepcast, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    simgrid = re.search(r"SimGrid ([\d.]+)", version)
    return {"machine": machine(), "stepcast": version, "simgrid": simgrid.group(1) if simgrid else None,
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "rows": rows}


def main():
    words = [word for word in sys.argv[1:] if word != "--quick"]
    if len(words) != 4:
        sys.exit("usage: bench.py [--quick] STEPCAST PLAIN_LOOP SMPI_ALLREDUCE FOLDER")
    if not os.access(GNU_TIME, os.X_OK):
        sys.exit(f"bench.py needs GNU time at {GNU_TIME}: apt install time")
    programs, folder = [os.path.abspath(word) if word != "-" else None for word in words[:3]], pathlib.Path(words[3])
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(programs, work, "--quick" in sys.argv)
        for part in (ring_peers, server_peers, replays, studies):
            part(bench)
    folder.mkdir(parents=True, exist_ok=True)
    result = folder / "bench.json"
    result.write_text(json.dumps(summary_of(programs[0], bench.rows), indent=1) + "\n")
    subprocess.run([PYTHON, ROOT / "notebooks/plot_growth.py", result, folder / "bench.png"], check=False)
    over = [row for row in bench.rows if row["over"]]
    apart = [row for row in bench.rows if abs(row.get("difference", 0)) > LARGEST_DIFFERENCE]
    print(f"bench.py: {len(bench.rows)} rows in {result}, {len(over)} over their limit, {len(apart)} predictions apart")
    for row in over + apart:
        print(text_of(row), file=sys.stderr)
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
