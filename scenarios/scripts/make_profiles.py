#!/usr/bin/env python3
"""Makes the measured device profiles from kernel times that others published, and from our own (calibrate/measured/).

    make_profiles.py CALIBRATE KERNELS [PROFILE...]
    make_profiles.py --tables

CALIBRATE is stepcast-calibrate. KERNELS is a folder with the published tables, one CSV each, whose heads name source,
commit and licence; they are not in this project. Each table becomes rows for `stepcast-calibrate import`, which fits
the profile in scenarios/profiles/. The source of each model names the table's SHA-256. --tables alone writes the tables
of docs/device-profiles.md from the profiles, as every run does.
"""
import csv
import gzip
import hashlib
import json
import lzma
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILES = ROOT / "scenarios" / "profiles"

AICONFIGURATOR = "NVIDIA, aiconfigurator at 095f58a (Apache-2.0)"
DEEPBENCH = "Baidu, DeepBench at da81ba7 (Apache-2.0), cuBLAS and cuDNN called directly"
NEUSIGHT = ("Lee et al., ASPLOS 2025, NeuSight at 6945927 (MIT), PyTorch 2.1, the assumed launch "
            "in place of its synchronised calls'")
VIDUR = "Microsoft, Vidur at 7d47513 (MIT), kernels of vLLM in fp16"
CUDNN = "NVIDIA, cudnn-frontend at 3929da2 (MIT)"
OWN = {card: ROOT / "calibrate" / "measured" / f"{card}-{day}" for card, day in (("h100", "2026-11-28"), ("h200", "2026-11-27"))}
OURS = {card: f"measured by stepcast's developers {folder.name[5:]}, calibrate/torch_kernels.py, PyTorch 2.11 with cuDNN 9.19"
        for card, folder in OWN.items()}
H100 = "NVIDIA H100 80GB HBM3"
ODD_SIZES = (f"{AICONFIGURATOR}, and odd sizes {OURS['h100']}, {H100}, SHA-256 "
             f"{hashlib.sha256((OWN['h100'] / 'kernels.csv.xz').read_bytes()).hexdigest()[:12]}; the others'")


def rows(folder, name):
    path = folder / name
    with (gzip.open(path, "rt") if name.endswith(".gz") else open(path)) as lines:
        yield from csv.DictReader(line for line in lines if not line.startswith("#"))


def product(device, dtype, m, n, k, ms, name="forward"):
    """An m x k by k x n product as that pass of a linear layer. Names keep layouts apart."""
    rows_, out, inputs = {"forward": (m, n, k), "data_gradient": (m, k, n), "weight_gradient": (k, m, n)}[name]
    return device, dtype, "linear", name, 1, f"in={inputs} out={out} rows={rows_} bias=false", ms


def aiconfigurator_products(folder, device):
    for row in rows(folder, "gemm_bf16.csv.gz"):
        if row["sys"] == device:
            yield product(device, "bf16", row["m"], row["n"], row["k"], row["ms"])


def aiconfigurator_attention(folder, device):
    """Rows with four query heads or more for each head of keys. A call there also copies keys and values to a cache,
    which training lacks; with more of them it takes up to twice as long."""
    for row in rows(folder, "attention_forward_bf16.csv.gz"):
        if row["sys"] == device and row["window"] in ("", "0") and "fa4" not in row["kernel_source"] and \
                int(row["heads"]) >= 4 * int(row["kv_heads"]):
            width = int(row["heads"]) * int(row["head_dim"])
            yield (device, "bf16", "attention", "forward", row["batch_size"],
                   f"heads={row['heads']} kv_heads={row['kv_heads']} d={width} sequence={row['seq']} "
                   "fused=true causal=true", row["ms"])


def cudnn_attention(folder, device):
    for row in rows(folder, "cudnn_attention_forward_backward.csv"):
        if (row["gpu_name"] == device and row["data_type"] == "bfloat16" and row["bwd_time_ms"]
                and not row["sliding_window_size"] and row["head_dim_qk"] == row["head_dim_vo"]):
            width = int(row["num_q_heads"]) * int(row["head_dim_qk"])
            causal = "true" if row["attn_mask"] == "top_left" else "false"
            yield (device, "bf16", "attention", "data_gradient", row["batch_size"],
                   f"heads={row['num_q_heads']} kv_heads={row['num_kv_heads']} d={width} sequence={row['q_seqlen']} "
                   f"fused=true causal={causal}", row["bwd_time_ms"])


def cudnn_norms(folder, device):
    """Norms as PyTorch computes them without a compiler."""
    for row in rows(folder, "cudnn_norms.csv"):
        if row["gpu_name"] == device and row["backend"] == "pytorch":
            bias = "true" if row["norm_type"] == "layer_norm" else "false"
            shape = f"width={row['C']} rows={row['N']} bias={bias}"
            yield device, "bf16", "layer_norm", "forward", 1, shape, row["fwd_time_ms"]
            yield device, "bf16", "layer_norm", "data_gradient", 1, shape, row["bwd_time_ms"]


def vidur_operators(folder, device):
    """Sums and embeddings. Its norms and its SiLU with a product are vLLM's own kernels, at 0.3 and 0.5 of the memory's
    bandwidth, which training does not use. A "sum" of the network with 2,560 wide layers is two."""
    for row in rows(folder, "vidur_layer_operators.csv.gz"):
        if row["device"] != device or row["n_embd"] == "2560" or row["num_tensor_parallel_workers"] != "1":
            continue
        tokens, width = int(row["num_tokens"]), int(row["n_embd"])
        yield device, "bf16", "add", "forward", 1, f"elements={tokens * width}", row["add"]
        shape = f"entries={row['vocab_size']} width={width} rows={tokens}"
        yield device, "bf16", "embedding", "forward", 1, shape, row["emb"]


HOST = 0.06  # ms that the host works at most before and after one call of NeuSight


def neusight(folder, device, name, operation=lambda row: ""):
    """Rows whose time is a kernel's. NeuSight waits for each call, and a short kernel hides behind the host's work, 27 to 60 us by
    the operation. If an operation's shortest row is within that, those below 1.5 times as long tell the host's time alone."""
    ours = [row for row in rows(folder, name) if row["device"] == device]
    shortest = {}
    for row in ours:
        shortest[operation(row)] = min(float(row["ms"]), shortest.get(operation(row), float("inf")))
    least = {name: 1.5 * time if time <= HOST else 0 for name, time in shortest.items()}
    return (row for row in ours if float(row["ms"]) >= least[operation(row)])


def neusight_vectors(folder, device):
    layers = {"add": "add", "mul": "multiply", "relu": "activation", "gelu": "activation", "tanh": "activation"}
    for row in neusight(folder, device, "neusight_vec_fp32.csv.gz", lambda row: row["op"]):
        batch, width, op = int(row["B"]), int(row["H"]), row["op"]
        if batch > 1_000_000:  # beyond a layer's rows
            continue
        if op in layers:
            function = f"function={op} " if layers[op] == "activation" else ""
            yield device, "fp32", layers[op], "forward", 1, f"{function}elements={batch * width}", row["ms"]
        elif op == "ln":
            yield device, "fp32", "layer_norm", "forward", 1, f"width={width} rows={batch}", row["ms"]
        elif op == "softmax":
            yield device, "fp32", "softmax_loss", "forward", 1, f"classes={width} rows={batch}", row["ms"]


def neusight_products(folder, device):
    for row in neusight(folder, device, "neusight_linear_fp32.csv.gz"):  # NeuSight's N is the reduction
        yield product(device, "fp32", int(row["B"]) * int(row["M"]), row["K"], row["N"], row["ms"])


DTYPES = {"fp32": "fp32", "fp16-tensor": "fp16"}
LAYOUTS = {"TN": "forward", "NN": "data_gradient", "NT": "weight_gradient"}


def deepbench_products(folder, device):
    for row in rows(folder, "deepbench_gemm.csv"):
        if row["device"] == device and row["dtype"] in DTYPES:
            name = LAYOUTS[row["ta"] + row["tb"]]
            m, n = row["m"], row["n"]
            if name != "weight_gradient":  # n is the batch there; the transposed product has it as rows
                m, n = n, m
            yield product(device, DTYPES[row["dtype"]], m, n, row["k"], row["ms"], name)


def deepbench_convolutions(folder, device):
    for row in rows(folder, "deepbench_conv.csv"):
        if row["device"] != device or row["dtype"] not in DTYPES or row["stride_w"] != row["stride_h"]:
            continue
        shape = (f"in={row['c']} out={row['k']} kernel={row['filter_h']}x{row['filter_w']} stride={row['stride_h']} "
                 f"padding={row['pad_h']}x{row['pad_w']} input={row['h']}x{row['w']}")
        for column, name in (("fwd_ms", "forward"), ("dgrad_ms", "data_gradient"), ("wgrad_ms", "weight_gradient")):
            if row[column] and float(row[column]) > 0:
                yield device, DTYPES[row["dtype"]], "conv2d", name, row["n"], shape, row[column]


def deepbench_lstms(folder, device):
    for row in rows(folder, "deepbench_rnn.csv"):
        if row["device"] != device or row["dtype"] not in DTYPES or row["kind"] != "LSTM":
            continue
        shape = f"input={row['hidden']} hidden={row['hidden']} steps={row['steps']}"
        for column, name in (("b", "forward"), ("c", "data_gradient"), ("d", "weight_gradient")):
            if row[column]:
                yield device, DTYPES[row["dtype"]], "lstm", name, row["batch"], shape, row[column]


def own(card, wanted, file="kernels.csv.xz"):
    """A reader of our table of that card, for rows that are wanted by type and layer. Kinds bound by memory run one kernel
    for fp32 and tf32. A concatenation joined two halves of one tensor, so its gradient holds two more copies and a sum that
    no network has; it is left out."""
    computing = ("linear", "conv2d", "conv_transpose2d", "attention", "lstm")

    def reader(_, device):
        with lzma.open(OWN[card] / file, "rt") as lines:
            for row in csv.DictReader(line for line in lines if not line.startswith("#")):
                if row["device"] != device or row["layer"] == "concat" or not wanted(row["dtype"], row["layer"]): continue
                if row["dtype"] == "tf32" and row["layer"] not in computing: row["dtype"] = "fp32"
                yield *(row[key] for key in ("device", "dtype", "layer", "pass", "batch", "shape")), float(row["time"].removesuffix("us")) / 1e3
    return reader


def is_product(dtype, layer):
    """NVIDIA's table has far more products in bf16, which serve fp16 too."""
    return dtype in ("bf16", "fp16") and layer == "linear"


def with_odd_sizes(folder, device):
    """NVIDIA's products, and our own on the H100 in bf16 and fp16 whose matrices have rows that are no multiples of 16 bytes.
    NVIDIA's all are. One kernel serves both types, so ours count as bf16."""
    yield from aiconfigurator_products(folder, device)
    for row in own("h100", is_product)(folder, H100):
        sizes = dict(field.split("=") for field in row[5].split())
        if any(2 * int(sizes[name]) % 16 for name in ("in", "out")): yield device, "bf16", *row[2:]


def not_products(dtype, layer):
    return not is_product(dtype, layer)


def not_published(dtype, layer):
    """Attention and norms in bf16 were published of an H100, or of an H200."""
    return not is_product(dtype, layer) and not (dtype == "bf16" and layer in ("attention", "layer_norm"))


def images(*dtypes):
    """Layers that ask how images lie in memory: in nchw, or in nhwc (`channels_last`)."""
    return lambda dtype, layer: dtype in dtypes and layer in ("conv2d", "batch_norm", "pool")


def halves(dtype, layer):
    return dtype == "fp16" and not is_product(dtype, layer)


def nhwc(card, device, dtypes, *further):
    """The table of that card's layers with images in nhwc, for TABLES."""
    file = "kernels-nhwc.csv.xz"
    return OWN[card] / file, own(card, images(*dtypes), file), device, OURS[card] + ", images in nhwc", further


# Profile: its base, what it describes, and its tables: (file, reader, device there, source, further options).
TABLES = {
    "v100": ("v100-datasheet", "Tesla V100: products, convolutions and LSTMs by DeepBench, norms, elementwise kernels and "
             "softmax by NeuSight. Other constants are the datasheet's or assumed.", [
                 ("deepbench_gemm.csv", deepbench_products, "NV_V100", DEEPBENCH, []),
                 ("deepbench_conv.csv", deepbench_convolutions, "NV_V100", DEEPBENCH, []),
                 ("deepbench_rnn.csv", deepbench_lstms, "NV_V100", DEEPBENCH, []),
                 ("neusight_vec_fp32.csv.gz", neusight_vectors, "Tesla V100-PCIE-32GB", NEUSIGHT, ["--keep-launch"])]),
    "p100": ("p100-datasheet", "Tesla P100: products, convolutions and LSTMs by DeepBench, norms, elementwise kernels and "
             "softmax by NeuSight. Other constants are the datasheet's or assumed.", [
                 ("deepbench_gemm.csv", deepbench_products, "NV_P100", DEEPBENCH, []),
                 ("deepbench_conv.csv", deepbench_convolutions, "NV_P100", DEEPBENCH, []),
                 ("deepbench_rnn.csv", deepbench_lstms, "NV_P100", DEEPBENCH, []),
                 ("neusight_vec_fp32.csv.gz", neusight_vectors, "Tesla P100-PCIE-16GB", NEUSIGHT, ["--keep-launch"])]),
    "titan-xp": ("titan-xp-datasheet", "TITAN Xp: products, convolutions and LSTMs by DeepBench. Other constants are the "
                 "datasheet's or assumed.", [
                     ("deepbench_gemm.csv", deepbench_products, "NV_TitanXp", DEEPBENCH, []),
                     ("deepbench_conv.csv", deepbench_convolutions, "NV_TitanXp", DEEPBENCH, []),
                     ("deepbench_rnn.csv", deepbench_lstms, "NV_TitanXp", DEEPBENCH, [])]),
    "a100": ("a100-80gb-datasheet", "A100 SXM, 80 GB: bf16 products and attention by NVIDIA, sums and embeddings by Vidur, "
             "fp32 products, norms and elementwise kernels by NeuSight. Other constants are the datasheet's or assumed.", [
                 ("gemm_bf16.csv.gz", aiconfigurator_products, "a100_sxm", AICONFIGURATOR, []),
                 ("attention_forward_bf16.csv.gz", aiconfigurator_attention, "a100_sxm",
                  AICONFIGURATOR + ", FlashAttention in SGLang 0.5.10", []),
                 ("vidur_layer_operators.csv.gz", vidur_operators, "a100", VIDUR, []),
                 ("neusight_linear_fp32.csv.gz", neusight_products, "NVIDIA A100 80GB PCIe", NEUSIGHT, ["--keep-launch"]),
                 ("neusight_vec_fp32.csv.gz", neusight_vectors, "NVIDIA A100 80GB PCIe", NEUSIGHT, ["--keep-launch"])]),
    "h100": ("h100-datasheet", "H100 SXM5, 80 GB: layers as PyTorch runs them, compressors' kernels and updates measured by "
             "stepcast's developers; products and attention forward in bf16 by NVIDIA. Where too few were measured, an H200's, by them "
             "and by NVIDIA, transferred. Peaks are the datasheet's.", [
                 ("gemm_bf16.csv.gz", with_odd_sizes, "h100_sxm", ODD_SIZES, []),
                 ("attention_forward_bf16.csv.gz", aiconfigurator_attention, "h100_sxm",
                  AICONFIGURATOR + ", FlashAttention-3 in vLLM 0.24.0", []),
                 ("cudnn_attention_forward_backward.csv", cudnn_attention, "NVIDIA H200", CUDNN,
                  ["--measured-on", "h200-datasheet"]),
                 ("cudnn_norms.csv", cudnn_norms, "NVIDIA H200", CUDNN + ", norms of PyTorch",
                  ["--measured-on", "h200-datasheet"]),
                 (OWN["h200"] / "kernels.csv.xz", own("h200", not_published), "NVIDIA H200", OURS["h200"], ["--measured-on", "h200-datasheet"]),
                 (OWN["h100"] / "kernels.csv.xz", own("h100", not_published), H100, OURS["h100"], [])]),
    "h200": ("h200-datasheet", "H200 SXM5, 141 GB: layers as PyTorch runs them, compressors' kernels and updates measured by "
             "stepcast's developers; bf16 products by NVIDIA, of the H100, and fp16 by them, of the H100, transferred. Peaks are recalled.", [
                 ("gemm_bf16.csv.gz", with_odd_sizes, "h100_sxm", ODD_SIZES, ["--measured-on", "h100-datasheet"]),
                 (OWN["h100"] / "kernels.csv.xz", own("h100", halves), H100, OURS["h100"], ["--measured-on", "h100-datasheet"]),
                 (OWN["h200"] / "kernels.csv.xz", own("h200", not_products), "NVIDIA H200", OURS["h200"], [])]),
    "h100-nhwc": ("h100", "h100 with images in nhwc (channels_last): convolutions, batch norms and poolings in bf16 and tf32. Those in "
                  "fp16 are bf16's; convolutions in fp32 are nchw's.", [
                      nhwc("h100", H100, ("bf16", "tf32"))]),
    "h200-nhwc": ("h200", "h200 with images in nhwc (channels_last): convolutions, batch norms and poolings in bf16; those in tf32 are the "
                  "H100's, transferred. Those in fp16 are bf16's; convolutions in fp32 are nchw's.", [
                      nhwc("h100", H100, ("tf32",), "--measured-on", "h100-datasheet"),
                      nhwc("h200", "NVIDIA H200", ("bf16",))]),
}


# Share of a lone kernel's rate that training keeps, by profile, and the kernels that it holds for if not all.
MPT = ("by `stepcast fit SUITES --set /workload/profile=NAME --constant /workload/profile/sustained/value=0.3..1` to throughputs that MosaicML "
       "published of MPT's training (scenarios/validation/)")
MPT_H100 = MPT + ": mpt-h100-80gb, 95 %: 0.552 to 0.640 when it was fitted; the models of 2026-11-30 give 0.627 (0.578 to 0.676); software of 2023"
SUSTAINED = {
    "v100": (0.909, "fitted", "to VGG-16's backward pass on a V100, 85.2 ms by Espresso, 78 ms by these kernels; "
             "ResNet-50's, which no fit saw, is then met within 2 %"),
    "p100": (0.909, "assumed", "that of the V100"),
    "titan-xp": (0.909, "assumed", "that of the V100"),
    "a100": (0.808, "fitted", MPT + ": mpt-a100-80gb and mpt-a100-40gb, 95 %: 0.791 to 0.824 when it was fitted; the models of 2026-11-30 give 0.737 (0.714 to 0.761)"),
    "h100": (0.596, "fitted", MPT_H100,
             ("kinds", ["product", "attention"]), ("dtype", "bf16")),
    "h200": (0.596, "transferred", "h100: " + MPT_H100,
             ("kinds", ["product", "attention"]), ("dtype", "bf16")),
}


def without_blanks(value):
    """Without what is null, and without empty lists."""
    if isinstance(value, dict):
        return {key: without_blanks(one) for key, one in value.items() if one is not None and one != []}
    return [without_blanks(one) for one in value] if isinstance(value, list) else value


def text_of(profile):
    """A line for each field and for each entry of a list, as in the datasheets."""
    lines = []
    for key, value in profile.items():
        if isinstance(value, list):
            entries = ",\n    ".join(json.dumps(one, ensure_ascii=False) for one in value)
            lines.append(f'  "{key}": [\n    {entries}\n  ]')
        else:
            lines.append(f'  "{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def make(name, calibrate, folder):
    datasheet, description, tables = TABLES[name]
    with tempfile.TemporaryDirectory() as scratch:
        fitted, base = pathlib.Path(scratch) / "fitted.json", datasheet
        for file, reader, device, source, further in tables:
            table = pathlib.Path(scratch) / (pathlib.Path(file).name.split(".")[0] + ".csv")
            with open(table, "w") as out:
                print("device,dtype,layer,pass,batch,shape,time", file=out)
                for row in reader(folder, device):
                    print(*row[:-1], f"{row[-1]}ms", sep=",", file=out)
            digest = hashlib.sha256((folder / file).read_bytes()).hexdigest()[:12]
            subprocess.run([calibrate, "import", table, "--base", base, "--source", f"{source}, {device}; {pathlib.Path(file).name}, SHA-256 {digest}",
                            "--name", name, "-o", fitted, *further], check=True)
            base = fitted
        models = json.loads(fitted.read_text())["kernel_models"]
    profile = json.loads((PROFILES / f"{datasheet}.json").read_text())
    profile.update(name=name, description=description, kernel_models=[without_blanks(model) for model in models])
    if name in SUSTAINED:
        value, evidence, source, *limits = SUSTAINED[name]
        profile["sustained"] = {"value": value, **dict(limits), "evidence": evidence, "source": source}
    else:  # bf16's models in nhwc serve fp16 where it has none
        profile["kernel_models"] = [one for one in profile["kernel_models"]
                                    if one["dtype"] != "fp16" or one["kind"] not in ("convolution", "batch_norm", "pool")]
    if name in OWN: profile.update(own_rates(name, calibrate, profile))
    (PROFILES / f"{name}.json").write_text(text_of({"schema_version": 2} | profile))


def rate_of(text):
    """4.33911e12 for "4339110MB/s" and 6.7e13 for "67TFLOPS"."""
    number = text.removesuffix("B/s").removesuffix("FLOPS")
    return float(number[:-1]) * {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[number[-1]]


def own_rates(name, calibrate, datasheet):
    """Our samples' rates in place of the datasheet's assumptions, and the kernels of compressors and updates. The bandwidth
    stays the maker's: shares refer to it."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "samples.json"
        path.with_suffix(".samples.jsonl").write_bytes(lzma.decompress((OWN[name] / "samples.jsonl.xz").read_bytes()))
        subprocess.run([calibrate, "device", "--fit-only", "--name", name, "-o", path], check=True, stdout=subprocess.DEVNULL)
        ours = without_blanks(json.loads(path.read_text()))
    bandwidth, theirs = (rate_of(one["memory_bandwidth"]["value"]) for one in (ours, datasheet))
    share = {"value": round(bandwidth / theirs, 4), **{key: ours["memory_bandwidth"][key] for key in ("evidence", "source")}}
    share["source"] += f", {bandwidth / 1e9:.0f} GB/s, over the datasheet's"
    reached = [rate_of(one["rate"]) / rate_of(peak["rate"]) for one, peak in zip(ours["peaks"], datasheet["peaks"])]
    efficiency = {"value": round(statistics.median(reached), 2), "evidence": "measured",
                  "source": f"cuBLAS, 8192 x 8192 matrices, {min(reached):.2f} to {max(reached):.2f} of the types' peaks"}
    return {"device": ours["device"], "compute_efficiency": efficiency, "launch_overhead": ours["launch_overhead"], "memory_efficiency": share, "kernels": ours["kernels"]}


# Profiles transferred from the nearest measured device: (that profile, its datasheet).
TRANSFERS = {
    "t4": ("v100", "v100-datasheet"),
    "a10g": ("a100", "a100-80gb-datasheet"),
    "rtx-3090": ("a100", "a100-80gb-datasheet"),
    "l4": ("a100", "a100-80gb-datasheet"),
    "l40s": ("a100", "a100-80gb-datasheet"),
    "rtx-4090": ("a100", "a100-80gb-datasheet"),
    "b200": ("h100", "h100-datasheet"),
}


def transfer(name, calibrate):
    """With the other device's datasheet in its own words."""
    measured, datasheet = TRANSFERS[name]
    with tempfile.TemporaryDirectory() as scratch:
        moved = pathlib.Path(scratch) / f"{name}.json"
        subprocess.run([calibrate, "transfer", measured, "--from", datasheet, "--to", f"{name}-datasheet", "-o", moved],
                       check=True)
        profile = without_blanks(json.loads(moved.read_text()))
    there = json.loads((PROFILES / f"{name}-datasheet.json").read_text())
    profile["description"] = there["description"].split(".")[0] + ". " + profile["description"]
    kept = {key: there[key] for key in ("gpu", "peaks", "memory", "memory_bandwidth", "clock", "processors")}
    (PROFILES / f"{name}.json").write_text(text_of({"$schema": "../profile.schema.json"} | profile | kept))


PAGE = ROOT / "docs" / "device-profiles.md"
MARK = "<!-- by scenarios/scripts/make_profiles.py -->\n"


def table_of(name):
    profile = json.loads((PROFILES / f"{name}.json").read_text())
    models = [one for one in profile["kernel_models"] if not name.endswith("-nhwc") or "nhwc" in one["source"]]
    lines = [f"### {name}", "", "| kernels | type | pass | fitted to | held out | half are within | nine of ten within | source |",
             "|---|---|---|---|---|---|---|---|"]
    for model in models:
        errors, source = model["errors"], model["source"].split(";")[0]
        word = "" if model["evidence"] == "measured" else f" ({model['evidence']})"
        lines.append(f"| {model['kind']} | {model['dtype']} | {model.get('pass', 'any')} | {errors['fitted']} | "
                     f"{errors['held_out']} | {errors['median']:.1%} | {errors['p90']:.1%} | {source}{word} |".replace("%", " %"))
    sustained = profile["sustained"]
    kernels = f"{sustained['dtype']} kernels of {' and '.join(sustained['kinds'])}" if "kinds" in sustained else "kernels"
    lines += ["", f"In a step {kernels} keep {sustained['value']:g} of these rates, {sustained['evidence']}: {sustained['source']}."]
    return lines


def write_tables():
    before, _, _ = PAGE.read_text().partition(MARK)
    PAGE.write_text(before + MARK + "\n" + "\n\n".join("\n".join(table_of(name)) for name in TABLES) + "\n")


def main(calibrate, kernels=None, *names):
    if calibrate != "--tables":
        if kernels is None:
            sys.exit(__doc__)
        for name in names or [*TABLES, *TRANSFERS]:
            if name in TABLES:
                make(name, calibrate, pathlib.Path(kernels))
            else:
                transfer(name, calibrate)
    write_tables()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
