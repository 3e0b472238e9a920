#!/usr/bin/env python3
"""SMPI's MPI_Allreduce beside stepcast's, algorithm by algorithm, on the same platform.

    smpi_test.py STEPCAST SMPI_ALLREDUCE [--all] [--table]

SMPI runs on SimGrid's ideal network (CM02), without costs of its own for computation, copies or arithmetic. Its program
is tests/bench/smpi_allreduce.c; its platform is written out here, link by link and route by route, from the scenario's
numbers. Times are of the slowest rank, and stepcast's those of its replay.

Both carry out the same messages, so a case passes within 1 % of stepcast's replay (docs/smpi.md). SMPI's sends wait for
their receivers, so stepcast's rings do: /cluster/ring_latency is slowest. SMPI's ring leaves the last floats of a buffer
that p does not divide to another algorithm afterwards. SMPI is asked how long that takes, which is added to stepcast's.

--all takes all of p = 4 to 64, 64 KiB to 16 MiB; without it a few. --table prints every case, not only failures: SMPI
over stepcast's replay as it is, and over the replay with those floats.
Exit 77, which ctest shows as skipped, where there is no smpirun.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

KIB = 1024
BANDWIDTH, LATENCY = 12.5e9, 5e-6  # for a host's link, or a NIC
INNER_BANDWIDTH, INNER_LATENCY = 120e9, 3e-6
HOSTS_PER_RACK, OVERSUBSCRIPTION, UPLINK_LATENCY = 8, 4, 2e-6
SAME = 0.01

# stepcast's algorithm: SMPI's (src/smpi/colls/allreduce).
ALGORITHMS = {"ring": "lr", "recursive-doubling": "rdb", "halving-doubling": "rab_rdb"}
CLUSTERS = ["star", "racks", "machines of 4", "machines of 8"]
ALL_WORKERS = [4, 5, 7, 8, 12, 16, 32, 64]
ALL_SIZES = [64 * KIB, 256 * KIB, 1024 * KIB, 4096 * KIB, 16384 * KIB]
FEW_WORKERS = [5, 8, 16]
FEW_SIZES = [64 * KIB, 16384 * KIB]

# The ideal network; a rank's copy of its own part takes no time. SMPI's own factors belong to its network model alone.
SMPI = ["--log=root.thresh:critical", "--cfg=smpi/simulate-computation:no", "--cfg=smpi/host-speed:1Gf",
        "--cfg=network/model:CM02", "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1",
        "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:0", "--cfg=network/weight-S:0",
        "--cfg=network/loopback-bw:1e18", "--cfg=network/loopback-lat:0", "--cfg=smpi/os:0:0:0:0:0", "--cfg=smpi/or:0:0:0:0:0",
        "--cfg=smpi/ois:0:0:0:0:0", "--cfg=smpi/wtime:0", "--cfg=smpi/test:0", "--cfg=smpi/iprobe:0",
        "--cfg=smpi/async-small-thresh:0", "--cfg=smpi/send-is-detached-thresh:0"]


def gpus_of(cluster):
    return int(cluster.split()[-1]) if cluster.startswith("machines") else 1


def topology(cluster):
    if cluster == "star":
        return {"kind": "star"}
    if cluster == "racks":
        return {"kind": "racks", "hosts_per_rack": HOSTS_PER_RACK, "oversubscription": OVERSUBSCRIPTION,
                "uplink_latency": f"{UPLINK_LATENCY * 1e6}us"}
    return {"kind": "nodes", "gpus_per_node": gpus_of(cluster), "nics": 1,
            "inner": {"bandwidth": f"{INNER_BANDWIDTH:.0f}B/s", "latency": f"{INNER_LATENCY * 1e6}us"}}


def scenario(cluster, algorithm, p, sizes):
    return {"name": "smpi", "cluster": {"workers": p, "link": {"bandwidth": f"{BANDWIDTH:.0f}B/s", "latency": f"{LATENCY * 1e6}us"},
                                        "topology": topology(cluster), "ring_latency": "slowest", "reduction_cost": "0ns/B", "collective_cost": "0us"},
            "strategy": {"kind": "collective", "size": [f"{size}B" for size in sizes], "collective": {"algorithm": algorithm}},
            "evaluation": {"evaluator": "replay"}}


def platform(cluster, p):
    """SimGrid's description of the same: links one way each, shared out fairly, and a route for each pair."""
    links, routes = {}, []

    def link(name, bandwidth, latency):
        links[name] = f'<link id="{name}" bandwidth="{bandwidth!r}Bps" latency="{latency!r}s"/>'
        return name

    def route(a, b):
        if cluster.startswith("machines"):
            g = gpus_of(cluster)
            ends = [link(f"gpu-{a}-up", INNER_BANDWIDTH, INNER_LATENCY / 2), link(f"gpu-{b}-down", INNER_BANDWIDTH, INNER_LATENCY / 2)]
            nics = [] if a // g == b // g else [link(f"nic-{a // g}-up", BANDWIDTH, LATENCY / 2), link(f"nic-{b // g}-down", BANDWIDTH, LATENCY / 2)]
            return ends[:1] + nics + ends[1:]
        ends = [link(f"host-{a}-up", BANDWIDTH, LATENCY / 2), link(f"host-{b}-down", BANDWIDTH, LATENCY / 2)]
        if cluster == "star" or a // HOSTS_PER_RACK == b // HOSTS_PER_RACK:
            return ends
        uplink = HOSTS_PER_RACK * BANDWIDTH / OVERSUBSCRIPTION
        return ends[:1] + [link(f"rack-{a // HOSTS_PER_RACK}-up", uplink, UPLINK_LATENCY / 2),
                           link(f"rack-{b // HOSTS_PER_RACK}-down", uplink, UPLINK_LATENCY / 2)] + ends[1:]

    for a in range(p):
        for b in range(p):
            if a != b:
                names = "".join(f'<link_ctn id="{name}"/>' for name in route(a, b))
                routes.append(f'<route src="host-{a}" dst="host-{b}" symmetrical="NO">{names}</route>')
    hosts = [f'<host id="host-{i}" speed="1Gf"/>' for i in range(p)]
    return "\n".join(['<?xml version="1.0"?>', '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
                      '<platform version="4.1"><zone id="all" routing="Full">', *hosts, *links.values(), *routes, "</zone></platform>", ""])


def output_of(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"smpi_test.py: exit code {done.returncode} of {' '.join(command)}\n{done.stderr}")
    return done.stdout


def ours(program, cluster, algorithm, p, sizes):
    text = output_of([program, "run", "-", "--json", "-", "--jobs", "1", "--no-plot"], input=json.dumps(scenario(cluster, algorithm, p, sizes)))
    return [point["step_time_s"] for point in json.loads(text)["points"]]


def theirs(program, algorithm, p, size, folder):
    text = output_of(["smpirun", "-quiet", "-no-privatize", "-np", str(p), "-platform", "platform.xml", "-hostfile", "hosts",
                      f"--cfg=smpi/allreduce:{ALGORITHMS[algorithm]}", *SMPI, program, str(size // 4)], cwd=folder)
    return max(float(line) for line in text.split())


def fits(cluster, p):
    """stepcast's machines are all full, or there is one."""
    return p < gpus_of(cluster) or p % gpus_of(cluster) == 0


def of_smpi_ring(smpi_allreduce, p, size, folder):
    """Additional time of SMPI's ring over ours, for fewer floats than ranks."""
    rest = size // 4 % p * 4
    return theirs(smpi_allreduce, "ring", p, rest, folder) if rest else 0


def compare(stepcast, smpi_allreduce, cluster, p, sizes):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("platform.xml", platform(cluster, p)), ("hosts", "".join(f"host-{i}\n" for i in range(p)))):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        for algorithm in ALGORITHMS:
            mine = ours(stepcast, cluster, algorithm, p, sizes)
            for size, time in zip(sizes, mine):
                known = of_smpi_ring(smpi_allreduce, p, size, folder) if algorithm == "ring" else 0
                rows.append((algorithm, cluster, p, size, time, time + known, theirs(smpi_allreduce, algorithm, p, size, folder)))
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("stepcast")
    options.add_argument("smpi_allreduce")
    options.add_argument("--all", action="store_true")
    options.add_argument("--table", action="store_true")
    options = options.parse_args()
    if not shutil.which("smpirun") or not os.access(options.smpi_allreduce, os.X_OK):
        print("skipped: smpirun or the program built with smpicc is missing (Debian: libsimgrid-dev)")
        return 77
    programs = [os.path.abspath(options.stepcast), os.path.abspath(options.smpi_allreduce)]
    workers, sizes = (ALL_WORKERS, ALL_SIZES) if options.all else (FEW_WORKERS, FEW_SIZES)
    with ThreadPoolExecutor(1) as pool:
        jobs = [pool.submit(compare, *programs, cluster, p, sizes) for cluster in CLUSTERS for p in workers if fits(cluster, p)]
        rows = [row for job in jobs for row in job.result()]
    failures = 0
    for algorithm, cluster, p, size, mine, expected, smpi in rows:
        fails = abs(smpi / expected - 1) > SAME
        failures += fails
        if fails or options.table:
            print(f"{'FAILS' if fails else 'ok':5} {algorithm:18} {cluster:13} p={p:<3} {size // KIB:>6} KiB  stepcast {mine:.9f} s  SMPI {smpi:.9f} s  {smpi / mine - 1:+.2%}  {smpi / expected - 1:+.2%}")
    explained = sum(abs(smpi / mine - 1) > SAME for *_, mine, _, smpi in rows) - failures
    worst = max(abs(smpi / expected - 1) for *_, expected, smpi in rows)
    print(f"{len(rows)} cases: {failures} fail, {explained} beyond 1 % are explained; the largest deviation is {worst:.2%}")
    return 1 if failures or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
