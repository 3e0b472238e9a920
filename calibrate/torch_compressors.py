#!/usr/bin/env python3
"""Times gradient compressors written with plain PyTorch operations beside this project's kernels of the same methods.

    stepcast-calibrate device -o h100.json
    torch_compressors.py --samples h100.samples.jsonl --output h100-torch.json

Each method encodes a vector of normal numbers and decodes its message. It is written from its paper in plain PyTorch,
without custom kernels or a compiler. Times are the device's, by CUDA events, with L2 flushed before each. The device is
kept busy until PyTorch has queued its kernels, so launches cost nothing. Some methods need a count on the host
(threshold, DGC, adaptive, 3LC, ATOMO), so their launches do cost time.

Our times are the medians of the calibration's cold samples, interpolated between its sizes in logarithms and added up
over a method's kernels. Each kernel began with a cold L2, to their disadvantage. With samples, the events' own time
(calibrate/event_overhead.hpp) is subtracted from all times, PyTorch's too.

    --samples PATH        samples of a calibration on this device; without them PyTorch alone is timed
    --sizes N,N,...       elements, by default 65536,1048576,16777216,67108864
    --methods A,B,...     only these
    --device cuda|cpu     cpu is for trying the script; its times mean nothing, are marked so and get no ratio
    --json                JSON on standard output instead of the table
    --output PATH         writes the JSON also to a file, after each method and size, so an interrupted run keeps its results

A ratio is PyTorch's time over ours. Without a ratio, `why` gives the reason. Needs torch, nothing else.
"""
import argparse
import json
import math
import statistics
import sys
from types import SimpleNamespace
from typing import Callable, NamedTuple

from torch_common import Flush, ScriptError, check_device, import_torch, outer_quartiles, seconds, write

try:
    import torch
except ImportError:  # the table of kernels and the reader of samples do without
    torch = None

BUCKET, LEVELS = 512, 127       # QSGD's, as kernels/call.hpp and kernels/cpu/lists.hpp have them, and what follows
CLIP = 2.5                      # TernGrad's, standard deviations
THRESHOLD = 2.03                # threshold-v's: 4.24 % of normal numbers are larger
MOMENTUM = 0.9                  # DGC's
QUANTILES = 256                 # SketchML's
SPARSITY = 1.5                  # 3LC's s
RANK, TRIPLETS = 4, 3           # PowerSGD's, ATOMO's
SIZES = [1 << 16, 1 << 20, 1 << 24, 1 << 26]


def kept(n):
    """k = max(1, floor(n/100))"""
    return max(1, n // 100)


# Methods ------------------------------------------------------------------------------------------------------------
# encode(x, s) -> message and decode(message, s) -> dense vector; s holds n, and what start(x, s) has put there.


def padded(x, multiple):
    return torch.nn.functional.pad(x, (0, -x.numel() % multiple))


def pack(codes, width):
    """8/width codes of `width` bits to a byte, the first in its lowest bits."""
    shifts = torch.arange(0, 8, width, dtype=torch.uint8, device=codes.device)
    return (padded(codes, 8 // width).view(-1, 8 // width) << shifts).sum(1, dtype=torch.uint8)


def unpack(packed, width, n):
    shifts = torch.arange(0, 8, width, dtype=torch.uint8, device=packed.device)
    return ((packed[:, None] >> shifts) & (2**width - 1)).flatten()[:n]


def scattered(indices, values, n):
    return torch.zeros(n, device=indices.device).index_put_((indices,), values)


# fp16: y = half(x)
def fp16_encode(x, s):
    return x.half()


def fp16_decode(message, s):
    return message.float()


# 8-bit (Dettmers, ICLR 2016): |x|/max|x| by the nearest of 0 and 10^-e·(0.1 + 0.9·(f+1)/2^b), b = 6 - e, f < 2^b.
def eight_bit_start(x, s):
    values = [0.0] + [10.0 ** (b - 6) * (0.1 + 0.9 * (f + 1) / 2**b) for b in range(7) for f in range(2**b)]
    values = torch.tensor(values, device=x.device)
    s.edges, s.values = (values[1:] + values[:-1]) / 2, torch.cat([values, -values])


def eight_bit_encode(x, s):
    scale = x.abs().max()
    code = torch.bucketize(x.abs() / scale, s.edges, out_int32=True)
    return (code | (x < 0).int() << 7).to(torch.uint8), scale


def eight_bit_decode(message, s):
    codes, scale = message
    return s.values[codes.long()] * scale


# 1-bit (Seide et al., Interspeech 2014): signs, and the mean of the elements of either.
def one_bit_encode(x, s):
    positive = x >= 0
    count = positive.sum()
    above, below = torch.where(positive, x, 0).sum() / count.clamp(min=1), torch.where(positive, 0, x).sum() / (s.n - count).clamp(min=1)
    return pack(positive.to(torch.uint8), 1), above, below


def one_bit_decode(message, s):
    signs, above, below = message
    return torch.where(unpack(signs, 1, s.n) == 1, above, below)


# SignSGD (Bernstein et al., ICML 2018): sign(x), 1 at 0; a bit each.
def sign_encode(x, s):
    return pack((x >= 0).to(torch.uint8), 1)


def sign_decode(message, s):
    return 2.0 * unpack(message, 1, s.n) - 1


# EF-SignSGD (Karimireddy et al., ICML 2019): c = x + e is sent as mean|c|·sign(c), and e ← c - the sent value.
def ef_sign_start(x, s):
    s.error = torch.zeros_like(x)


def ef_sign_encode(x, s):
    corrected = x + s.error
    positive, mean = corrected >= 0, corrected.abs().mean()
    s.error = corrected - torch.where(positive, mean, -mean)
    return pack(positive.to(torch.uint8), 1), mean


def ef_sign_decode(message, s):
    signs, mean = message
    return (2.0 * unpack(signs, 1, s.n) - 1) * mean


# QSGD (Alistarh et al., NIPS 2017): r = L·|x|/|bucket|₂ rounded down or, with probability r - floor(r), up.
def qsgd_encode(x, s):
    buckets = padded(x, BUCKET).view(-1, BUCKET)
    norms = buckets.norm(dim=1, keepdim=True)
    r = torch.nan_to_num(buckets.abs() / norms * LEVELS)
    level = (r + torch.rand_like(r)).floor().clamp(max=LEVELS)
    return (level * buckets.sign() + LEVELS).to(torch.uint8), norms


def qsgd_decode(message, s):
    codes, norms = message
    return ((codes.float() - LEVELS) * (norms / LEVELS)).flatten()[: s.n]


# TernGrad (Wen et al., NIPS 2017): |x| clipped at 2.5σ; S·sign(x) with probability |x|/S, else 0; S is the largest.
def terngrad_encode(x, s):
    clipped = x.abs().clamp(max=CLIP * x.std(unbiased=False))
    scale = clipped.max()
    sent = torch.rand_like(x) * scale < clipped
    return pack(sent * (1 + (x < 0).to(torch.uint8)), 2), scale  # 1 for +, 2 for -


def terngrad_decode(message, s):
    packed, scale = message
    codes = unpack(packed, 2, s.n)
    return ((codes & 1).float() - (codes >> 1).float()) * scale


# Natural compression (Horváth et al., 2019): ±m·2^e, m in [1, 2), becomes ±2^(e+1) with probability m - 1, else ±2^e.
# The mantissa carries into the exponent where mantissa + random of 23 bits overflows. Code: sign, e + 111 of -110 to 16.
def natural_encode(x, s):
    bits = x.view(torch.int32)
    exponent = (((bits & 0x7FFFFFFF) + torch.randint_like(bits, 1 << 23)) >> 23) - 127
    low = torch.where(exponent < -110, 0, exponent.clamp(max=16) + 111)
    return (low | bits >> 24 & 128).to(torch.uint8)


def natural_decode(message, s):
    low, sign = (message & 127).int(), (message & 128).int() << 24
    return (torch.where(low == 0, 0, (low + 16) << 23) | sign).view(torch.float32)


# Random-k: k elements at random, without replacement; workers share the seed, so indices do not travel.
def random_k_encode(x, s):
    s.indices = torch.randperm(s.n, device=x.device)[: kept(s.n)]
    return x[s.indices]


def random_k_decode(message, s):
    return scattered(s.indices, message, s.n)


# Top-k (Aji and Heafield, EMNLP 2017): the k largest magnitudes.
def top_k_encode(x, s):
    indices = x.abs().topk(kept(s.n), sorted=False).indices
    return x[indices], indices.int()


def sparse_decode(message, s):
    values, indices = message
    return scattered(indices.long(), values, s.n)


# Threshold-v: |x| > v
def threshold_encode(x, s):
    indices = (x.abs() > THRESHOLD).nonzero().flatten()
    return x[indices], indices.int()


# DGC (Lin et al., ICLR 2018): u ← μu + x, v ← v + u. Sends the elements of v that reach the hundredth largest of a
# sample, and clears them in u and v.
def dgc_start(x, s):
    s.u, s.v = torch.zeros_like(x), torch.zeros_like(x)


def dgc_encode(x, s):
    s.u.mul_(MOMENTUM).add_(x)
    s.v.add_(s.u)
    sample = s.v[torch.randint(s.n, (kept(s.n),), device=x.device)].abs()
    mask = s.v.abs() >= sample.topk(kept(sample.numel())).values[-1]
    indices = mask.nonzero().flatten()
    values = s.v[indices]
    s.u.masked_fill_(mask, 0)
    s.v.masked_fill_(mask, 0)
    return values, indices.int()


# Adaptive (Dryden et al., MLHPC 2016): for each sign, elements that reach a sample's hundredth largest, as their mean.
def adaptive_encode(x, s):
    message = []
    for sign in (1, -1):
        mine = sign * x
        sample = mine[torch.randint(s.n, (kept(s.n),), device=x.device)]
        sample = sample[sample > 0]
        threshold = sample.topk(kept(sample.numel())).values[-1] if sample.numel() > 0 else math.inf
        indices = (mine >= threshold).nonzero().flatten()
        message += [indices.int(), x[indices].mean() if indices.numel() > 0 else x.new_zeros(())]
    return message


def adaptive_decode(message, s):
    dense = torch.zeros(s.n, device=message[0].device)
    for indices, mean in (message[:2], message[2:]):
        dense[indices.long()] = mean
    return dense


# SketchML (Jiang et al., SIGMOD 2018), its quantiles: edge j is element j·n/q in order; an element becomes its quantile's mean.
def sketch_encode(x, s):
    edges = x.sort().values[torch.arange(1, QUANTILES, device=x.device) * s.n // QUANTILES]
    codes = torch.bucketize(x, edges, right=True)
    sums, counts = (torch.zeros(QUANTILES, device=x.device).scatter_add_(0, codes, what) for what in (x, torch.ones_like(x)))
    return codes.to(torch.uint8), sums / counts.clamp(min=1)


def sketch_decode(message, s):
    codes, means = message
    return means[codes.long()]


# 3LC (Lim et al., MLSys 2019): trit t = round(x/M), M = s·max|x|. A byte has five trits, Σ (t_k + 1)·3^(4-k). A run of
# 2 to 14 bytes 121, which have five zeros each, becomes 243 + length - 2.
def three_lc_start(x, s):
    s.powers = torch.tensor([81, 27, 9, 3, 1], dtype=torch.uint8, device=x.device)


def three_lc_encode(x, s):
    scale = SPARSITY * x.abs().max()
    trits = (x.abs() * 2 >= scale) * x.sign()  # not round(), which takes one half to 0
    digits = torch.nn.functional.pad((trits + 1).to(torch.uint8), (0, -s.n % 5), value=1).view(-1, 5)
    return zero_runs((digits * s.powers).sum(1, dtype=torch.uint8)), scale


def zero_runs(codes):
    zero, places = codes == 121, torch.arange(codes.numel(), device=codes.device)
    last = torch.where(zero, -1, places).cummax(0).values  # the last byte that is not zero
    first = ~zero | ((places - last - 1) % 14 == 0)        # begins a byte of the message
    starts = first.nonzero().flatten()
    lengths = torch.diff(starts, append=starts.new_tensor([codes.numel()]))
    return torch.where(lengths > 1, 241 + lengths, codes[starts]).to(torch.uint8)


def three_lc_decode(message, s):
    runs, scale = message
    long_run = runs >= 243
    codes = torch.where(long_run, 121, runs).repeat_interleave(torch.where(long_run, runs.long() - 241, 1))
    return ((codes[:, None] // s.powers % 3).float() - 1).flatten()[: s.n] * scale


# The matrix of low-rank methods: floor(√n) rows, as long as possible; fewer elements than a row has are left out.
def matrix_of(x):
    rows = math.isqrt(x.numel())
    columns = x.numel() // rows
    return x[: rows * columns].view(rows, columns)


# PowerSGD (Vogels et al., NeurIPS 2019): P = MQ, its columns made orthonormal by Gram-Schmidt, Q = MᵀP; M ≈ PQᵀ.
def power_start(x, s):
    s.q = torch.randn(matrix_of(x).shape[1], RANK, device=x.device)


def power_encode(x, s):
    matrix = matrix_of(x)
    p = matrix @ s.q
    for i in range(p.shape[1]):
        column, rest = p[:, i : i + 1], p[:, i + 1 :]
        column /= column.norm() + 1e-20
        rest -= column * (column * rest).sum(0)
    s.q = matrix.T @ p
    return p, s.q


def power_decode(message, s):
    p, q = message
    return (p @ q.T).flatten()


# ATOMO (Wang et al., NeurIPS 2018): M = Σ σ_i u_i v_iᵀ. Triplet i is sent with probability p_i, as σ_i/p_i. From the
# largest on, p_i = 1 while budget·σ_i > Σ_{j≥i} σ_j; each one lowers the budget by one. The others have
# p_i = budget·σ_i/Σσ.
def atomo_encode(x, s):
    u, sigma, v = torch.linalg.svd(matrix_of(x), full_matrices=False)
    probabilities, budget = sigma.tolist(), TRIPLETS
    left = math.fsum(probabilities)
    for i, value in enumerate(probabilities):
        if budget * value <= left:
            probabilities[i:] = [budget * rest / left if left > 0 else 0.0 for rest in probabilities[i:]]
            break
        left, budget, probabilities[i] = left - value, budget - 1, 1.0
    p = torch.tensor(probabilities, device=x.device)
    drawn = (torch.rand_like(p) < p).nonzero().flatten()
    return u[:, drawn], sigma[drawn] / p[drawn], v[drawn]


def atomo_decode(message, s):
    u, sigma, v = message
    return ((u * sigma) @ v).flatten()


# Our kernels ----------------------------------------------------------------------------------------------------------


class Kernel(NamedTuple):
    name: str        # as kernels/cpu/ describes it
    passes: int = 1  # samples are times of one
    scale: float = 1  # kernel's n over the method's


def no_state(x, s):
    pass


class Method(NamedTuple):
    encode: Callable
    decode: Callable
    encode_kernels: list
    decode_kernels: list
    start: Callable = no_state
    largest: float = math.inf


FILL = Kernel("fill/zero")
SCATTER = [FILL, Kernel("scatter/random-k")]
METHODS = {
    "fp16": Method(fp16_encode, fp16_decode, [Kernel("cast/fp16-encode")], [Kernel("cast/fp16-decode")]),
    "8-bit": Method(eight_bit_encode, eight_bit_decode, [Kernel("max-abs/8-bit"), Kernel("quantize/8-bit")], [Kernel("decode/8-bit")], eight_bit_start),
    "1-bit": Method(one_bit_encode, one_bit_decode, [Kernel("sign-means/1-bit")], [Kernel("decode/1-bit")]),
    "signsgd": Method(sign_encode, sign_decode, [Kernel("sign-pack/signsgd")], [Kernel("decode/signsgd")]),
    "ef-signsgd": Method(ef_sign_encode, ef_sign_decode, [Kernel("compensate-encode-remember/ef-signsgd")], [Kernel("decode/ef-signsgd")], ef_sign_start),
    "qsgd": Method(qsgd_encode, qsgd_decode, [Kernel("norm-quantize/qsgd")], [Kernel("decode/qsgd")]),
    "terngrad": Method(terngrad_encode, terngrad_decode, [Kernel("moments/terngrad"), Kernel("clipped-max/terngrad"), Kernel("quantize/terngrad")], [Kernel("decode/terngrad")]),
    "natural": Method(natural_encode, natural_decode, [Kernel("round-exponent/natural")], [Kernel("decode/natural")]),
    "random-k": Method(random_k_encode, random_k_decode, [Kernel("random-indices/random-k"), Kernel("gather/random-k")], SCATTER),
    "top-k": Method(top_k_encode, sparse_decode, [Kernel("select-compact/top-k", 2)], SCATTER),
    # The scatter of a vector 4.24 times as long has the elements that pass the threshold: it keeps 1 %, the threshold 4.24 %.
    "threshold": Method(threshold_encode, sparse_decode, [Kernel("count/threshold"), Kernel("compact/threshold")], [FILL, Kernel("scatter/random-k", 1, 4.24)]),
    "dgc": Method(dgc_encode, sparse_decode,
                  [Kernel("momentum-correction/dgc"), Kernel("sample/dgc"), Kernel("radix-select/dgc", 4), Kernel("count/dgc"), Kernel("compact/dgc"), Kernel("clear-sent/dgc")], SCATTER, dgc_start),
    # Each sign has its sample, half as large as DGC's, and its sweeps.
    "adaptive": Method(adaptive_encode, adaptive_decode,
                       [Kernel("sample/adaptive", 2), Kernel("radix-select/dgc", 8, 0.5), Kernel("count/adaptive", 2), Kernel("compact-mean/adaptive", 2)], [FILL, Kernel("scatter/adaptive")]),
    "sketchml": Method(sketch_encode, sketch_decode,
                       [Kernel("radix-sort/sketchml", 4), Kernel("quantile-edges/sketchml"), Kernel("find-bins/sketchml"), Kernel("segment-means/sketchml")], [Kernel("decode/sketchml")]),
    "3lc": Method(three_lc_encode, three_lc_decode, [Kernel("max-abs/8-bit"), Kernel("quantize/3lc"), Kernel("zero-runs/3lc")], [Kernel("decode/3lc")], three_lc_start),
    "powersgd": Method(power_encode, power_decode, [Kernel("matrix-product/powersgd-p"), Kernel("gram-schmidt/powersgd", 4), Kernel("matrix-product/powersgd-q")],
                       [Kernel("matrix-product/powersgd-decode")], power_start),
    # Decoding is a product of rank 3 in expectation; PowerSGD's of rank 4 stands for it.
    "atomo": Method(atomo_encode, atomo_decode, [Kernel("svd/atomo"), Kernel("gather/atomo")], [Kernel("matrix-product/powersgd-decode")], largest=1 << 17),
}


def event_overhead(single, chain, count):
    """Seconds that the events add to a sample, and those of a launch: as calibrate/event_overhead.hpp has it."""
    events = max(0.0, (count * single - chain) / (count - 1))
    return events, (chain - events) / count


def without_events(time, events, launch):
    """At least a launch, or the time itself where that is less."""
    return max(time - events, min(time, launch))


def read_samples(path):
    """The device's name, {kernel: [(size, median of cold samples without the events' share)] by size}, and event_overhead."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")[:-1]  # a last line without its end was not written whole
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"{path}: {error}; --samples wants the file that stepcast-calibrate device leaves beside its profile")
    device, cold, repeats = None, {}, {}
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            if number == 1:
                if record["format"] != "stepcast-samples":
                    raise KeyError("format")
                device = record["device"]["name"]
            else:
                cold.setdefault(record["name"], {}).setdefault(record["size"], []).extend(record["cold_s"])
                repeats[record["name"]] = record["repeats"]
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ScriptError(f"{path}:{number}: found \"{line[:40]}\"; allowed: a line of a calibration's samples ({error!r}); calibrate anew")
    if device is None:
        raise ScriptError(f"{path}: found nothing; allowed: the samples of a calibration")
    medians = {name: sorted((size, statistics.median(times)) for size, times in sizes.items() if times) for name, sizes in cold.items()}
    for name in ("device/single", "device/launch"):
        if not medians.get(name):
            raise ScriptError(f"{path}: there are no samples of {name}, without which it is not known what the events add to a time; run the calibration again")
    count = repeats["device/launch"]
    events, launch = event_overhead(medians["device/single"][-1][1], count * medians["device/launch"][-1][1], count)
    return device, {name: [(size, without_events(time, events / repeats[name], launch / repeats[name])) for size, time in points] for name, points in medians.items()}, (events, launch)


def time_at(points, n):
    """Between measured sizes linear in logarithms; so up to a tenth beyond the largest; None elsewhere."""
    if len(points) < 2 or not points[0][0] <= n <= 1.1 * points[-1][0]:
        return None
    upper = next((i for i, (size, _) in enumerate(points) if i > 0 and n <= size), len(points) - 1)
    (low, before), (high, after) = points[upper - 1 : upper + 1]
    return before * (after / before) ** (math.log(n / low) / math.log(high / low))


def our_time(times, kernels, n):
    """(seconds, None), or (None, why there are none)."""
    total = 0
    for kernel in kernels:
        if kernel.name not in times:
            return None, f"no samples of {kernel.name}"
        one = time_at(times[kernel.name], kernel.scale * n)
        if one is None:
            return None, f"{kernel.name} was not measured at {kernel.scale * n:.0f} elements"
        total += kernel.passes * one
    return total, None


# Timing -------------------------------------------------------------------------------------------------------------


class Timer:
    WARM_UP = 3

    def __init__(self, device, samples):
        self.device, self.samples, self.flush = device, samples, Flush(torch, device)

    def seconds(self, run):
        for _ in range(self.WARM_UP):
            run()
        return [seconds(torch, self.device, run, self.flush) for _ in range(self.samples)]


def part(timer, run, times, overhead, kernels, n):
    """One direction of a method at one size."""
    events, launch = overhead
    samples = [without_events(one, events, launch) for one in timer.seconds(run)]
    result = {"torch_s": statistics.median(samples), "quartiles_s": outer_quartiles(samples), "ours_s": None, "ratio": None, "kernels": [kernel.name for kernel in kernels], "samples_s": samples}
    if times is None:
        result["why"] = "no samples were given"
        return result
    result["ours_s"], why = our_time(times, kernels, n)
    if why is None and timer.device == "cpu":
        why = "PyTorch ran on a CPU"
    if why is None:
        result["ratio"] = result["torch_s"] / result["ours_s"]
    else:
        result["why"] = why
    return result


def compare(options, times, overhead, keep):
    """All results; keep(those so far) is called after each."""
    timer, results = Timer(options.device, options.samples_each), []
    for name in options.methods:
        method = METHODS[name]
        for n in options.sizes:
            if n > method.largest:
                continue
            result = {"method": name, "size": n}
            try:
                torch.manual_seed(1)
                x, state = torch.randn(n, device=options.device), SimpleNamespace(n=n)
                method.start(x, state)
                result["encode"] = part(timer, lambda: method.encode(x, state), times, overhead, method.encode_kernels, n)
                message = method.encode(x, state)
                result["decode"] = part(timer, lambda: method.decode(message, state), times, overhead, method.decode_kernels, n)
            except torch.cuda.OutOfMemoryError:
                result["why"] = "the device's memory does not suffice"
            except RuntimeError as error:  # an error of a library concerns only this method
                result["why"] = f"PyTorch: {(str(error).strip() or type(error).__name__).splitlines()[0]}"
            results.append(result)
            print(f"{name}, {n} elements", file=sys.stderr)
            keep(results)
    return results


def table(document):
    def cells(way):
        if way is None:
            return f"{'-':>10} {'-':>10} {'-':>7}"
        ours = f"{1e6 * way['ours_s']:.1f}" if way["ours_s"] is not None else "-"
        return f"{1e6 * way['torch_s']:>10.1f} {ours:>10} {('%.2f' % way['ratio']) if way['ratio'] is not None else '-':>7}"

    lines = [document["note"]] if document["note"] else []
    lines.append(f"{'':<12} {'elements':>10} {'encode us':>10} {'ours':>10} {'ratio':>7} {'decode us':>10} {'ours':>10} {'ratio':>7}")
    lines += [f"{r['method']:<12} {r['size']:>10} {cells(r.get('encode'))} {cells(r.get('decode'))}{'  ' + r['why'] if 'why' in r else ''}" for r in document["results"]]
    return "\n".join(lines) + "\n"


def parse(arguments):
    def sizes(text):
        return [int(word) for word in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples")
    parser.add_argument("--sizes", type=sizes, default=SIZES)
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--samples-each", type=int, default=20, help="times of each method, size and direction")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--output")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.methods if name not in METHODS]:
        parser.error(f"--methods: found {', '.join(unknown)}; allowed: {', '.join(METHODS)}")
    if min(options.sizes) < 1:
        parser.error(f"--sizes: found {min(options.sizes)}; allowed: 1 or more elements")
    if options.samples_each < 1:
        parser.error(f"--samples-each: found {options.samples_each}; allowed: 1 or more")
    return options


def main(arguments):
    options = parse(arguments)
    import_torch()
    check_device(torch, options.device)
    device = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    calibrated, times, overhead = read_samples(options.samples) if options.samples else (None, None, (0.0, 0.0))
    if options.device == "cpu":
        overhead = (0.0, 0.0)  # no events there
    if options.device == "cuda" and calibrated not in (None, device):
        raise ScriptError(f"{options.samples} is of \"{calibrated}\", PyTorch runs on \"{device}\"; take samples of this device")
    document = {
        "format": "stepcast-torch-compressors", "device": device, "torch": torch.__version__, "samples": options.samples, "calibrated": calibrated,
        "note": "" if options.device == "cuda" else "PyTorch on a CPU: these times mean nothing"}

    def keep(results):
        document["results"] = results
        if options.output: write(json.dumps(document, indent=1) + "\n", options.output)

    keep([])
    compare(options, times, overhead, keep)
    text = json.dumps(document, indent=1) + "\n"
    sys.stdout.write(text if options.json else table(document))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ScriptError as error:
        sys.exit(f"torch_compressors.py: {error}")
