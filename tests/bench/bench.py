#!/usr/bin/env python3
"""Time and memory of whole stepcast commands, beside their limits, full replays, a plain SimGrid loop and SMPI.

    bench.py [--quick] STEPCAST PLAIN_LOOP SMPI_ALLREDUCE FOLDER      SMPI_ALLREDUCE - leaves out SMPI

It prints a table. FOLDER gets bench.json and, with matplotlib, bench.png (notebooks/plot_growth.py). --quick leaves
out what takes more than about ten seconds.

- Seconds are CPU time of the whole command with its start, and of the processes that it starts. MiB are the largest
  resident set. If a command takes less than two seconds, the fastest of three runs counts.
- A row beside another one has the ratio of their seconds and the difference of their predictions. More than a per
  cent of difference is a failure. A row over its limit is marked, and fails nothing: machines differ.
- The ratio of a full replay to the plain loop leaves out both commands' start, which is their time with two workers.
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
SHORT_SECONDS = 2.0
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

PEERS = (2, 64, 128, 256, 512, 1024)  # the first one shows the start of each command
SHARDS = 16
SERVER_STEPS = 4             # steps of a full replay of the servers, as `stepcast trace --fidelity full` says
RESNET50_BYTES = 102228128   # of gradients, 25,557,032 in FP32


class Bench:
    """Runs commands in a folder of its own, prints a row for each and keeps it."""

    def __init__(self, programs, work, quick):
        self.stepcast, self.plain_loop, self.smpi_allreduce = programs
        self.work, self.quick, self.rows = work, quick, []
        self.environment = {"STEPCAST_SCENARIOS": str(ROOT / "scenarios"), **os.environ, "XDG_CACHE_HOME": work}
        print(f"{'case':44} {'way':15} {'workers':>8} {'CPU s':>8} {'MiB':>7} {'limit':>12} {'ratio':>8} {'beside':12} {'step':>12} {'difference':>10}")

    def write(self, name, content):
        text = content if isinstance(content, str) else json.dumps(content)
        pathlib.Path(self.work, name).write_text(text)
        return name

    def measure(self, command):
        """CPU seconds, seconds, MiB, exit code and streams of a command."""
        memory = os.path.join(self.work, "memory")
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        # GNU time starts it, since a child of this process would inherit its size.
        done = subprocess.run([GNU_TIME, "-q", "-o", memory, "-f", "%M", "timeout", str(TIMEOUT_SECONDS), *command], cwd=self.work, env=self.environment,
                              capture_output=True, text=True, check=False)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"seconds": seconds, "wall_s": wall, "mebibytes": int(pathlib.Path(memory).read_text()) / 1024, "done": done}

    def run(self, command, may_refuse=False):
        """The fastest run. A command that refuses is kept with its words, if it may."""
        best = self.measure(command)
        for _ in range(2):
            if best["done"].returncode == 0 and best["seconds"] < SHORT_SECONDS:
                best = min(best, self.measure(command), key=lambda run: run["seconds"])
        done = best.pop("done")
        if done.returncode != 0 and not may_refuse:
            sys.exit(f"bench.py: exit code {done.returncode} of {' '.join(command)}\n{done.stderr}")
        return best, (done.stdout if done.returncode == 0 else None), done.stderr.strip()

    def add(self, case, way, workers, command, predicted=None, line="", beside=None, start=0.0, **limits):
        """Measures a command and adds its row. `predicted` reads the step from its output.

        Limits are `limit_s`, `limit_mib` and `limit_ratio`, and their `source`. `start` is the seconds of both commands' start,
        this one's and that of `beside`, as a pair.
        """
        measured, output, words = self.run(command, may_refuse="source" in limits)
        row = {"case": case, "way": way, "line": line, "workers": workers, **measured, "step_s": None, **limits}
        if output is None:
            row["refused"] = words
        elif predicted:
            row["step_s"] = predicted(output)
        if beside and output is not None:
            own, other = start or (0.0, 0.0)
            row |= {"beside": beside["way"], "ratio": (row["seconds"] - own) / (beside["seconds"] - other),
                    "memory_ratio": row["mebibytes"] / beside["mebibytes"], "difference": row["step_s"] / beside["step_s"] - 1}
        row["over"] = output is None or any(row.get(value, 0) > limits[limit] for value, limit in
                                            (("seconds", "limit_s"), ("mebibytes", "limit_mib"), ("ratio", "limit_ratio")) if limit in limits)
        self.rows.append(row)
        print(text_of(row), flush=True)
        return row

    def replay(self, fidelity, study):
        return [self.stepcast, "run", self.write("scenario.json", study), "--jobs", "1", "--json", "-", "--fidelity", fidelity]


def text_of(row):
    limit = " ".join(text for key, text in (("limit_s", "{:g} s"), ("limit_mib", "{:g} MiB"), ("limit_ratio", "{:g}x")) if key in row for text in [text.format(row[key])])
    ratio = f"{row['ratio']:8.2g}" if "ratio" in row else " " * 8
    step = f"{row['step_s']:12.6g}" if row["step_s"] is not None else " " * 12
    difference = f"{row['difference']:+10.1e}" if "difference" in row else " " * 10
    text = "{case:44} {way:15} {workers:>8} {seconds:8.3f} {mebibytes:7.1f} ".format(**row)
    text += f"{limit:>12} {ratio} {row.get('beside', ''):12} {step} {difference}"
    return text.rstrip() + ("  OVER" if row["over"] else "") + (f"  said: {row['refused']}" if "refused" in row else "")


def field(name):
    return lambda output: json.loads(output)["points"][0][name]


def latest(output):
    return max(float(line) for line in output.split())


def ring_peers(bench):
    """One ring all-reduce of 100 MiB on a star, predicted by each way. A full replay ends after one step."""
    start = {}
    for p in PEERS:
        if bench.quick and p > 512:
            break
        platform_file = bench.write("star.xml", PLATFORM.format(last=p - 1))
        hosts = bench.write("hosts", "".join(f"host-{i}\n" for i in range(p)))
        study = cases.scenario(p, cases.collective("ring"))
        case, line = "ring, star", p > 2
        loop = bench.add(case, "plain loop", p, [bench.plain_loop, platform_file, "ring", str(cases.BYTES)], latest, line="plain loop" if line else "")
        bench.add(case, "folded", p, bench.replay("folded", study), field("step_time_s"), "folded" if line else "", loop)
        limits = {"limit_ratio": 1.3, "source": "issue 27, part 3"} if line else {}
        full = bench.add(case, "full", p, bench.replay("full", study), field("step_time_s"), "full" if line else "", loop, start.get("both"), **limits)
        start.setdefault("both", (full["seconds"], loop["seconds"]))
        if bench.smpi_allreduce:
            smpi = ["smpirun", "-quiet", "-no-privatize", "-np", str(p), "-platform", platform_file, "-hostfile", hosts, *SMPI, bench.smpi_allreduce, str(cases.BYTES // 4)]
            bench.add(case, "SMPI", p, smpi, latest, "SMPI" if line else "", loop)


def server_peers(bench):
    """Every worker pushes to every shard, and then pulls. Computing comes before it, so the exchange is compared."""
    start = None
    for p in PEERS:
        platform_file = bench.write("star.xml", PLATFORM.format(last=p + SHARDS - 1))
        study = cases.scenario(p, cases.servers(SHARDS))
        case, exchange = f"{SHARDS} servers, {SERVER_STEPS} steps, star", field("exposed_communication_s")
        loop = bench.add(case, "plain loop", p, [bench.plain_loop, platform_file, "servers", str(RESNET50_BYTES), str(SHARDS), str(SERVER_STEPS)], latest)
        limits = {"limit_ratio": 1.3, "source": "issue 27, part 3"} if p > 2 else {}
        full = bench.add(case, "full", p, bench.replay("full", study), exchange, "", loop, start, **limits)
        bench.add(case, "folded", p, bench.replay("folded", study), exchange, "", loop)
        start = start or (full["seconds"], loop["seconds"])


def replays(bench):
    """Folded replays at their sizes, and beside full replay at the size at which that is quick."""
    for case in (*cases.JITTERED, *cases.FOLDED):
        beside = case.quick_beside if bench.quick else case.beside
        full = bench.add(case.name, "full", beside, bench.replay("full", cases.scenario_of(case, beside)), field("step_time_s"))
        limits = dict(case.limits)
        for p in sorted({beside, *case.sizes, *limits}):
            if bench.quick and p in case.slow:
                continue
            limit = {"limit_s": limits[p], "source": f"issue 27, part {case.part}"} if p in limits else {}
            if p == cases.MILLION:
                limit["limit_mib"] = 1024
            bench.add(case.name, "folded", p, bench.replay("folded", cases.scenario_of(case, p)), field("step_time_s"), case.line, full if p == beside else None, **limit)


def studies(bench):
    """Studies of many points, and the commands that one waits for."""
    program = bench.stepcast
    for name, study, points, limit, source in cases.sweeps():
        file = bench.write("study.json", study)
        if name.startswith("replay"):
            ways = {"sweep": ["sweep", file, "--jobs", "2", "--no-cache", "--csv", "points.csv"]}
        else:
            ways = {"sweep": ["sweep", file, "--jobs", "1", "--csv", "points.csv"], "run": ["run", file, "--jobs", "1"]}
        for way, words in ways.items():
            bench.add(f"{points:,} points, {name}", way, 1, [program, *words], limit_s=limit, source=source)
    source = "issue 27, part 5"
    bench.add("crossover survey along bandwidth", "crossover", 1, [program, "crossover", "survey", "--along", "bandwidth=100Mbps..100Gbps", "--jobs", "1"],
              limit_s=0.5, limit_mib=100, source=source)
    bench.add("run quickstart", "run", 1, [program, "run", "quickstart"], limit_s=0.2, source=source)
    bench.add("run quickstart with its plot", "run", 1, [program, "run", "quickstart", "--plot", "quickstart.png"], limit_s=1.2, source=source)


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
