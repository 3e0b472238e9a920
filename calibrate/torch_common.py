"""Parts that the PyTorch scripts of this folder share."""
import os
import statistics
import sys
import time


DTYPES = {"fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}  # torch's names


class ScriptError(Exception):
    """A fault that stops the script, and its remedy."""


def import_torch():
    try:
        import torch
    except ImportError as error:
        raise ScriptError(f"torch cannot be imported by {sys.executable}; install Debian's python3-torch or PyPI's torch, or run another Python") from error
    return torch


def check_device(torch, device):
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ScriptError("PyTorch sees no CUDA device; --device cpu runs on the CPU")


def seconds(torch, device, run, before=lambda: None):
    """One run's seconds: by events around its kernels, which wait for those of before(); by the clock on a CPU."""
    if device == "cpu":
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    before()
    begin.record()
    run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1e3


class Flush:
    """Called before a run on the device: L2 then holds none of its data. The device is kept busy while PyTorch queues it."""

    BUSY_CYCLES = 2_000_000  # about 1 ms

    def __init__(self, torch, device):
        self.torch = torch
        if device == "cuda":
            l2 = getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "L2_cache_size", 0) or 64 << 20
            self.written, self.read = (torch.zeros(l2 // 2, dtype=torch.float32, device=device) for _ in range(2))  # twice L2 each

    def __call__(self):
        self.written.zero_()
        self.read.sum()  # or L2 had lines to write back while the run reads
        self.torch.cuda._sleep(self.BUSY_CYCLES)


def outer_quartiles(samples):
    low, _, high = statistics.quantiles(samples, n=4) if len(samples) > 1 else samples * 3
    return [low, high]


def write(text, path):
    """All of the file or nothing; - is standard output."""
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        with open(path + ".partial", "w", encoding="utf-8") as file: file.write(text)
        os.replace(path + ".partial", path)
    except OSError as error:
        raise ScriptError(f"{path} cannot be written: {error.strerror}; choose another path by --output") from error
