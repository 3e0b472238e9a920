#!/usr/bin/env python3
"""Writes the validation suites of scenarios/validation: python3 scenarios/scripts/make_suites.py [FOLDER]

The measurements are in scenarios/validation/measurements, copies of published numbers with their sources. The studies'
assumptions are here. Compute times come from a table measured elsewhere, scaled to the step of the suite's machine with
one GPU, so that row is fitted. Nothing but Python is needed; FOLDER is for the test that compares.
"""

import csv
import json
import math
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
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
        if name in SPREAD: add_spread(fields["study"], SPREAD[name])
        (self.folder / f"{name}.json").write_text(dump({"$schema": "../suite.schema.json", "name": name, **fields}) + "\n")

    def workload(self, name, base, seconds, batch, source, gradients=None, dtype="fp32"):
        """The table `base`, whose times are milliseconds and microseconds, with each time scaled so that they add up to `seconds`."""
        table = json.loads((HERE / "workloads" / f"{base}.json").read_text())
        gaps = [micros(g["gap"]) for g in table["gradients"]]
        parts = {key: micros(table[key]) for key in ("forward", "update")}
        factor = seconds * 1e6 / (sum(gaps) + sum(parts.values()))
        kept = gradients or {}
        scaled = {
            "$schema": "../../workload.schema.json", "name": name, "description": f"{base}'s times, each times {factor:.4g}", "source": source,
            "batch": batch, "sample": table["sample"], "dtype": dtype,
            **{key: f"{parts[key] * factor:.6g}us" for key in parts},
            "gradients": [{"name": g["name"], "elements": kept.get(g["name"], g["elements"]), "gap": f"{gap * factor:.6g}us"} for g, gap in zip(table["gradients"], gaps)],
        }
        (self.folder / "workloads" / f"{name}.json").write_text(dump(scaled) + "\n")


    def workload_of_totals(self, name, network, seconds, batch, source, sample=None, dtype="fp32"):
        """The network's gradients, and a step's seconds as totals: nothing is known of its layers' times."""
        shapes = json.loads((HERE / "workloads" / f"{network}.json").read_text())
        table = {
            "$schema": "../../workload.schema.json", "name": name, "description": f"{network} with the time of a whole step", "source": source,
            "batch": batch, "sample": sample or shapes["sample"], "dtype": dtype, "parameters": shapes["parameters"],
            "forward": f"{seconds * 1e6 / 3:.6g}us", "backward": f"{seconds * 2e6 / 3:.6g}us",
            "gradients": [{"name": f"{layer['name']}.{part}", "elements": elements} for layer in reversed(shapes["layers"]) for part, elements in tensors(layer["shape"])],
        }
        (self.folder / "workloads" / f"{name}.json").write_text(dump(table) + "\n")


def tensors(shape):
    """A layer's parameters, the last of its gradients first."""
    kind = shape["kind"]
    if kind == "conv2d": weight = shape["in"] // shape.get("groups", 1) * shape["out"] * shape["kernel"][0] * shape["kernel"][1]
    elif kind == "linear": weight = shape["in"] * shape["out"]
    elif kind == "batch_norm": return [("bias", shape["channels"])] + ([("weight", shape["channels"])] if shape.get("scale", True) else [])
    elif kind == "layer_norm": return [("bias", shape["width"]), ("weight", shape["width"])]
    elif kind == "embedding": return [("weight", shape["entries"] * shape["width"])] if shape.get("exchanged", True) else []
    elif kind == "lstm":
        assert shape["tensors"] == "joint"
        return [("bias", 4 * shape["hidden"]), ("weight", (shape["input"] + shape["hidden"]) * 4 * shape["hidden"])]
    else: return []
    if shape.get("tied"): return []
    bias = shape.get("bias", kind == "linear")
    return ([("bias", shape["out"])] if bias else []) + [("weight", weight)]


def micros(text):
    for unit, factor in (("us", 1), ("ms", 1e3), ("s", 1e6)):
        if text.endswith(unit): return float(text[: -len(unit)]) * factor
    raise ValueError(text)


# --- HKBU ----------------------------------------------------------------------------------------------------------------

# A stack's spread in a suite: root mean square of ln(forecast/measured) over the rows of all other suites with a stack. A
# stack's own rows are too few to tell how far it is off elsewhere: of 6 to 185 of them, 75 % of the measurements were in
# the bands that they gave. Over all 533 rows it is 0.101, the value of stacks/.
SPREAD = {
    "allreduce-shaped": 0.098, "ddp-2020": 0.102, "grace-codec-lstm": 0.1, "grace-codec-resnet20": 0.093, "grace-codec": 0.102,
    "grace-upper-bound-lstm": 0.105, "grace-upper-bound-resnet20": 0.099, "grace-upper-bound": 0.104, "hkbu-100gib-bert": 0.101,
    "hkbu-100gib": 0.103, "hkbu-10gbe": 0.103, "hkbu-bytescheduler-100gib": 0.101, "hkbu-bytescheduler-10gbe": 0.102,
    "horovod-2017": 0.102, "lambda-v100": 0.099, "llama-fsdp": 0.102, "mpt-a100-40gb": 0.105, "mpt-a100-80gb": 0.104,
    "mpt-h100-80gb": 0.102, "torchtitan": 0.102,
}
# NCCL's copies over TCP, fitted with a whole suite left out: stepcast fit hkbu-10gbe horovod-2017 allreduce-shaped
# --set /evaluation/evaluator=equations --constant /stack/host_cost=0ns/B..1ns/B --leave-out suite --train "variant=...", the
# variants of NCCL's all-reduces over TCP.
NCCL_TCP = {"hkbu": "0.1426ns/B", "horovod": "0.136ns/B", "shaped": "0.1733ns/B"}
GLOO = {"unshaped": "0.7511ns/B", "5 Gb/s, 1 ms": "0.7956ns/B"}  # fitted with the other link's rows


def add_spread(study, spread):
    """Gives each stack of a suite, by name or in place, the suite's spread."""
    for part, key in [(study, "stack"), *((one["set"], "/stack") for one in study.get("variants", []))]:
        if key in part: part[key] = {**({"from": part[key]} if isinstance(part[key], str) else part[key]), "spread": spread}


HKBU_TABLES = {"ResNet-50": ("resnet50-hkbu", "resnet50-v100"), "BERT-Base": ("bert-base-hkbu", "bert-base-v100")}
HKBU_SOURCE = "HKBU-HPML/ddl-benchmarks, results/2020-05-29/README.md (measurements/hkbu.csv): PyTorch 1.4, Horovod 0.19 with NCCL 2.4, BytePS 0.2; 8 machines of 4 GPUs, mean of 5 runs. The GPUs (RTX 2080 Ti on PCIe 3.0) are recalled, not stated there."
HKBU_METHODS = {
    "BSP-A2A": ("all-reduce after backward", [1, 4, 8, 16, 32]),
    "WFBP-A2A": ("all-reduce per tensor, overlapped", [4, 8, 16, 32]),
    "MG-WFBP": ("all-reduce in buckets, overlapped", [4, 8, 16, 32]),
    "BSP-PS": ("servers after backward", [8, 16, 32]),
    "WFBP-PS": ("servers per tensor, overlapped", [8, 16, 32]),
}


def byteps(overlap):
    """BytePS with one server a machine: sums inside machines; tensor by tensor, pushes and pulls in turn."""
    return {"kind": "parameter-server", "shards": 8, "sum_in_machine": True, "duplex": False, "exchange": {"grouping": "per-tensor", "overlap": overlap}}


def hkbu(writer, name, connection, bandwidth, latency, inner_fit, models, stack, description, assumes):
    published = [r for r in rows("hkbu.csv") if r["connection"] == connection and r["model"] in models]
    link = {"bandwidth": bandwidth, "latency": latency}
    ring = {"algorithm": "ring"}
    grouping = {"BSP": {"grouping": "whole-model"}, "WFBP": {"grouping": "per-tensor"}, "MG-WFBP": {"grouping": "bucketed"}}
    variants = []
    for method, (label, workers) in HKBU_METHODS.items():
        exchange = grouping[method.removesuffix("-A2A").removesuffix("-PS")]
        change = {"/cluster/workers": workers}
        if method.endswith("-PS"):
            change["/strategy"] = byteps("WFBP" in method)
            change["/stack"] = "byteps"
            change["/evaluation/evaluator"] = "equations"
        else:
            change["/strategy"] = {"kind": "all-reduce", "collective": ring, "exchange": exchange}
            change["/stack"] = stack
        variants.append({"name": label, "set": change})
    measurements = []
    for r in published:
        if r["method"] not in HKBU_METHODS: continue
        label, workers = HKBU_METHODS[r["method"]]
        if int(r["gpus"]) not in workers: continue
        one = {"at": {"variant": label, "workload": HKBU_TABLES[r["model"]][0], "workers": int(r["gpus"])}, "throughput": float(r["throughput_samples_s"])}
        if float(r["std"]) > 0: one["spread"] = float(f"{float(r['std']) / float(r['throughput_samples_s']):.3g}")
        if r["gpus"] == "1": one["fitted"] = "compute times, scaled to one GPU's step"
        if inner_fit and r["method"] == "BSP-A2A" and r["gpus"] == "4": one["fitted"] = "bandwidth inside a machine"
        measurements.append(one)
    writer.suite(
        name, description=description, source=HKBU_SOURCE, assumes=assumes,
        study={
            "variants": variants, "workload": [HKBU_TABLES[model][0] for model in models],
            "cluster": {"workers": 1, "link": link, "topology": {"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": hkbu_inner(), "latency": "5us"}}},
        },
        alternatives="variant", measurements=measurements)


def hkbu_inner():
    """Least squares of ln(forecast/measured) over both networks in one machine of the 10 GbE runs, after backward. A ring sends
    2(p-1)/p n = 1.5 n there, after 6 latencies of 5 us. ResNet-50 alone gives 6.4 GB/s: its exchange is a tenth of its step."""
    step = {(r["model"], r["gpus"]): float(r["batch_per_gpu"]) * int(r["gpus"]) / float(r["throughput_samples_s"]) for r in rows("hkbu.csv") if r["connection"].startswith("10GbE") and r["method"] == "BSP-A2A"}

    def squares(rate):
        return sum(math.log((step[model, "1"] + 6 * 5e-6 + 1.5 * hkbu_bytes(base) / rate) / step[model, "4"]) ** 2 for model, (_, base) in HKBU_TABLES.items())

    return f"{min(range(2000, 12000), key=lambda megabytes: squares(megabytes * 1e6)) / 1e3:.3g}GB/s"


def hkbu_bytes(base):
    return 4 * sum(g["elements"] for g in json.loads((HERE / "workloads" / f"{base}.json").read_text())["gradients"])


HKBU_COMMON = ("Line rates; assumed latencies; rings, as NCCL's algorithm; PyTorch's 25 MiB for MG-WFBP's merged tensors. BERT-Base's tensors and their proportions are those of "
               "shorter batches. BytePS runs a server for each of 8 machines, of their own (assumed). It sums inside machines, goes tensor by tensor also after backward, and pushes and pulls in turn; these three choices were made with its rows at hand. Its rows are forecast by the equations, which a replay meets within 0.1 %. "
               "The bandwidth inside a machine is fitted to all-reduce after backward in one machine, both networks, on 10 GbE: 4.27 GB/s. ByteScheduler's rows are in suites of their own, hkbu-bytescheduler-10gbe and -100gib. ")


HKBU_BYTESCHEDULER = (
    "ByteScheduler sends the first layers' tensors first, also during the next forward pass, and cuts those for servers into parts (4 MB, recalled). "
    "By all-reduce, workers take about 2 ms to agree on each tensor, one after the other, beside the exchanges: fitted to the other link's rows. "
    "Line rates; assumed latencies; rings. "
    "The bandwidth inside a machine is that fitted for hkbu-10gbe to another method. No row here sets it. "
    "BERT-Base's tensors and their proportions are those of shorter batches. Servers are BytePS's, as in hkbu-10gbe. "
    "Over servers in one machine, rates are equal on both networks within 0.3 %, so no server takes part (inferred): the forecast there is a ring inside the machine. ")


def hkbu_bytescheduler(writer, name, connection, network, bandwidth, latency, negotiation, off):
    parts = {"partition": "4MB", "priority": True}
    all_reduce = {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": "per-tensor", "priority": True}}
    stack = {"name": "bytescheduler, as the other link has it", "negotiation_cost": negotiation}
    in_parts = byteps(True)
    in_parts["exchange"].update(parts)
    servers = {"/strategy": in_parts, "/stack": "byteps", "/evaluation/evaluator": "equations"}
    variants = [{"name": "all-reduce", "set": {"/cluster/workers": [1, 4, 8, 16, 32], "/strategy": all_reduce, "/stack": stack}},
                {"name": "over servers, one machine", "set": {"/cluster/workers": [4], "/strategy": {**all_reduce, "exchange": {"grouping": "per-tensor", **parts}}}},
                {"name": "over servers", "set": {"/cluster/workers": [8, 16, 32], **servers}}]
    measurements = []
    for r in (r for r in rows("hkbu.csv") if r["connection"] == connection and r["method"].startswith("ByteScheduler")):
        gpus, over_servers = int(r["gpus"]), r["method"].endswith("-PS")
        if over_servers and gpus == 1: continue  # the same run as ByteScheduler-A2A's
        variant = ("over servers, one machine" if gpus == 4 else "over servers") if over_servers else "all-reduce"
        one = {"at": {"variant": variant, "workload": HKBU_TABLES[r["model"]][0], "workers": gpus}, "throughput": float(r["throughput_samples_s"])}
        if float(r["std"]) > 0: one["spread"] = float(f"{float(r['std']) / float(r['throughput_samples_s']):.3g}")
        if gpus == 1: one["fitted"] = "compute times, scaled to one GPU's step"
        measurements.append(one)
    writer.suite(
        name, description=f"ResNet-50 and BERT-Base on 1 to 32 GPUs, four a machine, {network}, with ByteScheduler: all-reduce or servers?", source=HKBU_SOURCE,
        assumes=HKBU_BYTESCHEDULER + off,
        study={
            "variants": variants, "workload": [table for table, _ in HKBU_TABLES.values()],
            "cluster": {"workers": 1, "link": {"bandwidth": bandwidth, "latency": latency}, "topology": {"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": hkbu_inner(), "latency": "5us"}}},
        },
        alternatives="variant", measurements=measurements)


def make_hkbu(writer):
    single = {r["model"]: float(r["throughput_samples_s"]) for r in rows("hkbu.csv") if r["gpus"] == "1"}
    for model, (name, base) in HKBU_TABLES.items():
        writer.workload(name, base, 64 / single[model], 64, f"Proportions: workloads/{base}.json (a V100; see there). Scale: fitted to {single[model]} samples/s at batch 64 on one GPU, HKBU-HPML/ddl-benchmarks results/2020-05-29.")
    hkbu(writer, "hkbu-10gbe", "10GbE with TCP/IP", "10Gbps", "25us", True, list(HKBU_TABLES), {"name": "horovod-nccl-tcp, as the other suites have it", "host_cost": NCCL_TCP["hkbu"]},
         "ResNet-50 and BERT-Base on 1 to 32 GPUs, four a machine, 10 Gb/s Ethernet: all-reduce or servers, after or during backward?",
         f"{HKBU_COMMON}Hosts' copies for NCCL are fitted to horovod-2017 and allreduce-shaped alone (0.143 ns/B), so no row here sets them. Off for BERT-Base: "
         "during backward its all-reduce is 12 to 17 % too fast in one machine, and in buckets 15 % on 32 GPUs; its servers are 9 to 14 % too slow there. The cause is not known.")
    for model, suffix, operation in (("ResNet-50", "", "680us"), ("BERT-Base", "-bert", "517us")):
        other = next(name for name in HKBU_TABLES if name != model)
        hkbu(writer, f"hkbu-100gib{suffix}", "100GbIB with RDMA", "100Gbps", "5us", False, [model], {"name": f"horovod-nccl, as {other} has it", "operation_cost": operation},
             f"{model} on 1 to 32 GPUs, four a machine, 100 Gb/s InfiniBand: all-reduce or servers, after or during backward?",
             f"{HKBU_COMMON}The time for an operation of Horovod to begin is fitted to {other}'s rows ({operation}), so no row here sets it."
             + (" Off during backward on any number of machines: 4 to 10 % too fast tensor by tensor, 12 to 16 % in buckets, 16 to 18 % over servers. The cause is not known." if suffix else ""))
    hkbu_bytescheduler(writer, "hkbu-bytescheduler-10gbe", "10GbE with TCP/IP", "10 Gb/s Ethernet", "10Gbps", "25us", "2.263ms", "Off for BERT-Base by all-reduce over the network, 8 to 17 % too fast, and in one machine over servers, 15 %. The cause is not known.")
    hkbu_bytescheduler(writer, "hkbu-bytescheduler-100gib", "100GbIB with RDMA", "100 Gb/s InfiniBand", "100Gbps", "5us", "2.15ms", "Off for ResNet-50 by all-reduce, 10 to 18 % too fast. Off for BERT-Base over servers, 15 to 18 % too fast, as in hkbu-100gib-bert without ByteScheduler. The causes are not known.")


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
    def variant(name, bandwidth, latency, workers, operation, size, algorithm, stack="ideal"):
        return {"name": name, "set": {"/stack": stack, "/cluster/link": {"bandwidth": bandwidth, "latency": latency}, "/cluster/workers": workers,
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
            stack = {"nccl": {"name": "ddp-nccl-tcp, as the other suites have it", "host_cost": NCCL_TCP["shaped"]}, "gloo": {"name": "gloo, as the other link has it", "host_cost": GLOO[link]}}[backend]
            variants.append(variant(name, bandwidth, delay, [4, 8], "all-reduce", "256MiB", "ring", stack))
            for r in rows("allreduce_shaped.csv"):
                if (r["backend"], r["link"]) == (backend, key): measurements.append({"at": {"variant": name, "workers": int(r["nodes"])}, "step_time": f"{r['time_ms']}ms"})
    writer.suite(
        "allreduce-shaped",
        description="Point-to-point transfers and 256 MiB all-reduces over AWS nodes whose links tc shapes",
        assumes="rings; the unshaped link's bandwidth from one point-to-point transfer, every other link at the rate and delay it was set to. Hosts' copies for NCCL are fitted to hkbu-10gbe and horovod-2017 (0.173 ns/B). Gloo's are fitted to the other link. Point to point has no stack. TCP, which long delays slow beyond their sum, is not in the forecast; NCCL hides its copies behind a link of 5 Gb/s, where the forecast adds them.",
        source="BinhangYuan/tc_cluster_setting, results/allreduce.md (measurements/allreduce_shaped.csv): p3.2xlarge stated for the point-to-point test; MB taken as 2^20 bytes.",
        study={"variants": variants, "cluster": {"workers": 2, "link": {"bandwidth": "10Gbps"}}},
        alternatives="variant", measurements=measurements)


# --- GRACE ---------------------------------------------------------------------------------------------------------------

GRACE_RELEASE = "GRACE (Xu et al., ICDCS 2021), sands-lab/grace-data, GRACE_data_release.pickle, commit 41915bbd"
GRACE_SOURCE = f"{GRACE_RELEASE} (measurements/grace_resnet50.csv): one V100 a node, 10 Gb/s, Horovod over Open MPI on TCP, or NCCL. ResNet-50 of 1001 classes; batch 256 is inferred."
# host_cost: bisection with stepcast run: no compressor, 8 workers, Open MPI take as long as measured. The time of gathers is
# fitted with a whole network left out, each ResNet by the other's rows. They have the least median |error|. By least squares,
# `stepcast fit grace-upper-bound --constant /stack/gather_cost=0us..2ms --constant /stack/gather_byte_cost=0ns/B..4ns/B`,
# ResNet-50's are 229 us and 1.11 ns/B. The LSTM ran with other software.
GRACE_HOST_COST = "0.5923ns/B"
GRACE_STACKS = {
    "": {"name": "horovod-mpi-tcp, as ResNet-20 has it", "host_cost": GRACE_HOST_COST, "gather_cost": "114us", "gather_byte_cost": "1.556ns/B"},
    "-resnet20": {"name": "horovod-mpi-tcp, as ResNet-50 has it", "host_cost": GRACE_HOST_COST, "gather_cost": "104.9us", "gather_byte_cost": "2.002ns/B"},
    "-lstm": {"name": "Open MPI's copies", "host_cost": GRACE_HOST_COST},
}
GRACE_METHODS = {  # GRACE's name: (kind in stepcast, its other fields); what these send does not depend on the data
    "randomk_mem_ratio=0.01": ("random-k", {"ratio": 0.01}),
    "topk_mem_ratio=0.01": ("top-k", {"ratio": 0.01}),
    "dgc_mem_ratio=0.01": ("dgc", {"ratio": 0.01}),
    "signsgd": ("signsgd", {}),
    "signum": ("signum", {}),
    "efsignsgd_mem": ("ef-signsgd", {}),
    "onebit_mem": ("1-bit", {}),
    "qsgd_q=64": ("qsgd", {"levels": 64}),
    "terngrad": ("terngrad", {}),
    "8bit_mem": ("8-bit", {"error_feedback": True}),
    "natural_mem": ("natural", {"error_feedback": True}),
    "sketch_mem_q=64": ("sketchml", {}),
}
NO_CODEC = {"name": "no time at all", "description": "kernels of a compressor that take none, as in GRACE's mode upper-bound",
            "peaks": [{"dtype": "fp32", "rate": "1e12TFLOPS", "evidence": "assumed", "source": "no codec work"}],
            **{key: {"value": value, "evidence": "assumed", "source": "no codec work"} for key, value in
               {"memory_bandwidth": "1e15GB/s", "launch_overhead": "0.001ns", "compute_efficiency": 1, "memory_efficiency": 1, "bend": 4}.items()}}
GRACE_EXCHANGE = {"kind": "all-reduce", "carrier": "sum-or-gather", "collective": {"algorithm": "ring"}, "exchange": {"grouping": "per-tensor", "overlap": False}}
GRACE_ONE_GPU = "compute times, scaled to one GPU's step"


def grace_runs(name):
    """Throughputs by (mode, backend, method, workers)."""
    runs = {(r["mode"], r["backend"], r["name"], int(r["workers"])): float(r["throughput"]) for r in rows(f"grace_{name}.csv")}
    for workers in (2, 4, 8):  # ResNet-20 has natural's messages without error feedback alone: they have the same bytes
        if ("upper-bound", "mpi", "natural", workers) in runs: runs.setdefault(("upper-bound", "mpi", "natural_mem", workers), runs["upper-bound", "mpi", "natural", workers])
    return runs


def grace_compressor(name):
    kind, fields = GRACE_METHODS[name]
    return {"kind": kind, **fields, "packing": "grace"}


def grace_upper_bound(writer, suffix, table, runs, open_mpi, more_variants=(), **texts):
    """The suite of runs without codec: `open_mpi` are the measurements without compressor, `more_variants` other libraries."""
    measurements = list(open_mpi)
    for name, (kind, _) in GRACE_METHODS.items():
        for workers in (2, 4, 8):
            measurements.append({"at": {"variant": "Open MPI", "compressor": kind, "workers": workers}, "throughput": round(runs["upper-bound", "mpi", name, workers], 2)})
    writer.suite(
        f"grace-upper-bound{suffix}", **texts,
        study={"workload": table,
               "variants": [{"name": "Open MPI", "set": {"/compressor": [{"kind": "none"}] + [grace_compressor(name) for name in GRACE_METHODS], "/cluster/workers": [1, 2, 4, 8], "/stack": GRACE_STACKS[suffix]}}, *more_variants],
               "cluster": {"workers": [2, 4, 8], "link": {"bandwidth": "10Gbps", "latency": "25us"}}, "strategy": GRACE_EXCHANGE, "codec": {"device": NO_CODEC}},
        alternatives="compressor", measurements=measurements)


def grace_codec(writer, suffix, table, batch, runs, **texts):
    """The suite of runs with codec, whose time is that of 8 workers."""
    update = json.loads((writer.folder / "workloads" / f"{table}.json").read_text()).get("update", "0us")
    variants, measurements = [], []
    for name, (kind, _) in GRACE_METHODS.items():
        codec = 8 * batch * (1 / runs["throughput", "mpi", name, 8] - 1 / runs["upper-bound", "mpi", name, 8])
        if codec <= 0: continue
        variants.append({"name": kind, "set": {"/compressor": grace_compressor(name), "/workload/update": f"{micros(update) / 1e3 + codec * 1e3:.4g}ms"}})
        for workers in (2, 4, 8):
            one = {"at": {"variant": kind, "workers": workers}, "throughput": round(runs["throughput", "mpi", name, workers], 2)}
            if workers == 8: one["fitted"] = "codec time, step of the method less step without codec"
            measurements.append(one)
    writer.suite(
        f"grace-codec{suffix}", **texts,
        study={"workload": table, "variants": variants, "cluster": {"workers": [2, 4, 8], "link": {"bandwidth": "10Gbps", "latency": "25us"}}, "stack": GRACE_STACKS[suffix], "strategy": GRACE_EXCHANGE, "codec": {"device": NO_CODEC}},
        alternatives="variant", measurements=measurements)


def make_grace(writer):
    runs = grace_runs("resnet50")
    alone = runs["throughput", "mpi", "none", 1]
    writer.workload("resnet50-grace", "resnet50-v100", 256 / alone, 256, f"Proportions: workloads/resnet50-v100.json (batch 32 assumed; see there). Scale: fitted to {alone:.4g} images/s on one V100, batch 256 inferred. 1001 classes.",
                    {"fc.bias": 1001, "fc.weight": 2048 * 1001})
    measurements = [{"at": {"variant": "Open MPI", "compressor": "none", "workers": 1}, "throughput": round(alone, 2), "fitted": GRACE_ONE_GPU}]
    for variant, backend in (("Open MPI", "mpi"), ("NCCL", "nccl")):
        for workers in (2, 4, 8):
            one = {"at": {"variant": variant, "compressor": "none", "workers": workers}, "throughput": round(runs["throughput", backend, "none", workers], 2)}
            if (backend, workers) == ("mpi", 8): one["fitted"] = "host_cost of Open MPI"
            measurements.append(one)
    grace_upper_bound(
        writer, "", "resnet50-grace", runs, measurements, [{"name": "NCCL", "set": {"/compressor": [{"kind": "none"}], "/stack": "ideal"}}],
        description="ResNet-50 on 2 to 8 V100s, 10 Gb/s: what do each compressor's messages cost where its codec costs nothing?",
        assumes="GRACE's mode upper-bound is the same messages without codec (inferred); rings; tensor by tensor after backward, as in the scenario survey; what Open MPI's host path costs a byte is fitted to the uncompressed run with 8 workers, NCCL is given none. "
                    "The time of gathers is fitted to ResNet-20 (gather_cost, gather_byte_cost), so no row here sets it. Off downwards with NCCL, which exchanges during backward. "
                    "(With overlap, and host_cost fitted anew to 2.88 ns/B, the median |error| is 30 %.) Left out: methods whose sizes depend on the data (threshold, adaptive, INCEPTIONN), and PowerSGD, whose tensors TensorFlow lays out otherwise.",
        source=GRACE_SOURCE)
    grace_codec(
        writer, "", "resnet50-grace", 256, runs,
        description="ResNet-50 on 2 to 8 V100s, 10 Gb/s, compressed, with the codec's work: what does a run with 8 workers tell of 2 and 4?",
        assumes="as grace-upper-bound; a method's codec takes the time by which its step with 8 workers was longer than without codec, both measured (so the 8-worker rows set it without being met), and stands in the update, after the exchange. "
                    "Decoding as many messages as there are workers makes the codec shorter there, which a fixed time cannot say. EF-SignSGD, QSGD and TernGrad ran no slower with codec than without there and are left out.",
        source=GRACE_SOURCE)


# The two small networks: no constant is fitted to them but one GPU's step (and a codec's time), host_cost is ResNet-50's.
GRACE_SMALL = {
    "resnet20": {
        "table": "resnet20-cifar10", "batch": 256, "sample": None, "title": "ResNet-20 on CIFAR-10", "modes": {"Open MPI": "upper-bound", "Open MPI, mode throughput": "throughput"}, "no_slower": "EF-SignSGD, QSGD and TernGrad",
        "network": "ResNet-20 v2 of 11 classes; its 51 tensors have the 1,077,868 bytes that mode data-volume records without compressor. Batch 256 is not recorded.",
        "rows": "GRACE ran ResNet-20 without compressor in both modes. Both runs are rows here. They differ by 7 % with 2 and 4 workers and by 18 % with 8. Natural ran without error feedback here, which changes no byte. The time of gathers is fitted to ResNet-50 (gather_cost, gather_byte_cost), so no row here sets it.",
    },
    "lstm": {
        "table": "lstm-ptb", "batch": 1, "sample": "batch", "title": "An LSTM on PTB", "modes": {"Open MPI": "throughput"}, "no_slower": "TernGrad",
        "network": "Two LSTM layers of width 650 and a softmax of 10,000 words, from GRACE's code. No row records the LSTM's bytes, so nothing checks them.",
        "rows": "The file's unit, samples/s, is read as batches/s. Each value is a multiple of 0.01 a worker. If a batch were 20 samples, the exchange of 53 MB would take 2.6 s with 8 workers. A ring at 10 Gb/s takes 0.07 s. A batch of 20 sequences counts as one sample here. The embedding's sparse gradient is not exchanged. It ran with PyTorch (recalled), so it has no time of TensorFlow's gathers.",
    },
}
GRACE_SMALL_COMMON = ("As grace-upper-bound: GRACE's mode upper-bound is the same messages without codec (inferred). Rings. Tensor by tensor after backward. Latencies of 25 us are assumed. "
                      "host_cost is 0.5923 ns/B, fitted in grace-upper-bound to ResNet-50; no row here sets it. ")
GRACE_LEFT_OUT = "Left out: methods whose sizes depend on the data (threshold, adaptive, INCEPTIONN), and PowerSGD, whose tensors TensorFlow lays out otherwise. "


def make_grace_small(writer):
    for network, its in GRACE_SMALL.items():
        runs = grace_runs(network)
        alone = runs["throughput", "mpi", "none", 1]
        table = f"{network}-grace"
        writer.workload_of_totals(
            table, its["table"], its["batch"] / alone, its["batch"],
            f"Gradients: workloads/{its['table']}.json. Time: fitted to {alone:.6g} {'batches' if its['sample'] else 'images'}/s on one V100, a third of it forward, backward spread evenly over the tensors (both assumed; without overlap neither matters).", its["sample"])
        source = f"{GRACE_RELEASE} (measurements/grace_{network}.csv): one V100 a node, 10 Gb/s, Horovod over Open MPI on TCP. {its['network']}"
        measurements = [{"at": {"variant": "Open MPI", "compressor": "none", "workers": 1}, "throughput": round(alone, 2), "fitted": GRACE_ONE_GPU}]
        for variant, mode in its["modes"].items():
            measurements += [{"at": {"variant": variant, "compressor": "none", "workers": workers}, "throughput": round(runs[mode, "mpi", "none", workers], 2)} for workers in (2, 4, 8)]
        grace_upper_bound(
            writer, f"-{network}", table, runs, measurements,
            [{"name": variant, "set": {"/compressor": [{"kind": "none"}], "/stack": GRACE_STACKS[f"-{network}"]}} for variant in its["modes"] if variant != "Open MPI"],
            description=f"{its['title']} on 2 to 8 V100s, 10 Gb/s: what do each compressor's messages cost where its codec costs nothing?",
            assumes=GRACE_SMALL_COMMON + its["rows"] + " " + GRACE_LEFT_OUT.strip(), source=source)
        grace_codec(
            writer, f"-{network}", table, its["batch"], runs,
            description=f"{its['title']} on 2 to 8 V100s, 10 Gb/s, compressed, with the codec's work: what does a run with 8 workers tell of 2 and 4?",
            assumes=f"As grace-upper-bound-{network}. A method's codec takes the time by which its step with 8 workers was longer than without codec. Both were measured, so the rows of 8 workers set it. "
                    f"It stands in the update, after the exchange. {its['no_slower']} ran no slower with codec than without there and {'are' if 'and' in its['no_slower'] else 'is'} left out.",
            source=source)


# --- Horovod and PyTorch -------------------------------------------------------------------------------------------------

def make_data_parallel(writer):
    published = rows("data_parallel.csv")
    ddp = [r for r in published if r["stack"].startswith("PyTorch DDP")]
    single = next(float(r["single_gpu_img_s"]) for r in ddp if r["model"] == "resnet101")
    totals = "Gradients: workloads/{}.json. Time: fitted to {} images/s of one GPU, a third of it forward, backward spread evenly over the tensors (both assumed)."
    writer.workload_of_totals("resnet101-ddp", "resnet101", 32 / single, 32, totals.format("resnet101", single))
    tables = {"resnet50": "resnet50-v100", "resnet101": "resnet101-ddp"}
    writer.suite(
        "ddp-2020",
        description="ResNet-50 and ResNet-101 on 1 to 16 V100s in DGX-1s with PyTorch's DistributedDataParallel",
        assumes="nominal rates for everything but the single GPU without DDP (329.9 and 197.5 images/s, which are no rows here); assumed latencies. "
                    "DDP's slowdown of backward is fitted with a whole network left out: each has the backward_slowdown that the other's rows give (1.089 and 1.139). Times are published to 1 ms, 1 % of a step.",
        source=f"{ddp[0]['source']} (measurements/data_parallel.csv): p50 of iteration times, {ddp[0]['stack']}; DGX-1 with V100s, four 100 Gb/s InfiniBand adapters.",
        study={"variants": [{"name": model, "set": {"/workload": tables[model], "/stack/backward_slowdown": slowdown}} for model, slowdown in (("resnet50", 1.139), ("resnet101", 1.089))],
               "stack": {"name": "ddp-nccl-rdma, as the other network has it"}, "cluster": {"workers": [1, 2, 4, 8, 16], "link": {"bandwidth": "100Gbps", "latency": "5us"}, "topology": {"kind": "nodes", "gpus_per_node": 8, "nics": 4, "inner": {"bandwidth": "150GB/s", "latency": "3us"}}},
               "strategy": {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": "bucketed"}}},
        measurements=[{"at": {"variant": r["model"], "workers": int(r["gpus"])}, "throughput": float(r["throughput_img_s"])} for r in ddp])

    horovod = [r for r in published if r["source"].startswith("horovod")]
    names = {"InceptionV3": "inception-v3", "ResNet-101": "resnet101", "VGG-16": "vgg16"}
    for model, network in names.items():
        single = next(float(r["single_gpu_img_s"]) for r in horovod if r["model"] == model)
        writer.workload_of_totals(f"{network}-pascal", network, 64 / single, 64, totals.format(network, single))
    stacks = {"Distributed TensorFlow PS": "servers", "Horovod TCP NCCL": "all-reduce, TCP", "Horovod RDMA NCCL": "all-reduce, RDMA"}
    all_reduce = {"kind": "all-reduce", "collective": {"algorithm": "ring"}, "exchange": {"grouping": "bucketed", "bucket_cap": "64MiB", "first_bucket": "64MiB"}}
    servers = {"kind": "parameter-server", "shards": 4, "placement": "co-located", "balance": "greedy", "exchange": {"grouping": "per-tensor"}}
    grpc = {"name": "tensorflow-servers, as two smaller networks have it", "host_cost": "0.6ns/B", "inner_host_cost": "0.6ns/B"}
    tcp = {"name": "horovod-nccl-tcp, as the other suites have it", "host_cost": NCCL_TCP["horovod"]}
    writer.suite(
        "horovod-2017",
        description="Inception V3, ResNet-101 and VGG-16 on 16 Pascal GPUs, four a machine, 25 Gb/s Ethernet: servers or all-reduce?",
        assumes="Assumed: PCIe 3.0 x16 inside a machine, latencies, Horovod's buffers of 64 MiB, and a server on every machine that holds whole tensors. Inception's auxiliary classifier is exchanged too. The single GPUs' steps are no rows here. "
                    "gRPC's copies are fitted to Inception's and ResNet's servers (0.6 ns/B), so VGG's row tests them. Hosts' copies for NCCL over TCP are fitted to hkbu-10gbe and allreduce-shaped (0.136 ns/B). RDMA has none. The time for an operation to begin is that of hkbu-100gib. "
                    "Horovod over MPI, on the CPU, and variables on the CPU are left out.",
        source=f"{horovod[0]['source']} (measurements/data_parallel.csv): synthetic data, tf_cnn_benchmarks, RoCE-capable 25 GbE; batch 64 a GPU.",
        study={"variants": [{"name": "servers", "set": {"/strategy": servers, "/stack": grpc}}, {"name": "all-reduce, TCP", "set": {"/strategy": all_reduce, "/stack": tcp}}, {"name": "all-reduce, RDMA", "set": {"/strategy": all_reduce, "/stack": {"name": "horovod-nccl, as hkbu-100gib has it", "operation_cost": "627us"}}}],
               "workload": [f"{network}-pascal" for network in names.values()],
               "cluster": {"workers": 16, "link": {"bandwidth": "25Gbps", "latency": "25us"}, "topology": {"kind": "nodes", "gpus_per_node": 4, "inner": {"bandwidth": "15.75GB/s", "latency": "5us"}}},
               "evaluation": {"evaluator": "replay"}},
        alternatives="variant",
        measurements=[{"at": {"variant": stacks[r["stack"]], "workload": f"{names[r['model']]}-pascal"}, "throughput": float(r["throughput_img_s"]),
                       **({"fitted": "host_cost of gRPC"} if r["stack"].startswith("Distributed") and r["model"] != "VGG-16" else {})} for r in horovod if r["stack"] in stacks])


# --- Lambda --------------------------------------------------------------------------------------------------------------

LAMBDA_NETWORKS = {"resnet50": "resnet50", "bert_base_squad": "bert-base", "bert_large_squad": "bert-large"}


def make_lambda(writer):
    published = rows("lambda_v100.csv")
    tables, measurements = {}, []
    for r in (r for r in published if r["gpus"] == "1"):
        network, single, batch = LAMBDA_NETWORKS[r["network"]], float(r["throughput"]), int(float(r["batch"]))
        name = tables[r["network"], r["dtype"]] = f"{network}-lambda-{r['dtype']}"
        dtype = "fp16" if r["dtype"] == "fp16" and network != "resnet50" else "fp32"
        scale = f"fitted to {single:g} samples/s at batch {batch} on one V100, {r['dtype']}; the update is among them"
        if network == "bert-large":
            writer.workload_of_totals(name, network, batch / single, batch, f"Gradients: workloads/{network}.json. Time: {scale}, a third of it forward, backward spread evenly over the tensors (both assumed).", dtype=dtype)
        else:
            writer.workload(name, f"{network}-v100", batch / single, batch, f"Proportions: workloads/{network}-v100.json (fp32; see there). Scale: {scale}.", dtype=dtype)
    for r in published:
        one = {"at": {"workload": tables[r["network"], r["dtype"]], "workers": int(r["gpus"])}, "throughput": float(r["throughput"])}
        if r["gpus"] == "1": one["fitted"] = "compute times, scaled to one GPU's step"
        measurements.append(one)
    writer.suite(
        "lambda-v100",
        description="ResNet-50, BERT-Base and BERT-Large on 1 to 8 V100s of one machine, in fp32 and fp16: how well do they scale over NVLink?",
        assumes="Nothing is fitted to these rows but each network's step on one GPU. DDP's slowdown of backward is that of the stack ddp-nccl-rdma, fitted to ddp-2020. The machine is that of clusters/dgx-1-v100.json: NVLink is not stated, nor is whether 2 and 4 GPUs are part of a machine of 8. "
                "Gradients are exchanged in PyTorch's buckets of 25 MiB, during backward. In the fp16 runs BERT's gradients have 2 bytes and ResNet-50's 4 (NVIDIA's code, from memory). "
                "The file's batch is read as that of all GPUs together, since it doubles with them. BERT-Large's tensors are those of pre-training without its heads; the head for questions has 2,050 parameters more. "
                "Rates are published in whole samples/s, so 12 of BERT-Large is known to 4 %. Off for BERT-Large, which is too fast with 2 GPUs already. In fp16 its step took 87 ms longer there. The whole exchange of 670 MB takes 5.6 ms at 120 GB/s. The cause is not known.",
        source="lambdal/deeplearning-benchmark, pytorch-train-throughput, commit aa5addb6 (measurements/lambda_v100.csv): NVIDIA DeepLearningExamples in PyTorch on Lambda's cloud, V100s of 16 GB.",
        study={"workload": list(tables.values()), "cluster": {"from": "dgx-1-v100", "workers": [1, 2, 4, 8]}, "stack": "ddp-nccl-rdma", "strategy": {"kind": "all-reduce", "exchange": {"grouping": "bucketed"}}},
        measurements=measurements)


# --- FSDP ----------------------------------------------------------------------------------------------------------------

# Fitted with stepcast run to the throughput of three rows each of mpt.csv, by turns until all are met. The constants
# are the shares of the datasheet's peaks that large products, fused attention and moving data reach. Nothing is fitted
# to A100s of 40 GB. The profiles a100 and h100 serve other suites: their kernels are measured ones, later than these.
MPT_FITS = {
    "a100": {"compute_efficiency": ("3b", 1024), "attention_efficiency": ("125m", 65536), "memory_efficiency": ("125m", 512)},
    "h100": {"compute_efficiency": ("3b", 1024), "attention_efficiency": ("760m", 32768), "memory_efficiency": ("760m", 512)},
}
MPT_SHARES = {
    "a100": {"compute_efficiency": 0.758, "attention_efficiency": 0.316, "memory_efficiency": 0.332},
    "h100": {"compute_efficiency": 0.6, "attention_efficiency": 0.171, "memory_efficiency": 0.41},
}
MPT_SIZES = {  # layers, width, heads: scripts/train/yamls/pretrain of llm-foundry; the published parameters check them
    "125m": (12, 768, 12), "350m": (24, 1024, 16), "760m": (24, 1536, 12), "1b": (24, 2048, 16), "3b": (32, 2560, 20),
    "7b": (32, 4096, 32), "13b": (40, 5120, 40), "30b": (48, 7168, 56), "70b": (80, 8192, 64),
}
MPT_SOURCE = "mosaicml/llm-foundry scripts/train/benchmarking/README.md @061f2c7c (measurements/mpt.csv), all rows"
FSDP = {"kind": "sharded", "stage": "parameters", "exchange": {"grouping": "per-block"}}
NVLINK = {"a100": "300GB/s", "h100": "450GB/s"}  # one way: half of the datasheets' 600 and 900 GB/s


def assumed(value, source):
    return {"value": value, "evidence": "assumed", "source": source}


def datasheet(value, source):
    return {"value": value, "evidence": "datasheet", "source": source}


def fsdp_profile(device, memory):
    """The datasheet of "a100" or "h100" with the shares of its peaks that MPT reached there, on a card of so many GiB."""
    profile = {"from": f"{device}-datasheet", "name": f"{device}-{memory}gb",
               **{key: assumed(MPT_SHARES[device][key], f"fitted to MPT {model} on {sequence} tokens, 8 GPUs") for key, (model, sequence) in MPT_FITS[device].items()}}
    profile["memory"] = datasheet(f"{memory}GiB", f"NVIDIA {device.upper()}, {memory} GB")
    if (device, memory) == ("a100", 80): profile["memory_bandwidth"] = datasheet("2039GB/s", "NVIDIA A100 datasheet (80 GB, SXM)")
    return profile


def in_transformer(**sizes):
    return {f"/workload/transformer/{name}": value for name, value in sizes.items()}


def machines_of_eight(device, gbps):
    return {"link": {"bandwidth": f"{gbps // 8}Gbps", "latency": "5us"},
            "topology": {"kind": "nodes", "gpus_per_node": 8, "nics": 8, "inner": {"bandwidth": NVLINK[device], "latency": "2us"}}}


MPT_ASSUMES = ("LayerNorm, GELU, sums and additions of biases as kernels of their own, FlashAttention, which leaves out masked scores; a loss that keeps no scores (llm-foundry's keeps them in bf16); gradients reduced after every pass, in fp32 where llm-foundry's mode is DEFAULT; "
               "every block computed again where activations are checkpointed. ")
MPT_OFF = ("Off upwards for 13b by 2 sequences, 70b by 2 and 30b by one of 8192 tokens, why is not known: some of these exchange much for the tokens of a pass, and some leave little memory, but so do others that are met. ")


def make_mpt(writer):
    table = {"$schema": "../../workload.schema.json", "name": "mpt", "description": "MPT, a GPT with learnt positions", "source": "mosaicml/llm-foundry: sizes of 125m; suites set those of others",
             "batch": 1, "sample": "sequence", "dtype": "bf16", "compute_dtype": "bf16", "optimizer": "adam",
             "transformer": {"layers": 12, "hidden": 768, "heads": 12, "vocabulary": 50368, "sequence": 2048, "fused_loss": True}}
    (writer.folder / "workloads" / "mpt.json").write_text(dump(table) + "\n")
    suites = {"a100-80gb": ("a100", 80, 1600, "1600 Gb/s between nodes (RoCE), one 200 Gb/s NIC a GPU", MPT_OFF + "760m on 512 and 1024 tokens was slower there than on 2048, for no reason that is known."),
              "a100-40gb": ("a100", 40, 1600, "1600 Gb/s between nodes (RoCE), one 200 Gb/s NIC a GPU; the shares of peaks are those fitted for mpt-a100-80gb, nothing to these rows", MPT_OFF + "1b on 32 GPUs was slower there than on 64 and 128."),
              "h100-80gb": ("h100", 80, 3200, "a network of 3200 Gb/s, which is not published", MPT_OFF)}
    for device, (card, memory, gbps, network, off) in suites.items():
        variants, measurements = [], []
        for r in (r for r in rows("mpt.csv") if r["device"] == device):
            layers, hidden, heads = MPT_SIZES[r["model"]]
            name = f"{r['model']}, {r['sequence']} tokens, {r['gpus']} GPUs, batch {r['micro_batch']}"
            variants.append({"name": name, "set": {
                **in_transformer(layers=layers, hidden=hidden, heads=heads, sequence=int(r["sequence"])), "/workload/parameters": int(r["parameters"]),
                "/workload/batch": int(r["micro_batch"]), "/workload/accumulation": int(r["accumulation"]), "/workload/recomputation": "blocks" if r["recomputes"] == "yes" else "none",
                "/cluster/workers": int(r["gpus"]), "/strategy/reduce_dtype": "fp32" if r["sharding_precision"] == "DEFAULT" else None}})
            one = {"at": {"variant": name}, "throughput": round(int(r["tokens_per_s"]) / int(r["sequence"]), 3)}
            fitted = [key for key, (model, sequence) in MPT_FITS[card].items() if memory == 80 and (model, str(sequence), "8") == (r["model"], r["sequence"], r["gpus"])]
            if fitted: one["fitted"] = f"{fitted[0]} of the device"
            measurements.append(one)
        writer.suite(
            f"mpt-{device}",
            description=f"GPTs of 125 million to 70 billion parameters on 8 to {max(int(r['gpus']) for r in rows('mpt.csv') if r['device'] == device)} {card.upper()}s of {memory} GB by FSDP, on sequences of 512 to 65,536 tokens",
            assumes=f"{network}; {MPT_ASSUMES}{off}",
            source=f"{MPT_SOURCE} of the {card.upper()} of {memory} GB in bf16.",
            study={"workload": {"from": "mpt", "profile": fsdp_profile(card, memory)}, "cluster": {"workers": 8, **machines_of_eight(card, gbps)}, "strategy": {**FSDP, "reduce_after": "every-pass"}, "stack": "fsdp", "variants": variants},
            measurements=measurements)


LLAMA_SIZES = {  # parameters; layers, width, heads, heads of keys and values, width inside the feed-forward network (Touvron et al. 2023; Rozière et al. 2023 for 34B)
    "7B": (6738415616, 32, 4096, 32, 32, 11008), "13B": (13015864320, 40, 5120, 40, 40, 13824),
    "34B": (33743970304, 48, 8192, 64, 8, 22016), "70B": (68976648192, 80, 8192, 64, 8, 28672),
}


def make_llama(writer):
    network = {"a100": 400, "h100": 800}
    shares = {"no": {"/workload/recomputation": "none"}, "selective": {"/workload/recomputation": "blocks", "/workload/recomputed_share": 0.5}, "yes": {"/workload/recomputation": "blocks"}}
    variants, measurements = [], []
    for r in rows("llama_fsdp.csv"):
        card = r["device"].split("-")[0]
        parameters, layers, hidden, heads, kv_heads, ffn = LLAMA_SIZES[r["model"]]
        name = f"{r['model']}, {r['gpus']} {card.upper()}s"
        variants.append({"name": name, "set": {
            **in_transformer(layers=layers, hidden=hidden, heads=heads, kv_heads=kv_heads, ffn=ffn, composed=True), "/workload/parameters": parameters,
            "/workload/profile": card, "/workload/batch": int(r["batch"]), **shares[r["recomputed"]],
            "/cluster": {"workers": int(r["gpus"]), **machines_of_eight(card, network[card])}}})
        measurements.append({"at": {"variant": name}, "throughput": round(int(r["tokens_per_s_gpu"]) * int(r["gpus"]) / 4096, 3)})
    writer.suite(
        "llama-fsdp",
        description="Llama 2 of 7 to 70 billion parameters on 128 A100s and 96 H100s by FSDP, on sequences of 4096 tokens",
        assumes="no constant is fitted to these rows: the profiles a100 and h100 have products and attention that others measured, and the share of their rates that MPT kept (mpt-a100-80gb, mpt-a100-40gb, mpt-h100-80gb). But that norms and rotary positions are simple operations there was looked up after a first comparison with these rows, in which 7B was 18 and 29 % too fast; "
                "400 and 800 Gb/s between nodes as eight NICs; every second block of 13B computed again (inferred, see measurements/llama_fsdp.csv), all blocks of 34B and 70B; they are counted as Hugging Face's, where the Foundation Model Stack's rotary positions move more bytes. Sharded over all GPUs, as the source says, though a later table of its authors has 7B and 13B sharded inside machines. "
                "Throughputs are published with two digits.",
        source="PyTorch blog, Maximizing training throughput using PyTorch FSDP, 13 March 2024, table 1 (measurements/llama_fsdp.csv).",
        study={"workload": {"from": "llama-2-7b", "dtype": "bf16", "profile": "a100"},
               "cluster": {"workers": 8, "link": {"bandwidth": "50Gbps", "latency": "5us"}}, "strategy": FSDP, "stack": "fsdp", "variants": variants},
        measurements=measurements)


# --- Ultra-Scale Playbook ------------------------------------------------------------------------------------------------

ULTRASCALE_SOURCE = "The Ultra-Scale Playbook (Hugging Face, nanotron, 2025), vinjn/nanotron-ultrascale-playbook, commit 924e4d0b"


def make_ultrascale_collectives(writer):
    operations = {"AllReduce": "all-reduce", "AllGather": "all-gather", "ReduceScatter": "reduce-scatter"}
    measurements = [{"at": {"variant": operations[r["series"].split()[0]], "workers": 8 * int(r["x"].split()[0])}, "busbw": f"{r['value']}GB/s"} for r in rows("ultrascale_collectives.csv")]
    writer.suite(
        "ultrascale-collectives",
        description="All-reduce, all-gather and reduce-scatter on 8 to 64 H100s, eight a machine: which bus bandwidth do they reach?",
        assumes="Nothing is fitted. The source plots one bandwidth a collective and number of machines. It is presumably nccl-tests' busbw, a mean over message sizes that are not given. "
                "The forecast is for 1 GiB, where sizes matter little, so a mean over small messages as well would be lower. The machines are those of clusters/dgx-h100.json, with a 400 Gb/s NIC for each GPU; the source does not state them. "
                "The forecast knows no sums inside a switch (NVLink SHARP). Off upwards, by 1.5 to 4.9 times for gathers and scatters and by up to 3.4 times for all-reduce. The measured bandwidths fall with the machines as means over small messages, or a slower network, would. Which it was is not known.",
        source=f"{ULTRASCALE_SOURCE}, assets/data/benchmarks/pp_comm_bandwidth.html (measurements/ultrascale_collectives.csv): 1 to 8 nodes of 8 H100s.",
        study={"variants": [{"name": operation, "set": {"/strategy": {"kind": "collective", "operation": operation, "size": "1GiB"}}} for operation in operations.values()],
               "cluster": {"from": "dgx-h100", "workers": [8, 16, 32, 64]}},
        measurements=measurements)


def make_ultrascale_data_parallel(writer):
    table = {"$schema": "../../workload.schema.json", "name": "nanotron-1b", "description": "nanotron's Llama-like network of 1 billion parameters",
             "source": "Inferred from measurements/ultrascale_data_parallel.csv: 16 layers of width 2048, feed-forward 8192, keys and values for every head and 131,072 words have 9.66 GFLOP a token (causal attention counted whole), which gives each published MFU at 989.5 TFLOP/s within 0.3 %. Heads (16) and a tied output are assumed.",
             "batch": 1, "sample": "sequence", "dtype": "bf16", "compute_dtype": "bf16", "optimizer": "adam",
             "transformer": {"layers": 16, "hidden": 2048, "heads": 16, "ffn": 8192, "vocabulary": 131072, "sequence": 4096, "gated": True, "positions": False, "tied": True, "bias": False}}
    (writer.folder / "workloads" / "nanotron-1b.json").write_text(dump(table) + "\n")
    strategies = {"0": {"kind": "all-reduce", "exchange": {"grouping": "bucketed"}}, "1": {"kind": "sharded", "stage": "optimizer-state", "reduce_dtype": "fp32", "exchange": {"grouping": "bucketed"}}}
    variants, measurements = [], []
    for r in rows("ultrascale_data_parallel.csv"):
        gpus = 8 * int(r["nodes"])
        name = f"ZeRO {r['zero']}, {gpus} GPUs, batch {r['mbs']}"
        variants.append({"name": name, "set": {"/workload/dtype": "bf16" if r["zero"] == "1" else "fp32", "/workload/batch": int(r["mbs"]), "/workload/accumulation": int(r["grad_acc"]), "/cluster/workers": gpus, "/strategy": strategies[r["zero"]]}})
        measurements.append({"at": {"variant": name}, "throughput": round(int(r["tok_s_gpu"]) * gpus / 4096, 3)})
    writer.suite(
        "ultrascale-data-parallel",
        description="A Llama-like network of 1 billion parameters on 8 to 64 H100s, 256 sequences of 4096 tokens a step: what do more machines cost, without and with ZeRO-1?",
        assumes="Nothing is fitted to these rows. The profile h100 has products, attention and norms that others measured, and the share of their rates that MPT kept (mpt-h100-80gb). The network's sizes are inferred; see workloads/nanotron-1b.json. "
                "Sequences of 4096 tokens are the book's text, not the file. Gradients are reduced in fp32, in buckets of 25 MiB, during the last backward pass; with ZeRO-1, parameters are gathered in bf16 (assumed). "
                "Norms and rotary positions are one kernel each (assumed). The machines are those of clusters/dgx-h100.json; the source does not state their network. "
                "One row, ZeRO 0 on 64 GPUs with batch 2, has half the rate of its neighbours. The source gives no reason, so it is scored as it stands. Too fast everywhere, by 4 to 5 % on 8 GPUs and by 20 to 23 % on 64: more machines cost more than the forecast says, as in ultrascale-collectives.",
        source=f"{ULTRASCALE_SOURCE}, assets/data/benchmarks/benchmarks_interactive.html (measurements/ultrascale_data_parallel.csv): all rows at hand, without tensor and pipeline parallelism; nanotron, bf16.",
        study={"workload": {"from": "nanotron-1b", "profile": "h100"}, "cluster": {"from": "dgx-h100", "workers": 8}, "variants": variants},
        measurements=measurements)


# --- vTrain --------------------------------------------------------------------------------------------------------------

def make_vtrain(writer):
    table = {"$schema": "../../workload.schema.json", "name": "megatron-gpt", "description": "Megatron's GPT on sequences of 1024 tokens; suites set its sizes",
             "source": "Megatron-LM's GPT: learnt positions, tied output, dropout, unfused attention; 50,257 words padded to 50,304 (from memory; the measurements state sizes, heads and sequence alone)",
             "batch": 1, "sample": "sequence", "dtype": "fp16", "compute_dtype": "fp16", "optimizer": "adam",
             "transformer": {"layers": 12, "hidden": 1024, "heads": 16, "vocabulary": 50304, "sequence": 1024, "dropout": True, "fused_attention": False}}
    (writer.folder / "workloads" / "megatron-gpt.json").write_text(dump(table) + "\n")
    published = sorted(((int(r["GPUs"]), int(r["global batch"]), int(r["micro batch"]), int(r["layers"]), int(r["hidden size"]), float(r["iteration time (ms)"])) for r in rows("vtrain_data_parallel.csv")))
    name = "{} GPUs, {} sequences, {} a pass".format
    runs = list(dict.fromkeys(r[:3] for r in published))
    writer.suite(
        "vtrain-data-parallel",
        description="GPTs of 12 to 24 layers, 1024 or 2048 wide, on 2 to 8 A100s of one machine by Megatron: how long does a step take?",
        assumes="The profile a100 has kernels that others measured, and the share of their rates that MPT kept (mpt-a100-80gb, mpt-a100-40gb). One constant is fitted to the rows of width 1024, which are not scored, and those of width 2048 test it: the host launches a kernel in 79 us. A kernel here is one that stepcast counts; Megatron without a compiler has several in its place, so this is no time of a single launch. The machine is that of clusters/dgx-a100.json. "
                "The source states neither precision, vocabulary, recomputation nor dropout. Assumed are fp16, 50,304 words, dropout, nothing computed again and attention that keeps its scores. "
                "Also assumed: gradients of 2 bytes, exchanged as one message after backward, as Megatron's own data parallelism did (from memory). With 12 layers of width 1024, a pass of one sequence took 43 ms and one of two 49 ms, so the host that launches kernels was the limit. Rows of width 2048 are off by 5 % in the median and 13 % at most.",
        source="VIA-Research/vTrain, data/ground_truth_single.csv, commit f8dda847 (measurements/vtrain_data_parallel.csv): measured iteration times that vTrain (MICRO 2024) was validated against; A100s of 80 GB by the paper.",
        study={"workload": {"from": "megatron-gpt", "profile": {"from": "a100", "name": "a100-eager", "host_launch": {"value": "79us", "evidence": "fitted", "source": "stepcast fit vtrain-data-parallel --constant /workload/profile/host_launch/value=1us..100us --train hidden=1024, before these rows were marked as fitted; 95 %: 77.3 to 80.7 us"}}, "transformer": {"layers": sorted({r[3] for r in published}), "hidden": sorted({r[4] for r in published})}},
               "cluster": {"from": "dgx-a100", "workers": 8}, "strategy": {"kind": "all-reduce", "exchange": {"grouping": "whole-model"}},
               "variants": [{"name": name(*run), "set": {"/cluster/workers": run[0], "/workload/batch": run[2], "/workload/accumulation": run[1] // run[0] // run[2]}} for run in runs]},
        measurements=[{"at": {"variant": name(*r[:3]), "layers": r[3], "hidden": r[4]}, "step_time": f"{r[5]:.5g}ms",
                       **({"fitted": "the host's launch, one constant for all of these rows"} if r[4] == 1024 else {})} for r in published])


# --- torchtitan ----------------------------------------------------------------------------------------------------------

def make_torchtitan(writer):
    variants, measurements = [], []
    for r in rows("torchtitan.csv"):
        name = {"eager": "without compiler", "compile": "compiled"}[r["code"]]
        variants.append({"name": name, "set": {"/workload/transformer/composed": r["code"] == "eager", "/workload/batch": int(r["local_batch"]), "/cluster/workers": int(r["gpus"])}})
        measurements.append({"at": {"variant": name}, "throughput": round(int(r["tokens_s_gpu"]) * int(r["gpus"]) / int(r["seq"]), 4)})
    writer.suite(
        "torchtitan",
        description="Llama 3.1 8B on 8 H100s of one machine by FSDP, on sequences of 8192 tokens, without compiler and compiled",
        assumes="Nothing is fitted to these rows. The profile h100 has products, attention and norms that others measured, and the share of their rates that MPT kept (mpt-h100-80gb). "
                "These H100s have 96 GB of HBM2e and 500 W; their bandwidth and clock are not in the file, so the profile has those of an H100 SXM and is too fast to that extent. "
                "Sequences of 8192 tokens are torchtitan's default. Selective recomputation is taken as that of every second block. Gradients are reduced in fp32 (assumed). "
                "Without compiler, norms and rotary positions are simple operations; compiled, they are one kernel each. The machine is that of clusters/dgx-h100.json. "
                "Left out: two rows in float8, which stepcast has no type for. By the forecast, the run without compiler needs 109 GB, more than the card has. So torchtitan kept less than is assumed here.",
        source="pytorch/torchtitan, benchmarks, commit b5bcd76c (measurements/torchtitan.csv): Llama 3.1 8B, 8 H100s, 16 sequences a step.",
        study={"workload": {"from": "llama-3-8b", "profile": {"from": "h100", "name": "h100-96gb", "memory": datasheet("96GiB", "the card's name in the source; as memory is counted, its 96 GB are GiB")}, "recomputation": "blocks", "recomputed_share": 0.5},
               "cluster": {"from": "dgx-h100", "workers": 8}, "strategy": {**FSDP, "reduce_dtype": "fp32"}, "stack": "fsdp", "variants": variants},
        alternatives="variant", measurements=measurements)


# --- Devices -------------------------------------------------------------------------------------------------------------

# The cards of the source: the profile, and what its PCIe form has in place of the SXM form's.
DEVICES = {
    "NVIDIA_A100_80GB_PCIe": ("a100", {"memory_bandwidth": {"value": "1935GB/s", "evidence": "recalled", "source": "NVIDIA A100 datasheet (80 GB, PCIe); from memory"}}),
    "Tesla_V100-PCIE-32GB": ("v100", {"peaks": [{"dtype": "fp32", "rate": "14TFLOPS", "evidence": "recalled", "source": "NVIDIA Tesla V100 datasheet (PCIe); from memory"}, {"dtype": "fp16", "rate": "112TFLOPS", "evidence": "recalled", "source": "NVIDIA Tesla V100 datasheet (PCIe); from memory"}]}),
}
NETWORKS = {"bert_large": "BERT-Large", "gpt2_large": "GPT-2 Large", "gpt3_xl": "GPT-3 XL", "gpt3_27": "GPT-3 2.7B", "opt_13": "OPT-1.3B"}


def make_devices(writer):
    variants, measurements = [], []

    def add(name, workload, **times):
        variants.append({"name": name, "set": {"/workload": workload}})
        for quantity, (ms, fitted) in times.items():
            measurements.append({"at": {"variant": name}, quantity: f"{ms:.6g}ms", **({"fitted": fitted} if fitted else {})})

    for network, fitted in (("vgg16", "the V100's sustained share"), ("resnet50", None), ("bert-base", None)):
        table = json.loads((HERE / "workloads" / f"{network}-v100.json").read_text())
        add(f"{network}, V100", {"from": network, "profile": "v100", "dtype": "fp32", "batch": table["batch"]},
            backward=(sum(micros(g["gap"]) for g in table["gradients"]) / 1e3, fitted))
    for r in rows("device_networks.csv"):
        profile, form = DEVICES[r["device"]]
        sizes = {key: int(r[key]) for key in ("layers", "hidden", "heads", "vocabulary", "sequence")}
        add(f"{NETWORKS[r['network']]}, {profile.upper()} PCIe, batch {r['batch']}",
            {"name": f"{NETWORKS[r['network']]} by its blocks", "batch": int(r["batch"]), "sample": "sequence", "dtype": "fp32", "optimizer": "adam", "profile": {"from": profile, "name": f"{profile}-pcie", **form},
             "transformer": {**sizes, "dropout": True, "fused_attention": False, **({"causal": False} if r["network"] == "bert_large" else {})}},
            forward=(float(r["forward_ms"]), None), backward=(float(r["backward_ms"]), None))
    writer.suite(
        "devices",
        description="Forward and backward of whole networks on one V100 or A100 in fp32: what are profiles worth that rest on single kernels?",
        assumes="The profiles v100 and a100 have kernels that others measured. The V100's share of their rates in a step is fitted to the backward pass of VGG-16 here, the A100's to MPT. Nothing else is fitted. "
                "Backward passes on the V100 are Espresso's, from the first gradient to the last. Their batches are 32 (ResNet-50's assumed) and, for BERT-Base, 1,024 tokens as stated there, sequences of 128 assumed. "
                "The other rows are sums of operators that NeuSight's authors timed alone, each with its launch of about 20 us. Such operators keep more of their rate than those of a step, and have launches that a step hides. "
                "Scaling and masking of scores are part of the softmax in the forecast, and of operators of their own in the source. The forecast has the loss, which the source leaves out. "
                "BERT-Base's backward pass is forecast in 60 % of its time. The measured gaps would be those of 4 sequences of 384, the length that its scripts train, with GELU of simple operations (docs/how-far-off.md).",
        source="measurements/device_networks.csv (sitar-lab/NeuSight, commit 6945927); workloads/*-v100.json (zhuangwang93/Espresso, commit a0294e3a).",
        study={"workload": "vgg16", "cluster": {"workers": 1, "link": {"bandwidth": "1GB/s"}}, "strategy": {"kind": "all-reduce"}, "variants": variants},
        measurements=measurements)


def make_pytorch(writer, card, day, assumes):
    variants, measurements = [], []
    for r in rows(f"{card}_steps.csv"):
        if r["benchmark"] == "1": continue  # the profiles' layers have cuDNN's own choice
        nhwc = r["layout"] == "nhwc"
        name = f"{r['network']}, batch {r['batch']}, {r['type']}" + (", nhwc" if nhwc else "")
        types = {"dtype": r["type"]} if r["type"] in ("fp32", "tf32") else {"dtype": "fp32", "compute_dtype": r["type"], "autocast": True}
        attention = {"variant": {"bert-base": "fused-attention", "gpt2-small": "hugging-face"}[r["network"]]} if r["network"] in ("bert-base", "gpt2-small") else {}
        profile = {"from": f"{card}-nhwc" if nhwc else card, "sustained": None}
        variants.append({"name": name, "set": {"/workload": {"from": r["network"], "profile": profile, "batch": int(r["batch"]), **types, **attention}}})
        measurements.append({"at": {"variant": name}, "step_time": f"{1e3 * float(r['device_s']):.5g}ms"})
    writer.suite(
        f"{card}-pytorch",
        description=f"Whole steps of five networks on one {card.upper()} by PyTorch: what is a profile worth that rests on single layers?",
        assumes=f"Nothing is fitted to these rows. The profiles {card} and {card}-nhwc rest on single layers, most of which PyTorch ran on the same card on the same day, and on NVIDIA's products in bf16. " + assumes +
                "The share of rates that MPT kept on whole machines (mpt-h100-80gb) is left out: products kept the rates of single layers in these steps. This was known when it was left out. "
                "Rows are the time of a step's kernels, not of the host, which launched them more slowly for ResNet-50 in batches of 32 and for BERT. "
                "Steps in bf16 and fp16 are by autocast. Attention is PyTorch's scaled_dot_product_attention. In tf32 GPT-2's attention drops its scores in kernels of fp32. "
                "GPT-2's output has 50,257 words. Products of such odd sizes take slower kernels, whose slowdown rests on single layers, too. "
                "Sums of biases' gradients are priced as elementwise, and take three times as long. Layers in fp16 with images in nhwc have bf16's constants.",
        source=f"measurements/{card}_steps.csv: by stepcast's developers, {day}.",
        study={"workload": "resnet50", "cluster": {"workers": 1, "link": {"bandwidth": "1GB/s"}}, "strategy": {"kind": "all-reduce"}, "variants": variants},
        measurements=measurements)


def main():
    writer = Writer(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "validation")
    make_hkbu(writer)
    make_shaped(writer)
    make_grace(writer)
    make_grace_small(writer)
    make_data_parallel(writer)
    make_lambda(writer)
    make_mpt(writer)
    make_llama(writer)
    make_ultrascale_collectives(writer)
    make_ultrascale_data_parallel(writer)
    make_vtrain(writer)
    make_torchtitan(writer)
    make_devices(writer)
    make_pytorch(writer, "h200", "2026-11-27", "These products are an H100's. ")
    make_pytorch(writer, "h100", "2026-11-28", "Its attention and norms in bf16 are others' too, and some layers are an H200's, transferred. ")


if __name__ == "__main__":
    main()
