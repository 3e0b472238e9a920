#!/usr/bin/env python3
"""One ring all-reduce of 100 MiB on a star (10 Gb/s, 25 us), predicted by stepcast, a plain SimGrid loop and SMPI.

    peers.py STEPCAST PLAIN_RING SMPI_ALLREDUCE RESULT.json [WORKERS...]      64 128 256 512

Each is a separate command. They run in turn, and the fastest of three runs counts. Seconds and the largest resident set
are those of the whole command, with its start. Beside them are the prediction and its distance from the closed form
2(p-1)(alpha + n/(p B)). More than a per cent is a failure. Ratios are over stepcast's folded replay.

- All do the all-reduce once: stepcast's full replay ends after one step that begins and ends on all workers together.
- SMPI runs MPI_Allreduce's ring ("lr") on SimGrid's ideal network, like stepcast, without its own costs of
  computation, copies and arithmetic. Its resident set has the two buffers of 100 MiB that all ranks share.
  Its messages are 16 bytes longer, and MPI_Wtime adds 10 ns: 1e-5 of the prediction at 64 workers.

Needs SMPI's smpirun (Debian: libsimgrid-dev) and GNU time (time).
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

BYTES = 100 * 2**20
BANDWIDTH, LATENCY = 1.25e9, 25e-6
ROUNDS = 3
LARGEST_DIFFERENCE = 0.01
GNU_TIME = "/usr/bin/time"

PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="host-" suffix="" radical="0-{last}" speed="1Gf" bw="10Gbps" lat="12.5us" sharing_policy="SPLITDUPLEX"/>
</platform>
"""
SCENARIO = {
    "name": "peers",
    "workload": "resnet50-v100",
    "cluster": {"workers": 1, "link": {"bandwidth": "10Gbps", "latency": "25us"}, "topology": {"kind": "star"}},
    "strategy": {"kind": "collective", "size": "100MiB", "collective": {"algorithm": "ring"}},
    "evaluation": {"evaluator": "replay"},
}
# Those of stepcast's ideal transport; and a rank's copy of its own part takes no time.
SMPI = ["--log=root.thresh:critical", "--cfg=smpi/allreduce:lr", "--cfg=smpi/simulate-computation:no", "--cfg=smpi/host-speed:1Gf",
        "--cfg=network/model:CM02", "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1", "--cfg=network/crosstraffic:0",
        "--cfg=network/TCP-gamma:0", "--cfg=network/weight-S:0", "--cfg=network/loopback-bw:1e18", "--cfg=network/loopback-lat:0"]


def closed_form(p):
    return 2 * (p - 1) * (LATENCY + BYTES / p / BANDWIDTH)


def step_time(output):
    return json.loads(output)["points"][0]["step_time_s"]


def latest(output):
    return max(float(line) for line in output.split())


def measure(command, work):
    """Seconds, MiB and output of a command. GNU time starts it, since a child of this process would inherit its size."""
    memory = os.path.join(work, "memory")
    start = time.monotonic()
    done = subprocess.run([GNU_TIME, "-o", memory, "-f", "%M", *command], cwd=work, capture_output=True, text=True)
    seconds = time.monotonic() - start
    if done.returncode != 0:
        sys.exit(f"peers.py: exit code {done.returncode} of {' '.join(command)}\n{done.stderr}")
    with open(memory) as file:
        return seconds, int(file.read()) / 1024, done.stdout


def commands(p, stepcast, plain_ring, smpi_allreduce, work):
    """For each peer its command, and a function that reads the simulated seconds from its output."""
    def write(name, text):
        with open(os.path.join(work, name), "w") as file:
            file.write(text)
        return name

    platform = write("star.xml", PLATFORM.format(last=p - 1))
    hosts = write("hosts", "".join(f"host-{i}\n" for i in range(p)))
    SCENARIO["cluster"]["workers"] = p
    scenario = write("scenario.json", json.dumps(SCENARIO))
    run = [stepcast, "run", scenario, "--jobs", "1", "--json", "-", "--fidelity"]
    return {
        "stepcast, folded": (run + ["folded"], step_time),
        "stepcast, full to steady state": (run + ["full"], step_time),
        "plain SimGrid loop": ([plain_ring, platform, str(BYTES)], latest),
        "SMPI": (["smpirun", "-quiet", "-no-privatize", "-np", str(p), "-platform", platform, "-hostfile", hosts, *SMPI, smpi_allreduce, str(BYTES // 4)], latest),
    }


def rows_of(p, programs, work):
    peers = commands(p, *programs, work)
    best = {}
    for _ in range(ROUNDS):
        for name, (command, predicted) in peers.items():
            seconds, mebibytes, output = measure(command, work)
            if name not in best or seconds < best[name]["seconds"]:
                best[name] = {"peer": name, "workers": p, "seconds": seconds, "mebibytes": mebibytes, "predicted_s": predicted(output)}
    base = best["stepcast, folded"]
    for row in best.values():
        row["difference"] = row["predicted_s"] / closed_form(p) - 1
        row["seconds_ratio"] = row["seconds"] / base["seconds"]
        row["mebibytes_ratio"] = row["mebibytes"] / base["mebibytes"]
        print("{peer:30} {workers:>5} workers {seconds:8.3f} s ({seconds_ratio:6.1f}x) {mebibytes:7.1f} MiB ({mebibytes_ratio:5.1f}x)  predicts {predicted_s:.9f} s, closed form {difference:+.1e}".format(**row), flush=True)
    return list(best.values())


def main():
    if len(sys.argv) < 5:
        sys.exit("usage: peers.py STEPCAST PLAIN_RING SMPI_ALLREDUCE RESULT.json [WORKERS...]")
    if not os.access(GNU_TIME, os.X_OK):
        sys.exit(f"peers.py needs GNU time at {GNU_TIME}: apt install time")
    programs = [os.path.abspath(path) for path in sys.argv[1:4]]
    sizes = [int(word) for word in sys.argv[5:]] or [64, 128, 256, 512]
    for p in sizes:
        if p < 2 or BYTES // 4 % p:
            sys.exit(f"peers.py: {p} workers; at least 2, and a divisor of {BYTES // 4} floats, so that all chunks are equal")
    version = re.search(r"\d+(\.\d+)+", subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=True).stdout)
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for p in sizes:
            rows += rows_of(p, programs, work)
    with open(sys.argv[4], "w") as file:
        json.dump({"simgrid": version.group() if version else None, "bytes": BYTES, "rows": rows}, file, indent=1)
        file.write("\n")
    apart = [row for row in rows if abs(row["difference"]) > LARGEST_DIFFERENCE]
    for row in apart:
        print("peers.py: {peer} at {workers} workers predicts {predicted_s} s, {difference:+.1%} from the closed form".format(**row), file=sys.stderr)
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
