#!/usr/bin/env python3
"""Writes the validation suites of scenarios/validation: python3 scenarios/make_suites.py [FOLDER]

What was measured is read from scenarios/validation/measurements, copies of published numbers with their sources; what each
study assumes is written here. Compute times are those of a table measured elsewhere, scaled to the step that the suite's own
machine took with one GPU, so that row is fitted. Nothing but Python is needed; FOLDER is for the test that compares.
"""

import csv
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
MEASUREMENTS = HERE / "validation" / "measurements"


def rows(name):
    lines = (MEASUREMENTS / name).read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def dump(value, indent=0):
    """JSON with what fits on a line on one."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= 230 and not (isinstance(value, (list, dict)) and indent == 0): return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        inner = [f"{pad}{json.dumps(key)}: {dump(one, indent + 2)}" for key, one in value.items()]
        return "{\n" + ",\n".join(inner) + "\n" + " " * indent + "}"
    if isinstance(value, list): return "[\n" + ",\n".join(pad + dump(one, indent + 2) for one in value) + "\n" + " " * indent + "]"
    return flat


class Writer:
    def __init__(self, folder):
        self.folder = folder
        (folder / "workloads").mkdir(parents=True, exist_ok=True)

    def suite(self, name, **fields):
        (self.folder / f"{name}.json").write_text(dump({"$schema": "../suite.schema.json", "name": name, **fields}) + "\n")

    def workload(self, name, base, seconds, batch, source, gradients=None):
        """The table `base`, whose times are milliseconds and microseconds, with each time scaled so that they add up to `seconds`."""
        table = json.loads((HERE / "workloads" / f"{base}.json").read_text())
        gaps = [micros(g["gap"]) for g in table["gradients"]]
        parts = {key: micros(table[key]) for key in ("forward", "update")}
        factor = seconds * 1e6 / (sum(gaps) + sum(parts.values()))
        kept = gradients or {}
        scaled = {
            "$schema": "../../workload.schema.json", "name": name, "description": f"{base}'s times, each times {factor:.4g}", "source": source,
            "batch": batch, "sample": table["sample"], "dtype": "fp32",
            **{key: f"{parts[key] * factor:.6g}us" for key in parts},
            "gradients": [{"name": g["name"], "elements": kept.get(g["name"], g["elements"]), "gap": f"{gap * factor:.6g}us"} for g, gap in zip(table["gradients"], gaps)],
        }
        (self.folder / "workloads" / f"{name}.json").write_text(dump(scaled) + "\n")


def micros(text):
    for unit, factor in (("us", 1), ("ms", 1e3), ("s", 1e6)):
        if text.endswith(unit): return float(text[: -len(unit)]) * factor
    raise ValueError(text)


# --- HKBU ----------------------------------------------------------------------------------------------------------------

HKBU_TABLES = {"ResNet-50": ("resnet50-hkbu", "resnet50-v100"), "BERT-Base": ("bert-base-hkbu", "bert-base-v100")}
HKBU_SOURCE = "HKBU-HPML/ddl-benchmarks, results/2020-05-29/README.md (measurements/hkbu.csv): PyTorch 1.4, Horovod 0.19 with NCCL 2.4, BytePS 0.2; 8 machines of 4 GPUs, mean of 5 runs. The GPUs (RTX 2080 Ti on PCIe 3.0) are recalled, not stated there."
HKBU_METHODS = {
    "BSP-A2A": ("all-reduce after backward", [1, 4, 8, 16, 32]),
    "WFBP-A2A": ("all-reduce per tensor, overlapped", [4, 8, 16, 32]),
    "MG-WFBP": ("all-reduce in buckets, overlapped", [4, 8, 16, 32]),
    "BSP-PS": ("servers after backward", [8, 16, 32]),
    "WFBP-PS": ("servers per tensor, overlapped", [8, 16, 32]),
}


def hkbu(writer, name, connection, bandwidth, latency, inner_fit, description):
    published = [r for r in rows("hkbu.csv") if r["connection"] == connection]
    link = {"bandwidth": bandwidth, "latency": latency}
    ring = {"algorithm": "ring"}
    grouping = {"BSP": {"grouping": "whole-model"}, "WFBP": {"grouping": "per-tensor"}, "MG-WFBP": {"grouping": "bucketed"}}
    variants = []
    for method, (label, workers) in HKBU_METHODS.items():
        exchange = grouping[method.removesuffix("-A2A").removesuffix("-PS")]
        change = {"/cluster/workers": workers}
        if method.endswith("-PS"):
            change["/cluster/topology"] = {"kind": "star"}
            change["/strategy"] = {"kind": "parameter-server", "shards": 32, "exchange": exchange}
        else:
            change["/strategy"] = {"kind": "all-reduce", "collective": ring, "exchange": exchange}
        variants.append({"name": label, "set": change})
    measurements = []
    for r in published:
        if r["method"] not in HKBU_METHODS: continue
        label, workers = HKBU_METHODS[r["method"]]
        if int(r["gpus"]) not in workers: continue
        one = {"at": {"variant": label, "workload": HKBU_TABLES[r["model"]][0], "workers": int(r["gpus"])}, "throughput": float(r["throughput_samples_s"])}
        if float(r["std"]) > 0: one["spread"] = float(f"{float(r['std']) / float(r['throughput_samples_s']):.3g}")
        if r["gpus"] == "1": one["fitted"] = "compute times, scaled to one GPU's step"
        if inner_fit and r["method"] == "BSP-A2A" and r["model"] == "ResNet-50" and r["gpus"] == "4": one["fitted"] = "bandwidth inside a machine"
        measurements.append(one)
    writer.suite(
        name, description=description, source=HKBU_SOURCE,
        study={
            "variants": variants, "workload": [table for table, _ in HKBU_TABLES.values()],
            "cluster": {"workers": 1, "link": link, "topology": {"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": hkbu_inner(), "latency": "5us"}}},
        },
        alternatives="variant", measurements=measurements)


def hkbu_inner():
    """From ResNet-50 in one machine of the 10 GbE runs: a ring sends 2(p-1)/p n = 1.5 n there, after 6 latencies of 5 us."""
    step = {r["gpus"]: float(r["batch_per_gpu"]) * int(r["gpus"]) / float(r["throughput_samples_s"]) for r in rows("hkbu.csv") if r["connection"].startswith("10GbE") and r["model"] == "ResNet-50" and r["method"] == "BSP-A2A"}
    return f"{1.5 * 25557032 * 4 / (step['4'] - step['1'] - 6 * 5e-6) / 1e9:.4g}GB/s"


HKBU_COMMON = ("The forecast takes line rates; assumed are the latencies, rings as NCCL's algorithm, PyTorch's 25 MiB for MG-WFBP's merged tensors and BERT-Base's "
               "tensors (its sequences are not stated). BytePS adds up inside a machine before it pushes, which stepcast has no word for: the same bytes on the same links are "
               "workers with a NIC each and 32 servers, not 8; its sum inside the machine is left out. ByteScheduler's priorities are not modelled; its rows are left out.")


def make_hkbu(writer):
    single = {r["model"]: float(r["throughput_samples_s"]) for r in rows("hkbu.csv") if r["gpus"] == "1"}
    for model, (name, base) in HKBU_TABLES.items():
        writer.workload(name, base, 64 / single[model], 64, f"Proportions: workloads/{base}.json (a V100; see there). Scale: fitted to {single[model]} samples/s at batch 64 on one GPU, HKBU-HPML/ddl-benchmarks results/2020-05-29.")
    hkbu(writer, "hkbu-10gbe", "10GbE with TCP/IP", "10Gbps", "25us", True,
         "ResNet-50 and BERT-Base on 1 to 32 GPUs, four a machine, 10 Gb/s Ethernet: all-reduce or servers, after or during backward. " + HKBU_COMMON)
    hkbu(writer, "hkbu-100gib", "100GbIB with RDMA", "100Gbps", "5us", False,
         "The same machines on 100 Gb/s InfiniBand; the bandwidth inside a machine is that fitted for hkbu-10gbe. " + HKBU_COMMON)


# --- AllReduce on shaped links -------------------------------------------------------------------------------------------

SHAPED_POINT_TO_POINT = {  # link: (bandwidth, one-way delay, {MB: ms}), the head of allreduce_shaped.csv
    "unshaped": ("9.587Gbps", "0us", {64: 55, 128: 112}),
    "5 Gb/s": ("5Gbps", "0us", {64: 109, 128: 217}),
    "2 Gb/s": ("2Gbps", "0us", {64: 270, 128: 541}),
    "1 Gb/s": ("1Gbps", "0us", {64: 541, 128: 1082}),
    "1 ms": ("9.587Gbps", "1ms", {64: 59, 128: 115}),
    "5 ms": ("9.587Gbps", "5ms", {64: 80, 128: 134}),
    "10 ms": ("9.587Gbps", "10ms", {64: 113, 128: 171}),
}


def make_shaped(writer):
    def variant(name, bandwidth, latency, workers, operation, size, algorithm):
        return {"name": name, "set": {"/cluster/link": {"bandwidth": bandwidth, "latency": latency}, "/cluster/workers": workers,
                                      "/strategy": {"kind": "collective", "operation": operation, "size": size, "collective": {"algorithm": algorithm}}}}

    variants, measurements = [], []
    for link, (bandwidth, delay, times) in SHAPED_POINT_TO_POINT.items():
        name = f"point to point, {link}"
        variants.append(variant(name, bandwidth, delay, 2, "broadcast", [f"{size}MiB" for size in times], "binomial-tree"))
        for size, ms in times.items():
            one = {"at": {"variant": name, "size": f"{size}MiB"}, "step_time": f"{ms}ms"}
            if (link, size) == ("unshaped", 128): one["fitted"] = "bandwidth of the unshaped link"
            measurements.append(one)
    links = {"default": ("unshaped", "9.587Gbps", "0us"), "5Gbps+1ms": ("5 Gb/s, 1 ms", "5Gbps", "1ms")}
    for backend, library in (("nccl", "NCCL"), ("gloo", "Gloo")):
        for key, (link, bandwidth, delay) in links.items():
            name = f"{library} all-reduce, {link}"
            variants.append(variant(name, bandwidth, delay, [4, 8], "all-reduce", "256MiB", "ring"))
            for r in rows("allreduce_shaped.csv"):
                if (r["backend"], r["link"]) == (backend, key): measurements.append({"at": {"variant": name, "workers": int(r["nodes"])}, "step_time": f"{r['time_ms']}ms"})
    writer.suite(
        "allreduce-shaped",
        description="256 MiB all-reduce over AWS nodes whose links tc shapes, rings assumed: one bandwidth from one point-to-point transfer, every other link at the rate and delay it was set to. "
                    "The forecast knows neither TCP, which long delays slow beyond their sum, nor a library's copies: NCCL and Gloo are one ring to it, and Gloo took 1.4 to 1.8 times as long as NCCL.",
        source="BinhangYuan/tc_cluster_setting, results/allreduce.md (measurements/allreduce_shaped.csv): p3.2xlarge stated for the point-to-point test; MB taken as 2^20 bytes.",
        study={"variants": variants, "cluster": {"workers": 2, "link": {"bandwidth": "10Gbps"}}},
        measurements=measurements)


def main():
    writer = Writer(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "validation")
    make_hkbu(writer)
    make_shaped(writer)


if __name__ == "__main__":
    main()
