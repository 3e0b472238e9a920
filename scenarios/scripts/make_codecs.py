#!/usr/bin/env python3
"""Makes scenarios/profiles/pytorch-h200.json: an H200 with codecs as plain PyTorch runs them.

    make_codecs.py [--check]

The times are those of calibrate/torch_compressors.py (calibrate/measured/). For each method, encoding and decoding get
a time of a tensor and a time of an element. These have the least sum of squared relative errors at the measured sizes.
PowerSGD's encoding has a time of each column of the factors in place of one of a tensor; an H100 has its ranks.
--check writes nothing and fails if the file differs.
"""
import json
import lzma
import pathlib
import sys

from make_profiles import text_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = ROOT / "scenarios" / "profiles" / "pytorch-h200.json"
MEASURED = ROOT / "calibrate" / "measured" / "h200-2026-11-27" / "torch-compressors.json.xz"
RANKS = ROOT / "calibrate" / "measured" / "h100-2026-11-28" / "torch-ranks.json.xz"
MOST_RANK = 16  # at 32 a column takes 1.5 to 2.7 times as long
SOURCE = "measured by stepcast's developers 2026-11-27 on an NVIDIA H200, calibrate/torch_compressors.py, PyTorch 2.11"
QUEUED, WAITING = "launches were queued ahead and take no time", "the host counts elements, so launches take time"
# Methods and the setting that was timed. Left out: ATOMO, whose decomposition grows faster than its matrix.
SETTINGS = {
    "fp16": QUEUED, "8-bit": QUEUED, "1-bit": QUEUED, "signsgd": QUEUED, "ef-signsgd": QUEUED, "terngrad": QUEUED,
    "qsgd": f"norms of 512 elements; {QUEUED}", "natural": f"codes of 8 bits; {QUEUED}",
    "random-k": f"1 % of the elements; {QUEUED}", "top-k": f"1 % of the elements; {QUEUED}",
    "threshold": f"4.24 % of the elements; {WAITING}", "dgc": f"1 % of the elements, no search after the sample; {WAITING}",
    "adaptive": f"1 % of the elements of each sign, no search after the sample; {WAITING}",
    "sketchml": f"256 quantiles; {QUEUED}", "3lc": f"normal numbers, with long runs of zeros; {WAITING}",
}
FEEDBACK = ("ef-signsgd", "dgc")  # their encoders keep the residual
BESIDE = ("add", "subtract", "momentum", "sign")  # kernels beside codecs (models/compressor/timed_plan.hpp)


def line(points):
    """(a, b) of a·r + b·d with the least sum of ((a·r + b·d)/t - 1)², neither below 0. Points are (r, d, t), or (d, t) where
    r is 1."""
    points = [(1, *one) if len(one) == 2 else one for one in points]
    u, v = [r / t for r, _, t in points], [d / t for _, d, t in points]
    uu, vv, uv, su, sv = (sum(x * y for x, y in zip(p, q)) for p, q in
                          ((u, u), (v, v), (u, v), (u, [1] * len(u)), (v, [1] * len(v))))
    determinant = uu * vv - uv * uv
    a, b = (su * vv - sv * uv) / determinant, (sv * uu - su * uv) / determinant
    if b < 0: return su / uu, 0.0
    if a < 0: return 0.0, sv / vv
    return a, b


def worst(points, a, b):
    return max(abs((a + b * d) / t - 1) for d, t in points)


def times(a, b):
    return {"per_tensor": f"{a * 1e6:.4g}us", "per_element": f"{b * 1e9:.4g}ns"}


def codecs():
    results = json.loads(lzma.open(MEASURED).read())["results"]
    for method, setting in SETTINGS.items():
        own = [one for one in results if one["method"] == method]
        encode, decode = ([(one["size"], one[role]["torch_s"]) for one in own] for role in ("encode", "decode"))
        lines = [line(encode), line(decode)]
        off = [worst(points, *fit) for points, fit in zip((encode, decode), lines)]
        source = (f"{SOURCE}; {setting}; {len(own)} sizes from {encode[0][0]:,} to {encode[-1][0]:,} elements, encoding met "
                  f"within {100 * off[0]:.1f} %, decoding within {100 * off[1]:.1f} %")
        entry = {"method": method, **times(*lines[0]), "decode": times(*lines[1]),
                 **({"error_feedback": True} if method in FEEDBACK else {}), "evidence": "fitted", "source": source}
        yield entry
        if method == "signsgd": yield entry | {"method": "signum", "source": source + "; SignSGD's, its momentum is a kernel beside"}
    yield power_sgd(results)


def power_sgd(results):
    """Encoding at ranks that an H100 ran, decoding by the H200's own times at rank 4."""
    encode = [(one["RANK"], one["size"], one["encode"]["torch_s"]) for one in json.loads(lzma.open(RANKS).read())
              if one["method"] == "powersgd" and one["RANK"] <= MOST_RANK]
    own = [one for one in results if one["method"] == "powersgd"]
    decode = [(one["size"], one["decode"]["torch_s"]) for one in own]
    (column, element), (tensor, decoded) = line(encode), line(decode)
    off = sorted(abs((column * r + element * d) / t - 1) for r, d, t in encode)
    here = max(abs((column * 4 + element * one["size"]) / one["encode"]["torch_s"] - 1) for one in own)
    source = (f"{SOURCE}; {QUEUED}; decoding at rank 4 met within {100 * worst(decode, tensor, decoded):.1f} %; encoding as an NVIDIA H100 took on "
              f"2026-11-28, ranks 1 to {MOST_RANK}, {encode[0][1]:,} to {encode[-1][1]:,} elements, half met within {100 * off[len(off) // 2]:.0f} %, all "
              f"within {100 * off[-1]:.0f} %; the H200's own at rank 4 within {100 * here:.0f} %")
    return {"method": "powersgd", **times(0, element), "per_rank": f"{column * 1e6:.4g}us", "decode": times(tensor, decoded),
            "evidence": "transferred", "source": source}


def text():
    base = json.loads((ROOT / "scenarios" / "profiles" / "h200.json").read_text())
    kernels = [one for one in base["kernels"] if one["name"] in BESIDE]
    for key in ("kernel_models", "sustained", "attention_efficiency", "kernels"): del base[key]
    base |= {"name": "pytorch-h200", "description":
             "An H200 whose compressors are composed of PyTorch's operations, for codec.device. Each entry's source has its "
             "setting. Layers follow from the roofline; use h200 for them.", "kernels": kernels, "codecs": [*codecs()]}
    return text_of(base)


def main(*arguments):
    if arguments not in ((), ("--check",)): sys.exit(__doc__)
    if arguments:
        if PROFILE.read_text() != text(): sys.exit(f"{PROFILE} is not what make_codecs.py makes; run it")
    else:
        PROFILE.write_text(text())


if __name__ == "__main__":
    main(*sys.argv[1:])
