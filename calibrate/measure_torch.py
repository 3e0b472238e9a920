#!/usr/bin/env python3
"""Times training steps of a PyTorch model on one device and writes a workload with times (workloads/*.json). The times are
those of forward, of each gradient's readiness in backward, and of the update. stepcast need not know the layers.

In your training loop, on one worker, without DDP or FSDP around the model (with DDP, give ddp.module and train under
ddp.no_sync()):

    from measure_torch import StepTimer         # PYTHONPATH=.../calibrate

    timer = StepTimer(model)                    # times 40 steps after 10, and then does nothing any more
    for inputs, labels in batches:
        with timer.forward():
            loss = criterion(model(inputs), labels)
        with timer.backward():
            loss.backward()
        with timer.update():
            optimizer.step()
            optimizer.zero_grad()
        if timer.is_complete: break
    timer.write("workloads/my-net.json", batch=32, optimizer=optimizer)

Work between backward and update, like clipping and unscaling, counts as update. Work between forward and backward counts
as forward. Work between steps, like loading data, is reported and left out. Several passes of forward and backward before
an update are `accumulation`. Put all models that a step trains together into one torch.nn.ModuleList. Optimizers that
call a closure cannot be timed.

The command line does the same with random inputs, for a module that is called with tensors, with softmax and
cross-entropy as its loss:

    measure_torch.py torchvision.models:resnet50 --input 3,224,224 --batch 32 --output workloads/my-resnet50.json
    measure_torch.py mynet:Net --path . --input 128 --input-dtype int64:30522 --compute-dtype bf16 --optimizer adam

Times are medians over the steps, by CUDA events on the computing stream, so the device need not wait for this program.
Hooks mark gradients in half of the steps only, and the time of backward comes from the others.
Models on the CPU are timed by its clock. Needs torch; stepcast itself does not.
"""
import argparse
import contextlib
import datetime
import json
import math
import statistics
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import export_torch as exporter
from torch_common import DTYPES, ScriptError, check_device, import_torch, write


# Steps ------------------------------------------------------------------------------------------------------------
# Marks are points in time of any kind; `seconds(earlier, later)` gives the time between two of them after the run;
# nothing of torch is needed.


@dataclass
class Pass:
    begin: object
    backward_begin: object = None
    backward_end: object = None
    ready: dict = field(default_factory=dict)  # by gradient; empty where the step is not marked


@dataclass
class Step:
    is_marked: bool
    passes: list = field(default_factory=list)
    end: object = None


@dataclass
class Times:
    """Medians, in seconds: of a pass, and `update` of a step."""

    forward: float
    gaps: list  # pairs of gradient and gap since the one before, in ready order; all gaps make up backward
    update: float
    between: float  # from one step's update to the next one's forward
    passes: int  # passes in a step
    steps: int
    backward_quartiles: tuple

    @property
    def backward(self):
        return sum(gap for _, gap in self.gaps)


class Steps:
    """Times of a worker's work: `steps` of its steps after `warm_up` others."""

    LEAST = 6  # at least two of them are marked, and two are not

    def __init__(self, now, warm_up, steps):
        if warm_up < 0 or steps < self.LEAST: raise ScriptError(f"{warm_up} steps of warm-up and {steps} that count; at least 0 and {self.LEAST}")
        self.now, self.warm_up, self.steps = now, warm_up, steps
        self.done, self.inside = [], None
        self._begin_step()

    @property
    def is_complete(self):
        return len(self.done) >= self.warm_up + self.steps

    def _begin_step(self):
        # The Thue-Morse sequence, which has no period that a training loop could share.
        self.step = Step(is_marked=bin(len(self.done)).count("1") % 2 == 1)

    def watch(self):
        """A pass with marks begins: ready() is to be called from now on."""

    def unwatch(self):
        """It has ended."""

    @contextlib.contextmanager
    def _part(self, what, begin, end):
        """A part of a timed step. If it raises, the step ends and does not count."""
        if self.inside: raise ScriptError(f"{what}() inside {self.inside}(); forward, backward and update follow each other")
        if self.is_complete:
            yield
            return
        begin(self.step.passes[-1] if self.step.passes else None)
        self.inside = what
        try:
            yield
            end()
        except BaseException:
            self.unwatch()
            self._begin_step()
            raise
        finally:
            self.inside = None

    def forward(self):
        def begin(last):
            if last and last.backward_end is None:
                raise ScriptError("forward() a second time without backward(); all that is computed forward for one backward, by other models too, goes into one forward(), and validation into none")
            if self.step.is_marked: self.watch()
            self.step.passes.append(Pass(self.now()))

        return self._part("forward", begin, lambda: None)

    def backward(self):
        def begin(last):
            if not last or last.backward_end is not None: raise ScriptError("backward() without a forward() of its own before it")
            last.backward_begin = self.now()

        def end():
            self.step.passes[-1].backward_end = self.now()
            self.unwatch()

        return self._part("backward", begin, end)

    def update(self):
        def begin(last):
            if not last or last.backward_end is None:
                raise ScriptError("update() without backward() before it; each step is forward, backward, update, and what a closure computes is in none of these")

        def end():
            self.step.end = self.now()
            self.done.append(self.step)
            self._begin_step()

        return self._part("update", begin, end)

    def ready(self, gradient):
        """A gradient has been added up; of several times in a pass the last one counts."""
        if self.inside == "backward" and self.step.is_marked: self.step.passes[-1].ready[gradient] = self.now()

    def times(self, seconds):
        """Medians over the steps after those of the warm-up."""
        kept = self.done[self.warm_up :]
        if len(kept) < self.LEAST:
            raise ScriptError(f"{len(self.done)} steps that update() ended, of which the first {self.warm_up} warm up; {self.LEAST} after these is the least, {self.steps} are wanted")
        counts = {len(step.passes) for step in kept}
        if len(counts) > 1: raise ScriptError(f"steps of {min(counts)} to {max(counts)} passes; a workload's steps all have as many: time such alone")

        def forward(a_pass): return seconds(a_pass.begin, a_pass.backward_begin)

        def backward(a_pass): return seconds(a_pass.backward_begin, a_pass.backward_end)

        def update(step): return seconds(step.passes[-1].backward_end, step.end)

        def between(step, following):
            busy = sum(forward(p) + backward(p) for p in following.passes) + update(following)
            return seconds(step.end, following.end) - busy

        marked = [p for step in kept if step.is_marked for p in step.passes]
        plain = [p for step in kept if not step.is_marked for p in step.passes]
        low, middle, high = statistics.quantiles(map(backward, plain), n=4)
        return Times(forward=statistics.median(map(forward, marked + plain)), gaps=self._gaps(marked, middle, seconds),
                     update=statistics.median(map(update, kept)),
                     between=max(0.0, statistics.median(between(*pair) for pair in zip(kept, kept[1:]) if not pair[1].is_marked)),
                     passes=counts.pop(), steps=len(kept), backward_quartiles=(low, high))

    @staticmethod
    def _gaps(marked, backward, seconds):
        """Gaps that add up to `backward`, what passes without marks take: what follows the last gradient counts as before it."""
        gradients = set(marked[0].ready)
        for other in marked:
            if odd := gradients ^ set(other.ready):
                raise ScriptError(f"{sorted(odd)[0]} has a gradient in some passes only; a workload has the same in each: time steps that train the same parameters")
        if not gradients: raise ScriptError("no parameter had a gradient; is the model the one that is trained, by backward()?")
        marks_cost = statistics.median(seconds(p.backward_begin, p.backward_end) for p in marked) / backward
        ready = sorted((statistics.median(seconds(p.backward_begin, p.ready[g]) for p in marked) / marks_cost, g) for g in gradients)
        ends = [at for at, _ in ready[:-1]] + [backward]
        return [(g, end - begin) for (_, g), begin, end in zip(ready, [0.0, *ends], ends)]


# The file -----------------------------------------------------------------------------------------------------------


@dataclass
class Gradient:
    name: str
    dims: list
    dtype: str  # fp32, bf16, fp16

    @property
    def elements(self):
        return math.prod(self.dims)




def duration(seconds, digits=6):
    scale, unit = (1e6, "us") if seconds < 1e-3 else (1e3, "ms") if seconds < 1 else (1, "s")
    return f"{seconds * scale:.{digits}g}{unit}"


def dtype_of(gradients):
    types = {gradient.dtype for gradient in gradients}
    if len(types) > 1: raise ScriptError(f"gradients of {' and '.join(sorted(types))}; a workload has one type: say which by dtype=")
    return types.pop()


def optimizer_kind(optimizer):
    """sgd, momentum or adam, by the state that it keeps: of a name, or of an optimizer of torch."""
    name = (optimizer if isinstance(optimizer, str) else type(optimizer).__name__).lower()
    if name == "sgd" and any(group.get("momentum") for group in getattr(optimizer, "param_groups", [])): return "momentum"
    kinds = {"sgd": "sgd", "momentum": "momentum", "adam": "adam", "adamw": "adam", "nadam": "adam", "radam": "adam"}
    if name not in kinds: raise ScriptError(f"optimizer {name}; allowed are sgd (no state), momentum (one vector of state) and adam (two): say which one it is like")
    return kinds[name]


def document(times, gradients, head):
    """The workload, as text; `head` has what the times do not say: name, source, batch, ..."""
    head = {**head, **({"accumulation": times.passes} if times.passes > 1 else {}),
            "parameters": sum(gradients[name].elements for name, _ in times.gaps),
            "forward": duration(times.forward), "update": duration(times.update)}
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    tensors = [{"name": name, "elements": gradients[name].elements, "gap": duration(gap), **({"dims": gradients[name].dims} if len(gradients[name].dims) > 1 else {})}
               for name, gap in times.gaps]
    return "\n".join(["{", *lines, '  "gradients": [', ",\n".join("    " + json.dumps(tensor, ensure_ascii=False) for tensor in tensors), "  ]", "}"]) + "\n"


def measured(times, batch, dtype, optimizer):
    """The same as `measured` of a workload with shapes, in JSON."""
    return json.dumps({"forward": duration(times.forward, 4), "backward": duration(times.backward, 4), "update": duration(times.update, 4),
                       "optimizer": optimizer, "batch": batch, "dtype": dtype})


def doubts(times):
    """Notes for readers of the times."""
    lines = []
    low, high = times.backward_quartiles
    if high - low > 0.1 * times.backward:
        lines.append(f"backward passes differ, half of them by more than {(high - low) / times.backward:.0%}: time more steps, with nothing else on the device")
    busy = times.passes * (times.forward + times.backward) + times.update
    if times.between > 0.02 * (busy + times.between):
        lines.append(f"left out: {duration(times.between, 4)} between steps, {times.between / (busy + times.between):.0%} of the time (loading data, logging)")
    first = times.gaps[0][1] / times.backward
    if first > 0.5 and len(times.gaps) > 2:
        lines.append(f"the first gradient is ready after {first:.0%} of backward, as from torch.compile, so that little of an exchange overlaps with it; DDP cuts compiled graphs at its buckets, which is not in this table")
    return lines


# PyTorch ------------------------------------------------------------------------------------------------------------


class StepTimer(Steps):
    """Times a model's training steps; see this file's beginning. Make it where the model is on its device.

    After `warm_up` and `steps` more it is complete, and costs nothing in a loop that goes on. Raises ScriptError where
    steps are not as a workload has them.
    """

    TYPES = {f"torch.{name}": dtype for dtype, name in DTYPES.items() if dtype != "tf32"}
    EXCHANGING = {"DistributedDataParallel", "FullyShardedDataParallel", "DataParallel"}

    def __init__(self, model, warm_up=10, steps=40):
        import torch

        self.torch, self.model = torch, model
        for module in model.modules():
            if type(module).__name__ in self.EXCHANGING or any(base.__name__ == "FSDPModule" for base in type(module).__mro__):
                raise ScriptError(f"the model has a {type(module).__name__}, whose exchange would be timed too; give and train the module inside it, on one device (of DDP ddp.module, under ddp.no_sync())")
        if torch.distributed.is_available() and torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1:
            print(f"measure_torch.py: {torch.distributed.get_world_size()} workers: what they exchange in backward would be timed too; train under ddp.no_sync(), or one worker", file=sys.stderr)
        trained = self._trained()
        devices = {p.device for p in trained.values()}
        if len(devices) != 1 or next(iter(devices)).type not in ("cuda", "cpu"):
            raise ScriptError(f"trained parameters on {', '.join(sorted(map(str, devices))) or 'no device'}; allowed is one CUDA device, or the CPU")
        self.device = devices.pop()
        super().__init__(self._event if self.device.type == "cuda" else time.perf_counter, warm_up, steps)
        self.gradients, self.sparse, self._hooks = {}, set(), []
        self._describe(trained)

    def _trained(self):
        return {name.replace("_orig_mod.", ""): p for name, p in self.model.named_parameters() if p.requires_grad and p.numel() > 0}

    def _describe(self, trained):
        if odd := {str(p.dtype) for p in trained.values()} - set(self.TYPES):
            raise ScriptError(f"parameters of {sorted(odd)[0]}; allowed are {', '.join(self.TYPES)}")
        self.gradients = {name: Gradient(name, list(p.shape), self.TYPES[str(p.dtype)]) for name, p in trained.items()}

    def _event(self):
        event = self.torch.cuda.Event(enable_timing=True)
        event.record(self.torch.cuda.current_stream(self.device))
        return event

    def watch(self):
        """Hooks on the nodes that add up each parameter's gradient, as DDP has them, in the stream that computes."""
        self.unwatch()
        trained = self._trained()
        self._describe(trained)
        for name, parameter in trained.items():
            with self.torch.enable_grad(): node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
            # A node lives as long as someone has it.
            self._hooks.append((node, node.register_hook(lambda *_, name=name, parameter=parameter: self._added(name, parameter))))

    def unwatch(self):
        for _, handle in self._hooks: handle.remove()
        self._hooks = []

    def _added(self, name, parameter):
        if parameter.grad is not None and parameter.grad.is_sparse: self.sparse.add(name)
        self.ready(name)

    def medians(self):
        if self.sparse:
            raise ScriptError(f"{sorted(self.sparse)[0]} has a sparse gradient, of which workers exchange some rows only; a workload has dense ones (Embedding: sparse=False)")
        if self.device.type != "cuda": return self.times(lambda a, b: b - a)
        self.torch.cuda.synchronize(self.device)
        return self.times(lambda a, b: a.elapsed_time(b) / 1e3)

    def device_name(self):
        if self.device.type == "cuda": return self.torch.cuda.get_device_name(self.device)
        return "a CPU"

    def write(self, path, batch, optimizer, name=None, description="", sample="sample", dtype=None, compute_dtype=None):
        """Writes the workload and says on standard error what is in it.

        batch: samples of a pass. optimizer: the one that updates, or what it is like: sgd, momentum, adam, for the
        memory of its state. dtype: of the gradients, where it is not the parameters'; tf32: fp32, multiplied so, as
        PyTorch's convolutions are by default. compute_dtype: of forward and backward under torch.autocast.
        """
        times = self.medians()
        ready = [self.gradients[gradient] for gradient, _ in times.gaps]
        dtype = dtype or dtype_of(ready)
        for given in (dtype, compute_dtype or dtype):
            if given not in DTYPES: raise ScriptError(f"dtype {given}; allowed are {', '.join(DTYPES)}")
        if not isinstance(batch, int) or batch < 1: raise ScriptError(f"batch {batch}; allowed are whole numbers of samples from 1 on")
        optimizer = optimizer_kind(optimizer)
        low, high = times.backward_quartiles
        remarks = self._left_out(ready) + doubts(times)
        source = (f"Measured on {self.device_name()} with PyTorch {self.torch.__version__}, {datetime.date.today()}{f', computed in {compute_dtype}' if compute_dtype else ''}: medians of {times.steps} steps after {self.warm_up}; "
                  f"half of the backward passes took {duration(low, 4)} to {duration(high, 4)}." + "".join(f" {remark[0].upper()}{remark[1:]}." for remark in remarks))
        head = {"name": name or (Path(path).stem if path != "-" else "measured"), "description": description, "source": source, "batch": batch,
                "sample": sample, "dtype": dtype, "optimizer": optimizer}
        if path != "-": Path(path).parent.mkdir(parents=True, exist_ok=True)
        write(document(times, self.gradients, head), str(path))
        print("\n".join([f"{len(ready)} gradients, {sum(g.elements for g in ready):,} parameters; forward {duration(times.forward, 4)}, backward {duration(times.backward, 4)}, update {duration(times.update, 4)}",
                         *remarks, *self._memory(),
                         f"where the network is given by its layers' shapes instead, the same is, with the profile of this device: \"measured\": {measured(times, batch, compute_dtype or dtype, optimizer)}" + (", beside \"autocast\": true" if compute_dtype else "")]), file=sys.stderr)

    def _left_out(self, ready):
        names = {gradient.name for gradient in ready}
        lines = []
        if without := [name for name in self.gradients if name not in names]:
            lines.append(f"left out, since they had no gradient: {', '.join(without[:5])}{f' and {len(without) - 5} more' if len(without) > 5 else ''}")
        if frozen := sum(p.numel() for p in self.model.parameters() if not p.requires_grad):
            lines.append(f"left out: {frozen:,} frozen parameters, which take memory, and are gathered where a forecast shards parameters")
        return lines

    def _memory(self):
        if self.device.type != "cuda": return []
        return [f"largest memory allocated: {self.torch.cuda.max_memory_allocated(self.device) / 1e9:.3g} GB"]


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
            raise ScriptError(f"--input-dtype {kind}; allowed are float, and int64:N or int32:N for numbers below N")
        made.append(torch.randint(int(largest), shape, device=device, dtype=getattr(torch, name)))
    return made


def scores_of(torch, output):
    """The losses' inputs: (rows, classes), or for images as cross-entropy takes them: (samples, classes, rows, columns)."""
    if isinstance(output, torch.Tensor): outputs = [output]
    elif isinstance(output, dict): outputs = [output["logits"]] if "logits" in output else list(output.values())
    else: outputs = list(output) if isinstance(output, (tuple, list)) else []
    scores = [one if one.dim() == 4 else one.reshape(-1, one.shape[-1])
              for one in outputs if isinstance(one, torch.Tensor) and one.is_floating_point() and one.dim() >= 2]
    if not scores: raise ScriptError("the output has no classes for a loss; time a training loop of your own by StepTimer")
    return scores


def run(torch, options):
    device = torch.device(options.device)
    check_device(torch, options.device)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = options.dtype == "tf32"
    torch.backends.cudnn.benchmark = True  # as training scripts do: the fastest algorithm of each shape
    dtype = getattr(torch, DTYPES[options.dtype])
    model, callable_name = exporter.make(options)
    model = model.to(device=device, dtype=dtype)
    inputs = random_inputs(torch, options, device, dtype)
    call = torch.compile(model) if options.compile else model
    autocast = contextlib.nullcontext()
    if options.compute_dtype:
        autocast = torch.autocast(device.type, dtype=getattr(torch, DTYPES[options.compute_dtype]))
    timer = StepTimer(model, options.warm_up, options.steps)
    parameters = [p for p in model.parameters() if p.requires_grad]
    if options.optimizer == "adam": optimizer = torch.optim.Adam(parameters, lr=1e-6, fused=device.type == "cuda")
    else: optimizer = torch.optim.SGD(parameters, lr=1e-6, momentum=0.9 if options.optimizer == "momentum" else 0.0)
    with torch.no_grad(), autocast: scores = scores_of(torch, call(*inputs))
    labels = [torch.randint(one.shape[1], [one.shape[0], *one.shape[2:]], device=device) for one in scores]
    while not timer.is_complete:
        with timer.forward(), autocast:
            loss = sum(map(torch.nn.functional.cross_entropy, scores_of(torch, call(*inputs)), labels))
        with timer.backward():
            loss.backward()
        with timer.update():
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    timer.write(options.output, options.batch, options.optimizer, options.name or callable_name, options.description, options.sample, options.dtype, options.compute_dtype)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    exporter.add_module(parser)
    parser.add_argument("--input-dtype", action="append", default=[], metavar="TYPE", help="of each input, in order: float (the default, as the parameters), int64:N for tokens below N")
    parser.add_argument("--dtype", choices=list(DTYPES), default="fp32", help="of parameters and gradients; tf32: fp32, multiplied so, as PyTorch's convolutions are by default (fp32)")
    parser.add_argument("--compute-dtype", choices=["bf16", "fp16"], help="forward and backward under torch.autocast")
    parser.add_argument("--compile", action="store_true", help="by torch.compile: gradients are then ready in few groups, which DDP cuts at its buckets and one device does not show")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, cpu (cuda)")
    parser.add_argument("--warm-up", type=int, default=10, help="steps before those that count (10)")
    parser.add_argument("--steps", type=int, default=40, help="steps that count (40)")
    exporter.add_document(parser)
    return parser.parse_args()


def main():
    options = arguments()
    try:
        run(import_torch(), options)
    except (ScriptError, OSError) as error:
        sys.exit(f"measure_torch.py: {options.what}: {error}")
    except Exception as error:  # whatever a module's own code throws: where it did is for its author to see
        traceback.print_exc()
        sys.exit(f"measure_torch.py: {options.what}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
