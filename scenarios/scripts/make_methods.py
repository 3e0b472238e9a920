#!/usr/bin/env python3
"""make_methods.py STEPCAST [--check]: writes docs/methods.md, each compressor that the three works and their survey cite.

Names, bytes and sources follow from `stepcast list compressors`; the table below says under which other names methods
are had, or why not. With --check nothing is written; the exit code is 1 where the page is stale.
"""

import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "methods.md"
INTRODUCTION = """# Methods

Compressors that Pipe-SGD, Pufferfish, the tutorial and GRACE's survey cite, and some of later years. `scenarios/scripts/make_methods.py`
writes this page from `stepcast list compressors`. Sources are recalled unless a file says otherwise; d elements of 4 bytes.
"""

# Methods by the name of another: how to have them.
ALIASES = [
    ("gradient dropping (Aji and Heafield 2017)", "`top-k`", "its source; the paper finds the threshold in a sample, as `dgc` does"),
    ("MEM-SGD (Stich et al. 2018)", "`top-k`, `random-k`", "with `error_feedback`, the default"),
    ("CHOCO-SGD (Koloskova et al. 2019)", "`top-k`, `random-k`, `qsgd`", "with strategy `gossip`: compressed differences to what neighbours know"),
    ("DCD-SGD (Tang et al. 2018)", "`qsgd` and others", "the same, with strategy `gossip`; ECD-SGD sends as many bytes"),
    ("dist-EF-SGD (Zheng et al. 2019)", "`ef-signsgd`", "with `two_way` servers, or carrier `all-to-all`"),
    ("ByteGrad (Bagua 2021)", "`8-bit`", "with `codec.scope` machines and carrier `all-to-all`"),
    ("compressed pushes and pulls of BytePS (Zhong et al. 2021, recalled)", "`1-bit`, `top-k` and others", "servers with `sum_in_machine`, `two_way`, `partition` and `codec.scope` machines"),
    ("SparCML (Renggli et al. 2019)", "`top-k`", "with carrier `all-to-all-once`: its split all-gather with a dense sum"),
    ("Ok-Topk (Li and Hoefler 2022)", "`top-k`", "with carrier `all-to-all`: each worker adds up a region and keeps its largest. The paper sends up to half as much again, to balance regions"),
    ("adaptive quantization in the ring (Dryden et al. 2016)", "`adaptive`", "with carrier `in-collective`: each hop adds and encodes again"),
    ("compression in the ring of HiPress (Bai et al. 2021, recalled)", "`1-bit`, `dgc`, `strom` and others", "with carrier `in-collective`"),
    ("8-bit scalar quantization of Pipe-SGD", "`8-bit`", "with carrier `in-collective`"),
    ("qgZ of ZeRO++ (Wang et al. 2023)", "`qsgd`, `8-bit`", "with strategy `sharded`, `codec.scope` machines and the same `inner_compressor`"),
    ("compression inside and between machines of Espresso (Wang et al. 2023, recalled)", "`dgc`, `random-k`, `ef-signsgd` and others", "with `codec.scope` machines and an `inner_compressor`; one that is no low-rank method"),
    ("CGX (Markov et al. 2022)", "`qsgd`", "with `codec.whole_vectors` and `min_elements`, and carrier `all-to-all`"),
    ("hpZ of ZeRO++ (Wang et al. 2023)", "`backward_group_size` of strategy `sharded`", "a second copy of parameters in each machine"),
    ("DiLoCo (Douillard et al. 2023)", "strategy `local-sgd`", "with `islands` and `outer_update_factor`"),
    ("hierarchical local SGD (Lin et al. 2020)", "strategy `local-sgd`", "with `islands` that average inside every few `steps`"),
    ("SlowMo (Wang et al. 2020)", "strategy `local-sgd`", "with `outer_update_factor`"),
    ("CoCoD-SGD (Shen et al. 2019)", "strategy `local-sgd`", "with as many `averaging_steps` as `steps`"),
    ("SlowMo over stochastic gradient push (Wang et al. 2020, recalled), gossip with global averages (Chen et al. 2021)", "strategy `gossip`", "with `average`: the average of all from time to time, and an outer update"),
    ("PowerGossip (Vogels et al. 2020, recalled)", "`powersgd`", "with strategy `gossip`: one power step for each edge"),
    ("hierarchical gossip of Bagua (2021), stochastic gradient push on machines of 8 GPUs", "strategy `gossip`", "with `islands`: sums inside machines, neighbours between them"),
    ("asynchronous training of BytePS (Jiang et al. 2020, recalled)", "strategy `parameter-server`", "with `sum_in_machine`, `partition`, `priority` and `consistency` asynchronous"),
    ("ByteScheduler (Peng et al. 2019), P3 (Jayarajan et al. 2019)", "`exchange.partition` and `exchange.priority`", "with strategy `all-reduce` or servers of any `consistency`"),
    ("partial sums of THC (Li et al. 2024, recalled)", "`thc`", "servers with `two_way` and `consistency` backup-workers: each message's sum takes the first workers"),
    ("D-PSGD (Lian et al. 2017)", "strategy `gossip`", "on a ring or another graph"),
    ("Moniqua (Lu and De Sa 2020, recalled)", "`qsgd`, `8-bit`, `1-bit` and others", "with `asynchronous` gossip: pairs send codes of their parameters"),
    ("qwZ of ZeRO++, QSDP's weights (Markov et al. 2023)", "`quantized_gather` of strategy `sharded`", "parameters instead of gradients"),
    ("4-bit averages of Streaming DiLoCo (Douillard et al. 2025)", "`qsgd`", "with strategy `local-sgd`, its `fragments` and `averaging_steps`"),
    ("0/1 Adam (Lu et al. 2022)", "`1-bit-adam`", "with strategy `local-sgd`, whose intervals double as phases of a run"),
    ("Downpour SGD (Dean et al. 2012), elastic averaging (Zhang et al. 2015)", "strategy `parameter-server`", "with `steps` from one exchange to the next, `consistency` asynchronous"),
    ("backup workers (Chen et al. 2016)", "strategy `parameter-server`", "with `consistency` backup-workers: an update takes the first pushes"),
    ("stochastic gradient push (Assran et al. 2019)", "strategy `gossip`", "with `graph` one-peer-exponential: each sends to one worker a step"),
    ("AD-PSGD (Lian et al. 2018)", "strategy `gossip`", "with `asynchronous`: pairs that meet by chance"),
    ("SwarmSGD (Nadiradze et al. 2021, recalled)", "strategy `gossip`", "with `asynchronous` and `choosers` all, on `graph` complete or another one; with `steps` of a worker alone"),
    ("delayed all-reduce of bounded staleness", "strategy `pipelined`", "of `width` K, late by K-1 steps: workers wait as late as with a bound of K-1"),
    ("SwitchML (Sapio et al. 2021), SHARP (Graham et al. 2016)", "algorithm `in-network`", "in clusters with an `in_network_factor`; the sum of any compressor whose messages are summed"),
    ("MNIST-MLP and CIFAR-100 of Pipe-SGD", "workloads `mnist-mlp` and `cifar100-convex`", "their sizes are assumed"),
    ("mixed precision (AMP)", "workload `dtype` fp16 or bf16", "gradients of two bytes"),
    ("Pufferfish", "workload `variant` pufferfish", "trains factors instead of compressing gradients"),
]

# Methods that are not there: why.
MISSING = [
    ("Cuttlefish, Accordion", "the switch follows from accuracy, which is not forecast; give it as phases of a run"),
    ("Early-Bird and lottery tickets", "pruning follows from training; give the pruned network as a workload"),
]


# Methods whose messages have the bytes of another one's, but for rounding and scales: they differ in kernels, or in what is kept.
SAME_BYTES = {
    "signum": "signsgd",
    "wangni": "threshold",
    "1-bit-adam": "ef-signsgd",
    "lpc-svrg": "qsgd",
    "truncation": "fp16",
    "variance-based": "strom",
    "block-top-k": "omnireduce",
}


def said(stepcast, *arguments):
    return json.loads(subprocess.run([stepcast, *arguments, "--json", "-"], capture_output=True, text=True, check=True).stdout)


def entries(stepcast):
    return [said(stepcast, "show", "compressor", one["name"])[0] for one in said(stepcast, "list", "compressors")["compressors"]]


def names_in(formula):
    return re.findall(r"[a-z_][a-z_0-9]*", str(formula))


def bytes_of(method):
    """The sizes of a method of formulas, stage by stage, and the values in them."""
    sizes = [message["bytes"] for stage in method["stages"] for message in stage["messages"]]
    values, used = method.get("values", {}), []
    open_names = [name for size in sizes for name in names_in(size)]
    while open_names:
        name = open_names.pop(0)
        if name in values and name not in used:
            used.append(name)
            open_names += names_in(values[name])
    return ", then ".join(f"`{size}`" for size in sizes) + "".join(f"; `{name} = {values[name]}`" for name in used)


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def page(stepcast):
    lines = [INTRODUCTION, "## By name\n", "| name | class | bytes of a worker's message | meaning | source |", "|---|---|---|---|---|"]
    with_bytes = {}  # names by text
    for entry in entries(stepcast):
        name, method = entry["name"], entry.get("method")
        if name in ("none", "ratio", "formula"):
            continue
        size = bytes_of(method) if method else entry["payload"]
        other = with_bytes.setdefault(size, name)
        if other != name and SAME_BYTES.get(name) != other:
            sys.exit(f"{name} sends the bytes of {other}: say so in SAME_BYTES")
        if name in SAME_BYTES:
            size += f"; in essence as `{SAME_BYTES[name]}`"
        row = (f"`{name}`", method["class"] if method else entry["class"], size, entry["meaning"], method["source"] if method else entry.get("source", ""))
        lines.append("| " + " | ".join(cell(text) for text in row) + " |")
    own = len(lines) - 4 - len(SAME_BYTES)
    lines.append(f"\n{own} of them have a formula of bytes of their own. The others name one that sends as much, but for rounding and scales, where their parameters agree.")
    lines += ["\n## By another name\n", "| method | here | remark |", "|---|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in ALIASES]
    lines += ["\n## Not there\n", "| method | why |", "|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in MISSING]
    lines.append("\nA method whose plan is a few sizes and sweeps needs no C++: [own-compressor.md](own-compressor.md).")
    return "\n".join(lines) + "\n"


def main():
    text = page(sys.argv[1])
    if "--check" not in sys.argv[2:]:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit(f"{PAGE} is stale: write it with {sys.argv[0]} {sys.argv[1]}")


if __name__ == "__main__":
    main()
