#!/usr/bin/env python3
"""Fits the links inside machines of A100 and H100 to times of NCCL's collectives that others published.

    make_links.py CALIBRATE KERNELS

CALIBRATE is stepcast-calibrate. KERNELS is a folder with nccl_in_node.csv.gz and vidur_all_reduce.csv.gz, whose heads
name source, commit and licence; they are not in this project. `stepcast-calibrate link` fits all-reduces, all-gathers and reduce-scatters on 2, 4
and 8 GPUs. Some clusters get the inner link, the costs of a collective and the protocols. docs/device-profiles.md gets
the errors, also on Vidur's all-reduces, and those of a fit to all-reduces on 2 and 4 GPUs alone.
"""
import collections
import csv
import gzip
import hashlib
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "device-profiles.md"
MARKS = "<!-- by scenarios/scripts/make_links.py -->\n", "<!-- to here -->\n"
TABLE, VIDUR = "nccl_in_node.csv.gz", "vidur_all_reduce.csv.gz"
# The device and NCCL's version in the table, and the clusters of such machines.
MACHINES = {"A100": ("a100_sxm", "2.27.3", ["dgx-a100", "aws-p4d"]),
            "H100": ("h100_sxm", "2.29.2", ["dgx-h100", "hgx-h100-one-nic", "aws-p5"])}
# nccl-tests' programs and the messages of a worker over p - 1, by the table's name.
COLLECTIVES = {"all_reduce": ("all_reduce_perf", 2), "all_gather": ("all_gather_perf", 1),
               "reduce_scatter": ("reduce_scatter_perf", 1), "alltoall": ("alltoall_perf", 1)}
TRAINING = ["all_reduce", "all_gather", "reduce_scatter"]
PREFIXES = {"": 1, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9}


def rows(table):
    with gzip.open(table, "rt") as lines:
        yield from csv.DictReader(line for line in lines if not line.startswith("#"))


def medians(samples):
    """Milliseconds by collective, number of GPUs and bytes; the median of several rows."""
    found = collections.defaultdict(list)
    for collective, gpus, size, ms in samples:
        found[collective, int(gpus), int(size)].append(float(ms))
    return {key: statistics.median(values) for key, values in found.items()}


def nvidias(table, device, version):
    return medians((row["op_name"], row["num_gpus"], row["bytes"], row["ms"]) for row in rows(table)
                   if (row["sys"], row["ver"], row["nccl_dtype"]) == (device, version, "half"))


def vidurs(table):
    """A DGX A100. Sizes are bytes: as elements of two bytes, 8 GPUs would exceed NVLink's 300 GB/s."""
    return medians((row["collective"], row["num_workers"], row["size"], row["time_stats.all_reduce.median"])
                   for row in rows(table)
                   if row["node"] == "a100_dgx" and row["num_workers"] == row["devices_per_node"])


def as_nccl_tests(times, collective, gpus):
    """The text of nccl-tests; its rates are not read."""
    lines = [f"# Collective test starting: {COLLECTIVES[collective][0]}"]
    lines += [f"#  Rank {rank} Group 0 Pid 1 on machine device {rank} [0] GPU" for rank in range(gpus)]
    lines.append("# size count type redop root time algbw busbw #wrong time algbw busbw #wrong")
    for (name, ranks, size), ms in sorted(times.items()):
        if (name, ranks) == (collective, gpus):
            lines.append(f"{size} {size // 2} half sum -1 {ms * 1e3:.6g} 0 0 0 {ms * 1e3:.6g} 0 0 0")
    return "\n".join([*lines, "# Avg bus bandwidth : 0"]) + "\n"


def fit(calibrate, times, collectives, numbers):
    """The cluster that is fitted to these collectives on these numbers of GPUs."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for collective in collectives:
            for gpus in numbers:
                path = pathlib.Path(folder) / f"{collective}_{gpus}.txt"
                path.write_text(as_nccl_tests(times, collective, gpus))
                files += ["--from", str(path)]
        output = pathlib.Path(folder) / "cluster.json"
        subprocess.run([calibrate, "link", *files, "-o", str(output)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(output.read_text())


def si(text):
    number, prefix = re.fullmatch(r"([-+.\de]+?)([pnumkMG]?)(?:s|s/B|B/s)", text).groups()
    return float(number) * PREFIXES[prefix]


def forecast(cluster, collective, gpus, size):
    """Milliseconds of a ring, or of pairwise exchanges (docs/model.md)."""
    rounds = COLLECTIVES[collective][1] * (gpus - 1)
    alpha, rate = si(cluster["link"]["latency"]), si(cluster["link"]["bandwidth"])
    fastest = min(si(p["setup"]) + rounds * (alpha * p["latency_factor"] + size / gpus / (rate * p["bandwidth_factor"]))
                  for p in cluster["protocols"])
    return 1e3 * (si(cluster["collective_cost"]) + size * si(cluster["collective_byte_cost"]) + fastest)


def errors(cluster, times, collective, gpus):
    """Median and 90th percentile of |error| over all sizes, in percent."""
    all_ = sorted(abs(forecast(cluster, collective, gpus, size) / ms - 1)
                  for (name, ranks, size), ms in times.items() if (name, ranks) == (collective, gpus))
    return f"{100 * statistics.median(all_):.1f} / {100 * statistics.quantiles(all_, n=10, method='inclusive')[-1]:.1f}"


def write_cluster(name, fitted, source):
    path = ROOT / "scenarios" / "clusters" / f"{name}.json"
    cluster = json.loads(path.read_text())
    cluster["topology"]["inner"] = {key: fitted["link"][key] for key in ("bandwidth", "latency")}
    cluster["collective_cost"] = fitted["collective_cost"]
    cluster["collective_byte_cost"] = fitted["collective_byte_cost"]
    cluster["protocols"] = fitted["protocols"]
    before = cluster["description"].split(" Fitted inside machines:")[0]
    cluster["description"] = f"{before} Fitted inside machines: {source}"
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in cluster.items())
    path.write_text("{\n" + lines + "\n}\n")


def main(calibrate, kernels):
    table = pathlib.Path(kernels) / TABLE
    digest = hashlib.sha256(table.read_bytes()).hexdigest()[:16]
    lines = ["| machine | collective | 2 GPUs | 4 GPUs | 8 GPUs | 8 GPUs, by all-reduces on 2 and 4 |",
             "|---|---|---:|---:|---:|---:|"]
    for machine, (device, version, clusters) in MACHINES.items():
        times = nvidias(table, device, version)
        fitted = fit(calibrate, times, TRAINING, [2, 4, 8])
        held_out = fit(calibrate, times, ["all_reduce"], [2, 4])
        of = f"{machine}, NCCL {version}"
        shown = [(of, times, collective) for collective in COLLECTIVES]
        if machine == "A100":
            shown.append(("A100, Vidur", vidurs(pathlib.Path(kernels) / VIDUR), "all_reduce"))
        for of, rows_, collective in shown:
            cells = [errors(fitted, rows_, collective, gpus) for gpus in (2, 4, 8)]
            lines.append(f"| {of} | {collective} | {' | '.join(cells)} | {errors(held_out, rows_, collective, 8)} |")
        source = (f"inner link, collective costs and protocols, to NCCL {version}'s all-reduces, all-gathers and "
                  "reduce-scatters on 2, 4 and 8 GPUs that NVIDIA measured (aiconfigurator at 095f58a, Apache-2.0, "
                  f"SHA-256 {digest}; scenarios/scripts/make_links.py). All links share the protocols' factors.")
        for cluster in clusters:
            write_cluster(cluster, fitted, source)
    before, _, rest = PAGE.read_text().partition(MARKS[0])
    PAGE.write_text(before + MARKS[0] + "\n" + "\n".join(lines) + "\n\n" + MARKS[1] + rest.partition(MARKS[1])[2])


if __name__ == "__main__":
    main(*sys.argv[1:])
