#!/usr/bin/env python3
"""Writes a layer table with shapes (scenarios/workloads/*.json) from a PyTorch module.

    export_torch.py torchvision.models:resnet50 --input 3,224,224 --batch 32 --output workloads/my-resnet50.json
    export_torch.py mynet:Net --path . --kwargs '{"width": 64}' --input 128 --input-dtype int64 --sample sentence

MODULE:CALLABLE is imported and called (with --args and --kwargs, which are JSON) and has to return a
torch.nn.Module; its weights do not matter. The module is traced in training mode by torch.fx with an example batch of
two (--input is one sample's shape without the batch; repeat it for several inputs), and each leaf module and function
of the graph becomes a layer, in execution order, named after the module. Parameters have to add up to
sum(p.numel()), or nothing is written. A softmax and cross-entropy on the output is added unless --no-loss.

Anything unknown is an error that names it. Use one of these options then:
    --skip NAME   it takes no time and has no parameters worth a layer (a module's class or path, a function's name)
    --leaf NAME   trace it as one call (a module's class or path) instead of looking inside; it must then be a known kind
Modules are leaves of their own when they are torch.nn's.

Batches are counted by the first dimension; modules with batch_first=False are refused. Needs torch (and whatever the
module needs); stepcast itself does not.
"""
import argparse
import importlib
import json
import math
import sys

from torch_common import ScriptError, import_torch, write


def pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def one_stride(stride, where):
    stride = pair(stride)
    if stride[0] != stride[1]:
        raise ScriptError(f"{where}: strides {stride} differ by direction; a layer table has one stride for both")
    return stride[0]


def sample_elements(shape):
    return math.prod(shape[1:])


def rows_of(shape):
    """Rows of one sample: all dimensions between batch and features."""
    return math.prod(shape[1:-1])


def without_defaults(**shape):
    """Leaves out what a table leaves out: stride 1, no padding, one group, one row."""
    usual = {"stride": 1, "padding": [0, 0], "groups": 1, "rows": 1}
    shape = {key.rstrip("_"): value for key, value in shape.items()}
    return {key: value for key, value in shape.items() if key not in usual or value != usual[key]}


# Shapes -----------------------------------------------------------------------------------------------------------
# Every function takes attributes by PyTorch's names and the shapes of its tensors, batch first. It returns one layer's
# shape, and needs nothing of torch.

def conv2d(m, inputs, output, where):
    if m.padding_mode != "zeros" or pair(m.dilation) != [1, 1]:
        raise ScriptError(f"{where}: padding mode {m.padding_mode} and dilation {m.dilation}; a layer table knows zero padding without dilation")
    if isinstance(m.padding, str):
        raise ScriptError(f"{where}: padding \"{m.padding}\"; give it in numbers")
    return {"kind": "conv2d", **without_defaults(in_=m.in_channels, out=m.out_channels, kernel=pair(m.kernel_size), stride=one_stride(m.stride, where), padding=pair(m.padding), groups=m.groups),
            **({"bias": True} if m.bias is not None else {}), "input": list(inputs[0][2:])}


def conv_transpose2d(m, inputs, output, where):
    stride = one_stride(m.stride, where)
    if list(output[2:]) != [stride * n for n in inputs[0][2:]] or m.groups != 1:
        raise ScriptError(f"{where}: output {list(output[2:])} of input {list(inputs[0][2:])}, {m.groups} groups; a layer table knows stride times the input, one group")
    return {"kind": "conv_transpose2d", "in": m.in_channels, "out": m.out_channels, "kernel": pair(m.kernel_size), "stride": stride, "bias": m.bias is not None, "input": list(inputs[0][2:])}


def linear(m, inputs, output, where):
    return {"kind": "linear", **without_defaults(in_=m.in_features, out=m.out_features, rows=rows_of(inputs[0])), **({} if m.bias is not None else {"bias": False})}


def batch_norm(m, inputs, output, where):
    if not m.affine:
        raise ScriptError(f"{where}: a norm without parameters; a layer table's has weight and bias")
    spatial = list(inputs[0][2:]) or [1, 1]
    return {"kind": "batch_norm", "channels": m.num_features, "input": spatial if len(spatial) == 2 else [1] + spatial}


def layer_norm(m, inputs, output, where):
    if m.weight is None:
        raise ScriptError(f"{where}: a norm without weight; a layer table's has one")
    width = math.prod(m.normalized_shape)
    return {"kind": "layer_norm", **without_defaults(width=width, rows=sample_elements(inputs[0]) // width), **({} if m.bias is not None else {"bias": False})}


def embedding(m, inputs, output, where):
    return {"kind": "embedding", **without_defaults(entries=m.num_embeddings, width=m.embedding_dim, rows=sample_elements(inputs[0]))}


def activation(function):
    return lambda m, inputs, output, where: {"kind": "activation", "function": function, "elements": sample_elements(output)}


def dropout(m, inputs, output, where):
    return None if m.p == 0 or not m.training else activation("dropout")(m, inputs, output, where)


def pool_of(function, channels, kernel, stride, padding, extent, output, where):
    """A window's table entry, checked against the output that PyTorch computed (ceil_mode can give one more)."""
    kernel, padding = pair(kernel), pair(padding)
    stride = one_stride(stride if stride else kernel, where)
    computed = [(n + 2 * p - k) // stride + 1 for n, p, k in zip(extent, padding, kernel)]
    if computed != list(output[2:]):
        raise ScriptError(f"{where}: output {list(output[2:])}, but (n + 2 padding - kernel)/stride + 1 is {computed}; ceil_mode and dilation have no place in a layer table")
    return {"kind": "pool", "function": function, "channels": channels, **without_defaults(kernel=kernel, stride=stride, padding=padding), "input": list(extent)}


def pool(function):
    def shape(m, inputs, output, where):
        return pool_of(function, inputs[0][1], m.kernel_size, m.stride, m.padding, inputs[0][2:], output, where)
    return shape


def adaptive_pool(function):
    """As windows of input over output; where that does not divide, PyTorch's windows differ in size and overlap."""
    def shape(m, inputs, output, where):
        extent, size = list(inputs[0][2:]), list(output[2:])
        if extent == size: return None  # each output is its input
        if any(n % k for n, k in zip(extent, size)):
            raise ScriptError(f"{where}: {extent} pooled to {size}, which does not divide it")
        kernel = [n // k for n, k in zip(extent, size)]
        stride = 1 if size == [1, 1] else one_stride(kernel, where)
        return {"kind": "pool", "function": function, "channels": inputs[0][1], **without_defaults(kernel=kernel, stride=stride), "input": extent}
    return shape


def elementwise(kind):
    return lambda m, inputs, output, where: {"kind": kind, "elements": sample_elements(output)}


def softmax_loss(m, inputs, output, where):
    # The classes are the second dimension, as torch.nn.CrossEntropyLoss has them.
    return {"kind": "softmax_loss", **without_defaults(classes=inputs[0][1], rows=math.prod(inputs[0][2:]))}


def lstm(m, inputs, output, where):
    """One layer of the table for each of the module's: tensors as PyTorch cuts them."""
    if m.bidirectional or m.proj_size or not m.bias or not m.batch_first:
        raise ScriptError(f"{where}: an LSTM that is bidirectional, projected, without bias or not batch_first; export the plain one")
    steps = inputs[0][1]
    layers = []
    for i in range(m.num_layers):
        layers.append((f"l{i}", {"kind": "lstm", "input": m.hidden_size if i else m.input_size, "hidden": m.hidden_size, "steps": steps}))
        if m.dropout and i + 1 < m.num_layers: layers.append((f"l{i}.dropout", {"kind": "activation", "function": "dropout", "elements": steps * m.hidden_size}))
    return layers


def multihead_attention(m, inputs, output, where):
    """Projections of queries, keys and values, the attention, the projection of its output."""
    if not m.batch_first or not m._qkv_same_embed_dim or m.bias_k is not None or m.add_zero_attn:
        raise ScriptError(f"{where}: attention that is not batch_first, has other key or value widths, or added keys; export the plain one")
    d, bias, queries, keys = m.embed_dim, m.in_proj_bias is not None, inputs[0][1], inputs[1][1]
    project = lambda rows: {"kind": "linear", **without_defaults(in_=d, out=d, rows=rows), **({} if bias else {"bias": False})}
    scores = {"kind": "attention", "heads": m.num_heads, "d": d, "sequence": queries, **({} if keys == queries else {"memory": keys})}
    return [("in_proj.q", project(queries)), ("in_proj.k", project(keys)), ("in_proj.v", project(keys)), ("scores", scores), ("out_proj", project(queries))]


# By class of torch.nn, by name of function or method. None: takes no time, like views of the same data.
MODULES = {
    "Conv2d": conv2d, "ConvTranspose2d": conv_transpose2d, "Linear": linear, "NonDynamicallyQuantizableLinear": linear,
    "BatchNorm1d": batch_norm, "BatchNorm2d": batch_norm, "LayerNorm": layer_norm, "Embedding": embedding,
    "ReLU": activation("relu"), "ReLU6": activation("relu"), "GELU": activation("gelu"), "Tanh": activation("tanh"), "Sigmoid": activation("sigmoid"), "SiLU": activation("silu"),
    "Dropout": dropout, "Dropout2d": dropout,
    "MaxPool2d": pool("max"), "AvgPool2d": pool("average"), "AdaptiveAvgPool2d": adaptive_pool("average"), "AdaptiveMaxPool2d": adaptive_pool("max"),
    "CrossEntropyLoss": softmax_loss, "LSTM": lstm, "MultiheadAttention": multihead_attention,
    "Identity": None, "Flatten": None, "Unflatten": None,
}
FUNCTIONS = {
    "relu": activation("relu"), "gelu": activation("gelu"), "tanh": activation("tanh"), "sigmoid": activation("sigmoid"), "silu": activation("silu"), "dropout": dropout,
    "max_pool2d": pool("max"), "avg_pool2d": pool("average"), "adaptive_avg_pool2d": adaptive_pool("average"), "adaptive_max_pool2d": adaptive_pool("max"),
    "add": elementwise("add"), "iadd": elementwise("add"), "mul": elementwise("multiply"), "imul": elementwise("multiply"),
    "cat": elementwise("concat"), "concat": elementwise("concat"), "cross_entropy": softmax_loss,
}
# Views, and questions about sizes. A copy that a later call makes of a permuted view is not seen here.
FREE = {"flatten", "view", "reshape", "permute", "transpose", "expand", "unsqueeze", "squeeze", "unflatten", "chunk", "split", "size", "dim", "getattr", "getitem", "eq", "floordiv", "assert"}


def layers_of(name, kind, table, attributes, inputs, output, where):
    """[(layer's name, shape)] of one call; empty where it takes no time."""
    rule = table[kind]
    shape = rule(attributes, inputs, output, where) if rule else None
    if shape is None: return []
    if isinstance(shape, dict): return [(name, shape)]
    return [(f"{name}.{part}", part_shape) for part, part_shape in shape]


def parameters_of(shape):
    """The layer's parameters, as stepcast counts them (models/workload/layer_work.cpp)."""
    kind, get = shape["kind"], shape.get
    if kind == "conv2d": return shape["out"] * shape["in"] // get("groups", 1) * math.prod(shape["kernel"]) + (shape["out"] if get("bias") else 0)
    if kind == "conv_transpose2d": return shape["out"] * shape["in"] * math.prod(shape["kernel"]) + (shape["out"] if get("bias") else 0)
    if kind == "linear": return (0 if get("tied") else shape["in"] * shape["out"]) + (shape["out"] if get("bias", True) else 0)
    if kind == "batch_norm": return 2 * shape["channels"]
    if kind == "layer_norm": return (2 if get("bias", True) else 1) * shape["width"]
    if kind == "embedding": return shape["entries"] * shape["width"]
    if kind == "lstm": return 4 * shape["hidden"] * (shape["input"] + shape["hidden"] + 2)
    return 0


def macs_of(shape):
    """Multiply-accumulates with weights of one sample, as stepcast counts them."""
    kind, get = shape["kind"], shape.get
    if kind == "conv2d":
        out = [(n + 2 * p - k) // get("stride", 1) + 1 for n, p, k in zip(shape["input"], get("padding", [0, 0]), shape["kernel"])]
        return shape["in"] // get("groups", 1) * shape["out"] * math.prod(shape["kernel"]) * math.prod(out)
    if kind == "conv_transpose2d": return shape["in"] * shape["out"] * math.prod(shape["kernel"]) * math.prod(shape["input"])
    if kind == "linear": return shape["in"] * shape["out"] * get("rows", 1)
    if kind == "lstm": return 4 * shape["steps"] * shape["hidden"] * (shape["input"] + shape["hidden"])
    return 0


# Tracing ----------------------------------------------------------------------------------------------------------

class Arguments:
    """A functional call's arguments by the names that its module would have them as attributes."""
    NAMES = {"max_pool2d": ("kernel_size", "stride", "padding"), "avg_pool2d": ("kernel_size", "stride", "padding"), "dropout": ("p", "training")}
    DEFAULTS = {"stride": None, "padding": 0, "p": 0.5, "training": True}

    def __init__(self, function, arguments, keywords):
        given = {**self.DEFAULTS, **dict(zip(self.NAMES.get(function, ()), arguments[1:])), **keywords}
        for name, value in given.items(): setattr(self, name, value)


def shapes_in(value, torch):
    """Shapes of all tensors in nested lists, and so on, in order."""
    if isinstance(value, torch.Tensor): return [list(value.shape)]
    if isinstance(value, dict): value = list(value.values())
    if isinstance(value, (list, tuple)): return [shape for item in value for shape in shapes_in(item, torch)]
    return []


def trace(module, examples, leaves=(), skips=()):
    """[(name, shape)] in execution order."""
    import torch
    from torch import fx

    def listed(names, path, value):
        return path in names or type(value).__name__ in names

    class Tracer(fx.Tracer):
        def is_leaf_module(self, m, path):
            return listed(leaves, path, m) or listed(skips, path, m) or type(m).__name__ in MODULES or super().is_leaf_module(m, path)

    try:
        graph = fx.GraphModule(module, Tracer().trace(module))
    except Exception as error:  # whatever a module's own code throws on proxies
        raise ScriptError(f"torch.fx cannot trace it: {error}; name the submodule whose code branches on values with --leaf or --skip") from error
    modules, layers, seen, names = dict(graph.named_modules()), [], {}, {}

    def append(name, found, parameters):
        for part, shape in found:
            count = names[part] = names.get(part, 0) + 1
            shape = dict(shape)
            if parameters and any(id(p) in seen for p in parameters):
                if shape["kind"] != "linear" or seen.get(id(parameters[0])) is None:
                    raise ScriptError(f"{name}: its parameters are used a second time; a layer table knows that of a linear layer's weight alone (tied)")
                shape["tied"] = True
            layers.append((part if count == 1 else f"{part}.{count}", shape))
        for p in parameters: seen[id(p)] = name

    class Recorder(fx.Interpreter):
        def call_module(self, target, args, kwargs):
            m, result = modules[target], super().call_module(target, args, kwargs)
            kind = type(m).__name__
            if listed(skips, target, m): return result
            if kind not in MODULES:
                raise ScriptError(f"{target}: the module {kind} is unknown; --skip {target} (or {kind}) leaves it out, --leaf is for known kinds: {', '.join(MODULES)}")
            append(target, layers_of(target, kind, MODULES, m, shapes_in([args, kwargs], torch), first(result), f"{target} ({kind})"), list(m.parameters()))
            return result

        def call_function(self, target, args, kwargs):
            result = super().call_function(target, args, kwargs)
            if isinstance(target, type) and issubclass(target, tuple): return result  # several outputs, put together
            return self.call(getattr(target, "__name__", str(target)), result, args, kwargs)

        def call_method(self, target, args, kwargs):
            return self.call(target, super().call_method(target, args, kwargs), args, kwargs)

        def call(self, function, result, args, kwargs):
            function, where = function.strip("_"), self.node.name  # add_ works in place, torch has _assert
            shapes = shapes_in([args, kwargs], torch)
            if function in skips or function in FREE or not shapes: return result
            if function not in FUNCTIONS:
                raise ScriptError(f"{where}: the function {function} is unknown; --skip {function} leaves it out; known: {', '.join(sorted(FUNCTIONS))}, and without time: {', '.join(sorted(FREE))}")
            append(where, layers_of(where, function, FUNCTIONS, Arguments(function, args, kwargs), shapes, first(result), f"{where} ({function})"), [])
            return result

        def run_node(self, node):
            self.node = node
            return super().run_node(node)

    def first(result):
        shapes = shapes_in(result, torch)
        return shapes[0] if shapes else []

    with torch.no_grad(): result = Recorder(graph).run(*examples)
    return layers, first(result)


def export(module, examples, leaves=(), skips=(), loss=True):
    """The layers, whose parameters are the module's."""
    layers, output = trace(module, examples, leaves, skips)
    if loss and not any(shape["kind"] == "softmax_loss" for _, shape in layers):
        if len(output) < 2: raise ScriptError(f"the output's shape is {output}, which has no classes for a loss; --no-loss adds none")
        # Images have their classes in the second dimension, rows in the last.
        classes, rows = (output[1], math.prod(output[2:])) if len(output) == 4 else (output[-1], rows_of(output))
        layers.append(("loss", {"kind": "softmax_loss", **without_defaults(classes=classes, rows=rows)}))
    found, wanted = sum(parameters_of(shape) for _, shape in layers), sum(p.numel() for p in module.parameters())
    if found != wanted:
        raise ScriptError(f"the layers hold {found:,} parameters, but the module {wanted:,}: something was skipped, is not called, or is a bare Parameter, which has no layer kind")
    return layers


def document(layers, name, description, source, batch, sample, optimizer):
    head = {"$schema": "../workload.schema.json", "name": name, "description": description, "source": source, "batch": batch, "sample": sample,
            "parameters": sum(parameters_of(shape) for _, shape in layers), "optimizer": optimizer}
    lines = ["{"] + [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    lines += ['  "layers": [', ",\n".join("    " + json.dumps({"name": layer, "shape": shape}) for layer, shape in layers), "  ]", "}"]
    return "\n".join(lines) + "\n"


# The module, and the file -------------------------------------------------------------------------------------------

def add_module(parser):
    """The options that say which module it is, and what it takes."""
    parser.add_argument("what", metavar="MODULE:CALLABLE", help="what makes the module, such as torchvision.models:resnet50")
    parser.add_argument("--input", action="append", required=True, metavar="SIZES", help="one sample's shape without the batch: 3,224,224; once for each input")
    parser.add_argument("--args", default="[]", metavar="JSON", help="positional arguments of CALLABLE")
    parser.add_argument("--kwargs", default="{}", metavar="JSON", help="keyword arguments of CALLABLE")
    parser.add_argument("--path", action="append", default=[], metavar="FOLDER", help="where else to look for MODULE")


def add_document(parser):
    """The options that a table's head takes over."""
    parser.add_argument("--name", help="its name in tables; by default CALLABLE")
    parser.add_argument("--description", default="", help="description")
    parser.add_argument("--batch", type=int, default=32, help="samples per worker and pass (32)")
    parser.add_argument("--sample", default="image", help="what one sample is (image)")
    parser.add_argument("--optimizer", default="momentum", choices=["sgd", "momentum", "adam"], help="the update (momentum)")
    parser.add_argument("--output", default="-", metavar="PATH", help="the file to write; - is standard output")


def make(options):
    """The module, in training mode, and CALLABLE's name."""
    sys.path[:0] = options.path
    module_name, colon, callable_name = options.what.partition(":")
    if not colon: raise ScriptError("allowed is MODULE:CALLABLE, such as torchvision.models:resnet50")
    try:
        called = getattr(importlib.import_module(module_name), callable_name)
    except (ImportError, AttributeError) as error:
        raise ScriptError(f"{error}; --path FOLDER looks for modules elsewhere, too") from error
    return called(*json.loads(options.args), **json.loads(options.kwargs)).train(), callable_name


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_module(parser)
    parser.add_argument("--input-dtype", action="append", default=[], metavar="TYPE", help="torch type of each input, in order: float32 (the default), int64 for tokens")
    parser.add_argument("--leaf", action="append", default=[], metavar="NAME", help="module, by class or path, to trace as one call")
    parser.add_argument("--skip", action="append", default=[], metavar="NAME", help="module, by class or path, or function that gets no layer")
    parser.add_argument("--no-loss", action="store_true", help="no softmax and cross-entropy at the end")
    add_document(parser)
    return parser.parse_args()


def main():
    options = arguments()
    try:
        torch = import_torch()
        module, callable_name = make(options)
        types = options.input_dtype + ["float32"] * len(options.input)
        # Two samples, since a batch norm of one value a channel cannot train.
        examples = [torch.zeros([2] + [int(n) for n in sizes.split(",")], dtype=getattr(torch, kind)) for sizes, kind in zip(options.input, types)]
        layers = export(module, examples, options.leaf, options.skip, not options.no_loss)
    except (ScriptError, ImportError, AttributeError, TypeError, ValueError) as error:
        sys.exit(f"export_torch.py: {options.what}: {error}")
    source = f"Shapes: {options.what}, traced by torch.fx {torch.__version__}; batch assumed."
    text = document(layers, options.name or callable_name, options.description, source, options.batch, options.sample, options.optimizer)
    write(text, options.output)
    print(f"{len(layers)} layers, {sum(parameters_of(s) for _, s in layers):,} parameters, {sum(macs_of(s) for _, s in layers):,} multiply-accumulates with weights", file=sys.stderr)


if __name__ == "__main__":
    main()
