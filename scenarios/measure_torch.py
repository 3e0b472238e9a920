#!/usr/bin/env python3
"""Times training steps of a PyTorch model on one device and writes a workload with times (workloads/*.json): forward,
when each gradient is ready in backward, the update. Any model will do; its layers need not be known to stepcast.

In a training loop of your own, on one worker, without DDP or FSDP around the model:

    from measure_torch import StepTimer         # PYTHONPATH=.../scenarios

    timer = StepTimer(model)
    for inputs, labels in batches:              # 50 steps or so
        with timer.forward():
            loss = criterion(model(inputs), labels)
        with timer.backward():
            loss.backward()
        with timer.update():
            optimizer.step()
            optimizer.zero_grad()
    timer.write("workloads/my-net.json", batch=32, optimizer="adam")

Several passes of forward and backward before an update are `accumulation`. Of a module that is called with tensors and
whose loss is softmax and cross-entropy, the same from the command line, on random inputs:

    measure_torch.py torchvision.models:resnet50 --input 3,224,224 --batch 32 --output workloads/my-resnet50.json
    measure_torch.py mynet:Net --path . --input 128 --input-dtype int64:30522 --compute-dtype bf16 --optimizer adam

Times are CUDA events on the stream that computes, so that the device need not wait for this program, and medians over
the steps after the first ten. Gradients are marked in every second step: marks cost a little, and backward takes what it
takes without them. What lies between the steps, as loading data, is told and left out. `--device cpu` and models on the
CPU are timed by the CPU's clock. Needs torch; stepcast itself does not.
"""
import argparse
import contextlib
import datetime
import json
import math
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import export_torch as exporter


class MeasureError(Exception):
    """What stands in the way, and the remedy."""


# Steps ------------------------------------------------------------------------------------------------------------
# Marks are points in time of whatever kind, which `seconds(earlier, later)` can tell apart once all is over; nothing
# of torch is needed.


@dataclass
class Span:
    begin: object
    end: object = None


@dataclass
class Pass:
    forward: Span
    backward: Span = None
    ready: dict = field(default_factory=dict)  # by gradient; empty in passes without marks


@dataclass
class Step:
    passes: list = field(default_factory=list)
    update: Span = None


@dataclass
class Times:
    """Medians, in seconds: of a pass, and `update` of a step."""

    forward: float
    gaps: list  # of (gradient, since the one before), in the order in which they are ready; together all of backward
    update: float
    between: float  # from step to step, in none of these
    passes: int  # of a step
    steps: int
    backward_quartiles: tuple

    @property
    def backward(self):
        return sum(gap for _, gap in self.gaps)


class Steps:
    """What a worker did when."""

    LEAST = 4  # steps, half of them with marks

    def __init__(self, now, warm_up):
        self.now, self.warm_up = now, warm_up
        self.done, self.step, self.span = [], Step(), None

    @contextlib.contextmanager
    def _timed(self, what):
        if self.span: raise MeasureError(f"{what}() inside another one; forward, backward and update follow each other")
        self.span = span = Span(self.now())
        try:
            yield span
            span.end = self.now()
        finally:
            self.span = None

    @contextlib.contextmanager
    def forward(self):
        with self._timed("forward") as span: yield
        self.step.passes.append(Pass(span))

    @contextlib.contextmanager
    def backward(self):
        if not self.step.passes or self.step.passes[-1].backward:
            raise MeasureError("backward() without a forward() of its own before it")
        with self._timed("backward") as span:
            self.step.passes[-1].backward = span
            yield

    @contextlib.contextmanager
    def update(self):
        if not self.step.passes or not self.step.passes[-1].backward:
            raise MeasureError("update() without backward() before it; each step is forward, backward, update")
        with self._timed("update") as span: yield
        self.step.update = span
        self.done.append(self.step)
        self.step = Step()

    def ready(self, gradient):
        """A gradient has been added up; of several times in a pass the last one counts."""
        if len(self.done) % 2 == 0 or not self.step.passes: return
        last = self.step.passes[-1]
        if last.backward and last.backward.end is None: last.ready[gradient] = self.now()

    def times(self, seconds):
        """Medians over the steps after those of the warm-up."""
        kept = self.done[self.warm_up :]
        if len(kept) < self.LEAST:
            raise MeasureError(f"{len(self.done)} steps, of which the first {self.warm_up} warm up; time at least {self.warm_up + self.LEAST}")
        counts = {len(step.passes) for step in kept}
        if len(counts) > 1:
            raise MeasureError(f"steps of {min(counts)} to {max(counts)} passes; a workload's steps all have as many: time such alone")
        passes = [a_pass for step in kept for a_pass in step.passes]
        marked, plain = [p for p in passes if p.ready], [p for p in passes if not p.ready]
        if not marked: raise MeasureError("no parameter had a gradient; is the model the one that was given?")

        def length(span): return seconds(span.begin, span.end)

        def between(step, following):
            busy = sum(length(p.forward) + length(p.backward) for p in following.passes) + length(following.update)
            return seconds(step.update.end, following.update.end) - busy

        backward = [length(p.backward) for p in plain]
        low, middle, high = statistics.quantiles(backward, n=4)
        return Times(forward=statistics.median(length(p.forward) for p in passes),
                     gaps=self._gaps(marked, statistics.median(backward), seconds),
                     update=statistics.median(length(step.update) for step in kept),
                     between=max(0.0, statistics.median(map(between, kept, kept[1:]))),
                     passes=counts.pop(), steps=len(kept), backward_quartiles=(low, high))

    @staticmethod
    def _gaps(marked, backward, seconds):
        """Gaps that add up to `backward`, what passes without marks take: what follows the last gradient counts as before it."""
        gradients = set(marked[0].ready)
        for other in marked:
            if odd := gradients ^ set(other.ready):
                raise MeasureError(f"{sorted(odd)[0]} has a gradient in some passes only; a workload has the same in each")
        cost = statistics.median(seconds(p.backward.begin, p.backward.end) for p in marked) / backward
        ready = sorted((statistics.median(seconds(p.backward.begin, p.ready[g]) for p in marked) / cost, g) for g in gradients)
        ends = [at for at, _ in ready[:-1]] + [backward]
        return [(g, end - begin) for (_, g), begin, end in zip(ready, [0.0, *ends], ends)]


# The file -----------------------------------------------------------------------------------------------------------


@dataclass
class Gradient:
    name: str
    dims: list
    dtype: str  # fp32, bf16, fp16


def duration(seconds, digits=6):
    return f"{seconds * 1e6:.{digits}g}us" if seconds < 1e-3 else f"{seconds * 1e3:.{digits}g}ms"


def dtype_of(gradients):
    types = {gradient.dtype for gradient in gradients}
    if len(types) > 1: raise MeasureError(f"gradients of {' and '.join(sorted(types))}; a workload has one type")
    return types.pop()


def document(times, gradients, head):
    """The workload, as text; `head` has what the times do not say: name, source, batch, ..."""
    head = {"$schema": "../workload.schema.json", **head, **({"accumulation": times.passes} if times.passes > 1 else {}),
            "parameters": sum(math.prod(gradients[name].dims) for name, _ in times.gaps),
            "forward": duration(times.forward), "update": duration(times.update)}
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    tensors = [{"name": name, "elements": math.prod(gradients[name].dims), "gap": duration(gap), **({"dims": gradients[name].dims} if len(gradients[name].dims) > 1 else {})}
               for name, gap in times.gaps]
    return "\n".join(["{", *lines, '  "gradients": [', ",\n".join("    " + json.dumps(tensor, ensure_ascii=False) for tensor in tensors), "  ]", "}"]) + "\n"


def measured(times, batch, dtype, optimizer):
    """The same as `measured` of a workload with shapes, in JSON."""
    return json.dumps({"forward": duration(times.forward, 4), "backward": duration(times.backward, 4), "update": duration(times.update, 4),
                       "optimizer": optimizer, "batch": batch, "dtype": dtype})


# PyTorch ------------------------------------------------------------------------------------------------------------


class StepTimer(Steps):
    """Times a model's training steps; see this file's beginning.

    The first `warm_up` steps are not counted. Raises MeasureError where steps are not as a workload has them.
    """

    TYPES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}
    OTHERS = {"DistributedDataParallel", "FullyShardedDataParallel", "DataParallel"}

    def __init__(self, model, warm_up=10):
        import torch

        self.torch = torch
        if type(model).__name__ in self.OTHERS:
            raise MeasureError(f"the model is in a {type(model).__name__}, whose exchange would be timed too; give and train the module inside it, on one device")
        trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        devices = {p.device for _, p in trained}
        if len(devices) != 1 or next(iter(devices)).type not in ("cuda", "cpu"):
            raise MeasureError(f"trained parameters on {', '.join(sorted(map(str, devices))) or 'no device'}; allowed is one CUDA device, or the CPU")
        if odd := {str(p.dtype) for _, p in trained} - {f"torch.{name}" for name in self.TYPES}:
            raise MeasureError(f"parameters of {sorted(odd)[0]}; allowed are {', '.join(self.TYPES)}")
        self.device = devices.pop()
        super().__init__(self._event if self.device.type == "cuda" else time.perf_counter, warm_up)
        self.gradients = {name: Gradient(name, list(p.shape), self.TYPES[str(p.dtype).removeprefix("torch.")]) for name, p in trained}
        self._hooks = [self._hook(p, name) for name, p in trained]  # a node lives as long as someone has it

    def _event(self):
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def _hook(self, parameter, name):
        """Calls ready(name) when the parameter's gradient has been added to what it has; as DDP itself learns it."""
        with self.torch.enable_grad():
            node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
        node.register_hook(lambda *_: self.ready(name))
        return node

    def medians(self):
        if self.device.type != "cuda": return self.times(lambda a, b: b - a)
        self.torch.cuda.synchronize(self.device)
        return self.times(lambda a, b: a.elapsed_time(b) / 1e3)

    def device_name(self):
        if self.device.type == "cuda": return self.torch.cuda.get_device_name(self.device)
        return "a CPU"

    def write(self, path, batch, optimizer="momentum", name=None, description="", sample="sample", dtype=None):
        """Writes the workload and says on standard error what is in it.

        batch: samples of a pass. optimizer: sgd, momentum or adam, for the memory of its state. dtype: of the gradients,
        where it is not the parameters' (tf32: fp32, multiplied so).
        """
        times = self.medians()
        dtype = dtype or dtype_of(self.gradients[name] for name, _ in times.gaps)
        low, high = times.backward_quartiles
        source = (f"Measured on {self.device_name()} with PyTorch {self.torch.__version__}, {datetime.date.today()}: medians of {times.steps} steps after {self.warm_up}; "
                  f"half of the backward passes took {duration(low, 4)} to {duration(high, 4)}.")
        name = name or (Path(path).stem if path != "-" else "measured")
        exporter.write(document(times, self.gradients, {"name": name, "description": description, "source": source, "batch": batch,
                                                        "sample": sample, "dtype": dtype, "optimizer": optimizer}), path)
        print(self._summary(times, measured(times, batch, dtype, optimizer)), file=sys.stderr)

    def _summary(self, times, as_measured):
        ready = {name for name, _ in times.gaps}
        elements = sum(math.prod(self.gradients[name].dims) for name in ready)
        lines = [f"{len(ready)} gradients, {elements:,} parameters; forward {duration(times.forward, 4)}, backward {duration(times.backward, 4)}, update {duration(times.update, 4)}",
                 f"for a workload with layers' shapes, with the name of this device's profile added: \"measured\": {as_measured}"]
        if without := [name for name in self.gradients if name not in ready]:
            lines.append(f"left out, since they had no gradient: {', '.join(without[:5])}{' ...' if len(without) > 5 else ''}")
        busy = times.passes * (times.forward + times.backward) + times.update
        if times.between > 0.02 * (busy + times.between):
            lines.append(f"left out: {duration(times.between, 4)} between steps, {times.between / (busy + times.between):.0%} of the time (loading data, logging, waiting)")
        if self.device.type == "cuda":
            lines.append(f"largest memory allocated: {self.torch.cuda.max_memory_allocated(self.device) / 1e9:.3g} GB")
        return "\n".join(lines)


# The command line ---------------------------------------------------------------------------------------------------


def random_inputs(torch, options, device, dtype):
    made = []
    for sizes, kind in zip(options.input, options.input_dtype + ["float"] * len(options.input)):
        shape = [options.batch, *map(int, sizes.split(","))]
        if kind == "float":
            made.append(torch.randn(shape, device=device, dtype=dtype))
            continue
        name, _, largest = kind.partition(":")
        if name not in ("int32", "int64") or not largest.isdigit() or int(largest) < 1:
            raise MeasureError(f"--input-dtype {kind}; allowed are float, and int64:N or int32:N for numbers below N")
        made.append(torch.randint(int(largest), shape, device=device, dtype=getattr(torch, name)))
    return made


def scores_of(torch, output):
    """What the loss is taken of: (rows, classes), or as cross-entropy has images: (samples, classes, rows, columns)."""
    output = getattr(output, "logits", output)
    while isinstance(output, (tuple, list)): output = output[0]
    if not isinstance(output, torch.Tensor) or output.dim() < 2:
        raise MeasureError("the output has no classes for a loss; time a training loop of your own by StepTimer")
    return output if output.dim() == 4 else output.reshape(-1, output.shape[-1])


def run(torch, options):
    device = torch.device(options.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise MeasureError("PyTorch sees no CUDA device; --device cpu times the CPU")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = options.dtype == "tf32"
    torch.backends.cudnn.benchmark = True  # as training scripts do: the fastest algorithm of each shape
    dtype = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[options.dtype]
    model, callable_name = exporter.make(options)
    model = model.to(device=device, dtype=dtype)
    inputs = random_inputs(torch, options, device, dtype)
    call = torch.compile(model) if options.compile else model
    autocast = contextlib.nullcontext()
    if options.compute_dtype:
        autocast = torch.autocast(device.type, dtype={"bf16": torch.bfloat16, "fp16": torch.float16}[options.compute_dtype])
    parameters = [p for p in model.parameters() if p.requires_grad]
    if options.optimizer == "adam": optimizer = torch.optim.Adam(parameters, lr=1e-6, fused=device.type == "cuda")
    else: optimizer = torch.optim.SGD(parameters, lr=1e-6, momentum=0.9 if options.optimizer == "momentum" else 0.0)
    with torch.no_grad(), autocast: scores = scores_of(torch, call(*inputs))
    labels = torch.randint(scores.shape[1], [scores.shape[0], *scores.shape[2:]], device=device)
    timer = StepTimer(model, options.warm_up)
    for _ in range(options.warm_up + options.steps):
        with timer.forward(), autocast:
            loss = torch.nn.functional.cross_entropy(scores_of(torch, call(*inputs)), labels)
        with timer.backward():
            loss.backward()
        with timer.update():
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    timer.write(options.output, options.batch, options.optimizer, options.name or callable_name, options.description, options.sample, options.dtype)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    exporter.add_module(parser)
    parser.add_argument("--input-dtype", action="append", default=[], metavar="TYPE", help="of each input, in order: float (the default, as the parameters), int64:N for tokens below N")
    parser.add_argument("--dtype", choices=["fp32", "tf32", "bf16", "fp16"], default="fp32", help="of parameters and gradients (fp32)")
    parser.add_argument("--compute-dtype", choices=["bf16", "fp16"], help="forward and backward under torch.autocast")
    parser.add_argument("--compile", action="store_true", help="by torch.compile: gradients are then ready in few groups, which DDP cuts at its buckets and one device does not show")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, cpu (cuda)")
    parser.add_argument("--warm-up", type=int, default=10, help="steps before those that count (10)")
    parser.add_argument("--steps", type=int, default=40, help="steps that count (40)")
    exporter.add_document(parser)
    return parser.parse_args()


def main():
    options = arguments()
    torch = exporter.import_torch("measure_torch.py")
    try:
        run(torch, options)
    except (MeasureError, exporter.ExportError, ImportError, AttributeError, TypeError, ValueError, RuntimeError, OSError) as error:
        sys.exit(f"measure_torch.py: {options.what}: {error}")


if __name__ == "__main__":
    main()
