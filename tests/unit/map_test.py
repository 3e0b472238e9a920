#!/usr/bin/env python3
"""CONTRIBUTING's section "To add" is true: each path that it names is there, and each source that names an existing
compressor, topology, strategy, collective algorithm or metric is in the list for its kind. Strategies and compressors
touch no more places than they once did."""
import pathlib
import re
import sys

# Kinds by their paragraph, with the words by which sources name one.
EXAMPLES = {
    "A compressor": ["Natural", "TernGrad", "TopK", "PowerSgd", "Atomo", "Dgc", "ThreeLc", "SketchMl", "Wangni"],
    "A topology": ["FatTree", "Torus", "Dragonfly"],
    "A strategy": ["AllReduceStrategy", "ParameterServerStrategy", "PipelinedStrategy", "ShardedStrategy", "LocalSgdStrategy", "GossipStrategy", "CollectiveBenchmark"],
    "A collective algorithm": ["halving_doubling", "bruck"],
    "A metric": ["cost_per_million_samples", "bound_gap_is_large"],
    "A layer kind": ["ConvTranspose2d", "BatchNorm"],
    "A subcommand": ["add_merge", "add_solve"],
}

# Places beside the kind's own files, by the pattern of their names, before compression had a scope and graphs of
# neighbours came: sources that name the type.
MOST = {
    "AllReduceStrategy": (13, r"all_reduce"),
    "ParameterServerStrategy": (17, r"server|hosting_cost"),
    "PipelinedStrategy": (12, r"pipelined"),
    "ShardedStrategy": (13, r"shard|island|quantized_gather|coded_reduction"),
    "LocalSgdStrategy": (13, r"local_sgd|fragments|island"),
    "GossipStrategy": (13, r"gossip|neighbour"),
    "Natural": (3, r"natural"),
    "TopK": (2, r"top_k"),
    "PowerSgd": (3, r"power_sgd"),
}


def paragraphs(page):
    """The paragraphs of the section by their names in bold, and the section's table rows."""
    section = page[page.index("## To add"):page.index("## Build and test")]
    return {match[1]: match[2] for match in re.finditer(r"\*\*([^*]+)\*\*:?(.*?)(?=\n\n|\Z)", section, re.DOTALL)}, section


def paths_in(text):
    """What stands between backquotes and looks like a path: with a slash or a suffix."""
    return [word for word in re.findall(r"`([^`\s]+)`", text) if "/" in word.rstrip("/") or re.search(r"\w\.(hpp|cpp|py|txt)$", word) or word.endswith("/")]


def is_named(file, paths):
    return any(file == p or file.endswith("/" + p) or (p.endswith("/") and ("/" + file).find("/" + p) >= 0) for p in paths)


def code_of(file):
    return re.sub(r"//[^\n]*", "", file.read_text())


def main(root):
    named, section = paragraphs((root / "CONTRIBUTING.md").read_text())
    files = [str(f.relative_to(root)) for f in root.rglob("*") if f.is_file() and not str(f.relative_to(root)).startswith(("build", ".git/"))]
    faults = [f"`{p}` is not there" for p in paths_in(section) if not p.startswith("build/") and "*" not in p and not any(is_named(f, [p]) for f in files)]
    sources = {f: code_of(root / f) for f in files if f.startswith(("models/", "sim/")) and f.endswith((".hpp", ".cpp"))}
    seen = 0
    for kind, words in EXAMPLES.items():
        paths = paths_in(named[kind])
        for word in words:
            having = [f for f, code in sources.items() if re.search(rf"\b{word}\b", code)]
            if not having:
                faults.append(f"no source names {word}: choose another example of {kind.lower()}")
            seen += len(having)
            faults += [f"{f} names {word}, but the paragraph on {kind.lower()} does not name it" for f in having if not is_named(f, paths)]
    for word, (most, own) in MOST.items():
        shared = [f for f, code in sources.items() if re.search(rf"\b{word}\b", code) and not re.search(own, pathlib.Path(f).name)]
        if len(shared) > most:
            faults.append(f"{word} is named in {len(shared)} places beside its own files, once {most}: {', '.join(sorted(shared))}")
    print("\n".join(sorted(faults)) or f"{seen} places, all on the map")
    return bool(faults) or seen < 100  # a test that sees nothing would pass


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
