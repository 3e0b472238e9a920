#!/usr/bin/env python3
"""Writes the layer tables of scenarios/workloads that give shapes: python3 scenarios/scripts/make_workloads.py [FOLDER]

Each network is spelled out layer by layer, in forward order, with every layer that takes time. Parameters, gradients
and multiply-accumulates follow from the shapes in stepcast itself; `parameters` in each file is the count known from
elsewhere, which stepcast checks. Three transformers are given by their sizes alone, which are there to be changed, so
their counts are checked by tests/model/networks_test.cpp. Nothing but Python is needed; FOLDER is for the test that compares. To add a network, write a file
like these by hand, or a function here.
"""

import json
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "workloads"
PUFFERFISH = "hwang595/Pufferfish, commit 3f7a271a"
GRACE = "sands-lab/grace-benchmarks, commit b1e71046"


class Network:
    """Layers appended along a main path whose channels and height, width it keeps."""

    def __init__(self, channels=0, size=(0, 0)):
        self.layers, self.channels, self.size = [], channels, list(size)

    def add(self, name, kind, **shape):
        self.layers.append({"name": name, "shape": {"kind": kind, **shape}})

    def elements(self):
        return self.channels * self.size[0] * self.size[1]

    # On images ----------------------------------------------------------------------------------------------------
    def conv(self, name, out, kernel, stride=1, padding=0, bias=False):
        kernel = [kernel, kernel] if isinstance(kernel, int) else list(kernel)
        padding = [padding, padding] if isinstance(padding, int) else list(padding)
        shape = {"in": self.channels, "out": out, "kernel": kernel}
        if stride != 1: shape["stride"] = stride
        if padding != [0, 0]: shape["padding"] = padding
        if bias: shape["bias"] = True
        self.add(name, "conv2d", **shape, input=list(self.size))
        self.channels = out
        self.size = [(n + 2 * p - k) // stride + 1 for n, p, k in zip(self.size, padding, kernel)]

    def deconv(self, name, out):
        self.add(name, "conv_transpose2d", **{"in": self.channels}, out=out, kernel=[2, 2], stride=2, bias=True, input=list(self.size))
        self.channels, self.size = out, [2 * n for n in self.size]

    def batch_norm(self, name, scale=True):
        self.add(name, "batch_norm", channels=self.channels, input=list(self.size), **({} if scale else {"scale": False}))

    def relu(self, name):
        self.add(name, "activation", function="relu", elements=self.elements())

    def pool(self, name, kernel, stride, padding=0, function="max"):
        shape = {"function": function, "channels": self.channels, "kernel": [kernel, kernel], "stride": stride}
        if padding: shape["padding"] = [padding, padding]
        self.add(name, "pool", **shape, input=list(self.size))
        self.size = [(n + 2 * padding - kernel) // stride + 1 for n in self.size]

    def global_pool(self, name):
        self.add(name, "pool", function="average", channels=self.channels, kernel=list(self.size), input=list(self.size))
        self.size = [1, 1]

    def join(self, name):
        self.add(name, "add", elements=self.elements())

    def concat(self, name):
        self.add(name, "concat", elements=self.elements())

    # On rows ------------------------------------------------------------------------------------------------------
    def linear(self, name, inputs, outputs, rows=1, bias=True, tied=False):
        shape = {"in": inputs, "out": outputs}
        if rows != 1: shape["rows"] = rows
        if not bias: shape["bias"] = False
        if tied: shape["tied"] = True
        self.add(name, "linear", **shape)

    def activation(self, name, function, elements):
        self.add(name, "activation", function=function, elements=elements)

    def layer_norm(self, name, width, rows):
        self.add(name, "layer_norm", width=width, rows=rows)

    def loss(self, classes, rows=1):
        self.add("loss", "softmax_loss", classes=classes, **({} if rows == 1 else {"rows": rows}))


def write(name, network, description, source, parameters, batch, sample="image", optimizer="momentum", variants=()):
    lines = ["{", '  "$schema": "../workload.schema.json",']
    head = {"name": name, "description": description, "source": source, "batch": batch, "sample": sample, "parameters": parameters, "optimizer": optimizer}
    lines += [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    if variants:
        lines += ['  "variants": [', ",\n".join("    " + json.dumps(variant) for variant in variants), "  ],"]
    lines += ['  "layers": [', ",\n".join("    " + json.dumps(layer) for layer in network.layers), "  ]", "}"]
    (FOLDER / f"{name}.json").write_text("\n".join(lines) + "\n")


def write_transformer(name, description, source, dtype=None, **sizes):
    """A batch of one sequence, Adam; the layers follow in stepcast (models/workload/transformer_layers.hpp)."""
    head = {"$schema": "../workload.schema.json", "name": name, "description": description, "source": source, "batch": 1, "sample": "sequence", **({"dtype": dtype, "compute_dtype": dtype} if dtype else {}), "optimizer": "adam"}
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    sizes = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in sizes.items())
    (FOLDER / f"{name}.json").write_text("\n".join(["{", *lines, '  "transformer": {', sizes, "  }", "}"]) + "\n")


def pufferfish(first, keep=(), stride_last=()):
    rule = {"rank_ratio": 0.25, "from": first}
    if keep: rule["keep"] = list(keep)
    if stride_last: rule["stride_last"] = list(stride_last)
    return [{"name": "pufferfish", "description": f"as Pufferfish factorizes it ({PUFFERFISH})", "factorize": rule}]


# Convolutional networks -------------------------------------------------------------------------------------------

def vgg(n, plan, bias, norm):
    """Convolutions numbered from 1, "M" a pool."""
    i = pools = 0
    for step in plan:
        if step == "M":
            pools += 1
            n.pool(f"pool{pools}", 2, 2)
            continue
        i += 1
        n.conv(f"conv{i}", step, 3, padding=1, bias=bias)
        if norm: n.batch_norm(f"batch_norm{i}")
        n.relu(f"relu{i}")


def vgg19_bn_cifar10():
    n = Network(3, (32, 32))
    vgg(n, [64, 64, "M", 128, 128, "M", 256, 256, 256, 256, "M", 512, 512, 512, 512, "M", 512, 512, 512, 512, "M"], False, True)
    n.activation("classifier.0", "dropout", 512)
    n.linear("classifier.1", 512, 512)
    n.activation("classifier.2", "relu", 512)
    n.activation("classifier.3", "dropout", 512)
    n.linear("classifier.4", 512, 512)
    n.activation("classifier.5", "relu", 512)
    n.linear("classifier.6", 512, 10)
    n.loss(10)
    write("vgg19-bn-cifar10", n, "VGG-19 with batch normalization on CIFAR-10, as Pufferfish trains it", f"Shapes: {PUFFERFISH}, lowrank_vgg.py (FullRankVGG19); batch: its run.sh.", 20560330, 128, variants=pufferfish("conv10", ["classifier.6"]))


def vgg16():
    n = Network(3, (224, 224))
    vgg(n, [64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M"], True, False)
    for i, (inputs, outputs) in enumerate([(25088, 4096), (4096, 4096)]):
        n.linear(f"classifier.{3 * i}", inputs, outputs)
        n.activation(f"classifier.{3 * i + 1}", "relu", outputs)
        n.activation(f"classifier.{3 * i + 2}", "dropout", outputs)
    n.linear("classifier.6", 4096, 1000)
    n.loss(1000)
    write("vgg16", n, "VGG-16 on ImageNet", "Shapes: Simonyan and Zisserman, ICLR 2015, configuration D, as torchvision's vgg16; batch assumed.", 138357544, 32)


def alexnet():
    n = Network(3, (224, 224))
    for i, (out, kernel, stride, padding, pool) in enumerate([(64, 11, 4, 2, True), (192, 5, 1, 2, True), (384, 3, 1, 1, False), (256, 3, 1, 1, False), (256, 3, 1, 1, True)], 1):
        n.conv(f"conv{i}", out, kernel, stride, padding, bias=True)
        n.relu(f"relu{i}")
        if pool: n.pool(f"pool{i}", 3, 2)
    for i, (inputs, outputs) in enumerate([(9216, 4096), (4096, 4096)]):
        n.activation(f"classifier.{3 * i}", "dropout", inputs)
        n.linear(f"classifier.{3 * i + 1}", inputs, outputs)
        n.activation(f"classifier.{3 * i + 2}", "relu", outputs)
    n.linear("classifier.6", 4096, 1000)
    n.loss(1000)
    write("alexnet", n, "AlexNet on ImageNet, one tower", "Shapes: Krizhevsky, arXiv:1404.5997, as torchvision's alexnet; batch assumed.", 61100840, 64)


def residual_block(n, name, widths, kernels, stride, stride_at, shortcut_norm, norm=True):
    """Convolutions with batch norms, the shortcut projected where shapes change, their sum."""
    channels, size = n.channels, list(n.size)
    for i, (out, kernel) in enumerate(zip(widths, kernels), 1):
        n.conv(f"{name}.conv{i}", out, kernel, stride if i == stride_at else 1, kernel // 2)
        if norm: n.batch_norm(f"{name}.bn{i}")
        if i < len(widths): n.relu(f"{name}.relu{i}")
    if stride != 1 or channels != n.channels:
        out = n.channels
        n.channels, n.size = channels, size
        n.conv(f"{name}.{shortcut_norm[0]}", out, 1, stride)
        n.batch_norm(f"{name}.{shortcut_norm[1]}")
    n.join(f"{name}.add")
    n.relu(f"{name}.relu")


def resnet_imagenet(name, title, blocks, bottleneck, width, source, parameters, batch, variants=()):
    n = Network(3, (224, 224))
    n.conv("conv1", 64, 7, 2, 3)
    n.batch_norm("bn1")
    n.relu("relu")
    n.pool("maxpool", 3, 2, 1)
    for stage, count in enumerate(blocks):
        planes = 64 * 2 ** stage
        widths, kernels, at = ([planes * width, planes * width, planes * 4], [1, 3, 1], 2) if bottleneck else ([planes, planes], [3, 3], 1)
        for block in range(count):
            residual_block(n, f"layer{stage + 1}.{block}", widths, kernels, 2 if stage and not block else 1, at, ("downsample.0", "downsample.1"))
    features = n.channels
    n.global_pool("avgpool")
    n.linear("fc", features, 1000)
    n.loss(1000)
    write(name, n, f"{title} on ImageNet", source, parameters, batch, variants=variants)


def resnets_imagenet():
    torchvision = "Shapes: He et al., CVPR 2016, as torchvision's {} (stride in the 3 x 3); batch assumed."
    ours = f"Shapes: {PUFFERFISH}, models/resnet.py ({{}}); batch assumed."
    layer4 = pufferfish("layer4.0.conv1", ["fc"], ["layer4.0.downsample.0"])
    resnet_imagenet("resnet18", "ResNet-18", (2, 2, 2, 2), False, 1, torchvision.format("resnet18").replace(" (stride in the 3 x 3)", ""), 11689512, 64)
    resnet_imagenet("resnet50", "ResNet-50", (3, 4, 6, 3), True, 1, ours.format("resnet50"), 25557032, 32, layer4)
    resnet_imagenet("resnet101", "ResNet-101", (3, 4, 23, 3), True, 1, torchvision.format("resnet101"), 44549160, 32)
    resnet_imagenet("resnet152", "ResNet-152", (3, 8, 36, 3), True, 1, torchvision.format("resnet152"), 60192808, 32)
    resnet_imagenet("wide-resnet50-2", "WideResNet-50-2", (3, 4, 6, 3), True, 2, ours.format("wide_resnet50_2"), 68883240, 32, layer4)


def resnet18_cifar10():
    """Pufferfish's ResNet-18 has no batch norm after its first convolution."""
    n = Network(3, (32, 32))
    n.conv("conv1", 64, 3, padding=1)
    n.relu("relu")
    for stage in range(4):
        for block in range(2):
            residual_block(n, f"layer{stage + 1}.{block}", [64 * 2 ** stage] * 2, [3, 3], 2 if stage and not block else 1, 1, ("shortcut.0", "shortcut.1"))
    n.global_pool("avg_pool")
    n.linear("linear", 512, 10)
    n.loss(10)
    shortcuts = [f"layer{stage}.0.shortcut.0" for stage in (2, 3, 4)]
    write("resnet18-cifar10", n, "ResNet-18 on CIFAR-10, as Pufferfish trains it", f"Shapes: {PUFFERFISH}, resnet_cifar10.py (ResNet18); batch: its run.sh.", 11173834, 128, variants=pufferfish("layer1.1.conv1", shortcuts + ["linear"]))


def resnet20_cifar10():
    """Stem and inner batch norms have scale and bias, those before a block and the last a bias only; 11 classes."""
    n = Network(3, (32, 32))
    n.conv("conv0", 16, 3, padding=1)
    n.batch_norm("conv0.batch_norm")
    n.relu("conv0.relu")
    block = 0
    for stage in range(3):
        for i in range(3):
            out, stride = 16 * 2 ** stage, 2 if stage and not i else 1
            n.batch_norm(f"block{block}.batch_norm", scale=False)
            n.relu(f"block{block}.relu")
            size, channels = list(n.size), n.channels
            n.conv(f"block{block}.conv1", out, 3, stride, 1)
            n.batch_norm(f"block{block}.conv1.batch_norm")
            n.relu(f"block{block}.conv1.relu")
            n.conv(f"block{block}.conv2", out, 3, 1, 1)
            if stride == 2:
                n.add(f"block{block}.shortcut", "pool", function="average", channels=channels, kernel=[1, 1], stride=2, input=size)
                n.concat(f"block{block}.shortcut.pad")
            n.join(f"block{block}.add")
            block += 1
    n.batch_norm("batch_norm", scale=False)
    n.relu("relu")
    n.global_pool("pool")
    n.linear("affine", 64, 11)
    n.loss(11)
    write("resnet20-cifar10", n, "ResNet-20 v2 on CIFAR-10, as the survey trains it", f"Shapes: tf_cnn_benchmarks' resnet20_v2 with the 269,467 parameters in 51 tensors that the survey's runs exchange ({GRACE}): 11 classes, batch norms between blocks without scale.", 269467, 256)


def densenet40_cifar10():
    """tf_cnn_benchmarks' transitions put out 24 channels, not half of their input: its count of channels restarts."""
    n = Network(3, (32, 32))
    n.conv("conv0", 16, 3, padding=1, bias=True)
    for block in range(3):
        for i in range(12):
            name, channels = f"block{block}.{i}", n.channels
            n.batch_norm(f"{name}.batch_norm")
            n.relu(f"{name}.relu")
            n.conv(f"{name}.conv", 12, 3, padding=1, bias=True)
            n.channels = channels + 12
            n.concat(f"{name}.concat")
        if block == 2: break
        n.batch_norm(f"transition{block}.batch_norm")
        n.relu(f"transition{block}.relu")
        n.conv(f"transition{block}.conv", 24, 1, bias=True)
        n.relu(f"transition{block}.conv.relu")
        n.pool(f"transition{block}.pool", 2, 2, function="average")
    n.batch_norm("batch_norm")
    n.relu("relu")
    n.global_pool("pool")
    n.linear("affine", 168, 11)
    n.loss(11)
    write("densenet40-k12-cifar10", n, "DenseNet40-k12 on CIFAR-10, as the survey trains it", f"Shapes: {GRACE}, tf_cnn_benchmarks/models/densenet_model.py: convolutions with bias, transitions to 24 channels, 11 classes; batch derived from its runs.", 357491, 256)


class Inception(Network):
    def unit(self, name, out, kernel, stride=1, padding=0):
        self.conv(f"{name}.conv", out, kernel, stride, padding)
        self.batch_norm(f"{name}.bn")
        self.relu(f"{name}.relu")

    def mixed(self, name, branches):
        """Branches of (name, out, kernel, stride, padding) or ("pool", kernel, stride, padding, function); a list
        of lists at a branch's end splits it. The last steps' channels are concatenated."""
        channels, size, total = self.channels, list(self.size), 0
        for branch in branches:
            self.channels, self.size = channels, list(size)
            for step in branch:
                if isinstance(step, list):
                    before = self.channels
                    for end in step:
                        self.channels = before
                        self.unit(f"{name}.{end[0]}", *end[1:])
                        total += self.channels
                    self.channels = 0
                elif step[0] == "pool":
                    self.pool(f"{name}.{step[0]}", *step[1:])
                else:
                    self.unit(f"{name}.{step[0]}", *step[1:])
            total += self.channels
        self.channels = total
        self.concat(f"{name}.concat")


def inception_v3():
    n = Inception(3, (299, 299))
    n.unit("Conv2d_1a_3x3", 32, 3, 2)
    n.unit("Conv2d_2a_3x3", 32, 3)
    n.unit("Conv2d_2b_3x3", 64, 3, 1, 1)
    n.pool("maxpool1", 3, 2)
    n.unit("Conv2d_3b_1x1", 80, 1)
    n.unit("Conv2d_4a_3x3", 192, 3)
    n.pool("maxpool2", 3, 2)
    for name, pool in (("Mixed_5b", 32), ("Mixed_5c", 64), ("Mixed_5d", 64)):
        n.mixed(name, [
            [("branch1x1", 64, 1)],
            [("branch5x5_1", 48, 1), ("branch5x5_2", 64, 5, 1, 2)],
            [("branch3x3dbl_1", 64, 1), ("branch3x3dbl_2", 96, 3, 1, 1), ("branch3x3dbl_3", 96, 3, 1, 1)],
            [("pool", 3, 1, 1, "average"), ("branch_pool", pool, 1)]])
    n.mixed("Mixed_6a", [
        [("branch3x3", 384, 3, 2)],
        [("branch3x3dbl_1", 64, 1), ("branch3x3dbl_2", 96, 3, 1, 1), ("branch3x3dbl_3", 96, 3, 2)],
        [("pool", 3, 2)]])
    row, column = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
    for name, c in (("Mixed_6b", 128), ("Mixed_6c", 160), ("Mixed_6d", 160), ("Mixed_6e", 192)):
        n.mixed(name, [
            [("branch1x1", 192, 1)],
            [("branch7x7_1", c, 1), ("branch7x7_2", c, *row), ("branch7x7_3", 192, *column)],
            [("branch7x7dbl_1", c, 1), ("branch7x7dbl_2", c, *column), ("branch7x7dbl_3", c, *row), ("branch7x7dbl_4", c, *column), ("branch7x7dbl_5", 192, *row)],
            [("pool", 3, 1, 1, "average"), ("branch_pool", 192, 1)]])
    channels, size = n.channels, list(n.size)
    n.pool("AuxLogits.pool", 5, 3, function="average")
    n.unit("AuxLogits.conv0", 128, 1)
    n.unit("AuxLogits.conv1", 768, 5)
    n.linear("AuxLogits.fc", 768, 1000)
    n.add("AuxLogits.loss", "softmax_loss", classes=1000)
    n.channels, n.size = channels, size
    n.mixed("Mixed_7a", [
        [("branch3x3_1", 192, 1), ("branch3x3_2", 320, 3, 2)],
        [("branch7x7x3_1", 192, 1), ("branch7x7x3_2", 192, *row), ("branch7x7x3_3", 192, *column), ("branch7x7x3_4", 192, 3, 2)],
        [("pool", 3, 2)]])
    split = lambda name: [(f"{name}a", 384, (1, 3), 1, (0, 1)), (f"{name}b", 384, (3, 1), 1, (1, 0))]
    for name in ("Mixed_7b", "Mixed_7c"):
        n.mixed(name, [
            [("branch1x1", 320, 1)],
            [("branch3x3_1", 384, 1), split("branch3x3_2")],
            [("branch3x3dbl_1", 448, 1), ("branch3x3dbl_2", 384, 3, 1, 1), split("branch3x3dbl_3")],
            [("pool", 3, 1, 1, "average"), ("branch_pool", 192, 1)]])
    n.global_pool("avgpool")
    n.activation("dropout", "dropout", 2048)
    n.linear("fc", 2048, 1000)
    n.loss(1000)
    write("inception-v3", n, "Inception V3 on ImageNet, with the auxiliary classifier", "Shapes: Szegedy et al., CVPR 2016, as torchvision's inception_v3; batch assumed.", 27161264, 32)


def unet_tiny():
    n = Network(1, (512, 512))

    def pair(name, first, second):
        for i, out in ((1, first), (2, second)):
            n.conv(f"{name}.conv{i}", out, 3, padding=1, bias=True)
            n.relu(f"{name}.act{i}")

    skips = []
    for name, filters in (("input", 32), ("down1", 32), ("down2", 64), ("down3", 128)):
        pair(name, filters, filters)
        skips.append(n.channels)
        n.pool(f"{name}.pool", 2, 2)
    pair("bottleneck", 256, 256)
    n.deconv("bottleneck.deconv", 128)
    n.relu("bottleneck.act3")
    for name, filters in (("up1", 128), ("up2", 64), ("up3", 32)):
        n.channels += skips.pop()
        n.concat(f"{name}.concat")
        pair(name, filters, filters // 2)
        n.deconv(f"{name}.deconv", filters // 2)
        n.relu(f"{name}.act3")
    n.channels += skips.pop()
    n.concat("output.concat")
    pair("output", 32, 32)
    n.conv("output.conv3", 1, 1, bias=True)
    n.activation("sigmoid", "sigmoid", n.elements())
    n.add("loss", "softmax_loss", classes=1, rows=n.elements())
    write("unet-tiny", n, "tiny U-Net on DAGM2007, as the survey trains it", "Shapes: NVIDIA/DeepLearningExamples, TensorFlow/Segmentation/UNet_Industrial/model (tinyUNet), which the survey runs; batch uncertain. Its update, centred RMSProp with momentum, is priced as Adam's; its Dice loss as a pass over the pixels.", 1850305, 2, optimizer="adam")


# Sequences and recommendation -------------------------------------------------------------------------------------

def lstm_wikitext2():
    steps, width, words = 35, 1500, 33278
    n = Network()
    n.add("encoder", "embedding", entries=words, width=width, rows=steps)
    n.activation("drop1", "dropout", steps * width)
    n.add("lstm1", "lstm", input=width, hidden=width, steps=steps, tensors="gates")
    n.activation("drop2", "dropout", steps * width)
    n.add("lstm2", "lstm", input=width, hidden=width, steps=steps, tensors="gates")
    n.activation("drop3", "dropout", steps * width)
    n.linear("decoder", width, words, steps, tied=True)
    n.loss(words, steps)
    write("lstm-wikitext2", n, "two-layer LSTM on WikiText-2, as Pufferfish trains it; a sample is a sequence of 35 tokens", f"Shapes: {PUFFERFISH}, word_language_model/model.py (RNNModel, 1500 wide, tied); batch and sequence: its run.sh.", 85962278, 20, "sequence", "sgd", pufferfish("lstm1", ["decoder"]))


def lstm_ptb():
    steps, width, words = 35, 650, 10000
    n = Network()
    n.add("embedding", "embedding", entries=words, width=width, rows=steps, exchanged=False)
    for i in (1, 2):
        n.activation(f"drop{i}", "dropout", steps * width)
        n.add(f"lstm{i}", "lstm", input=width, hidden=width, steps=steps, tensors="joint")
    n.activation("drop3", "dropout", steps * width)
    n.linear("softmax", width, words, steps)
    n.loss(words, steps)
    write("lstm-ptb", n, "two-layer LSTM on PTB, as the survey trains it; a sample is a sequence of 35 tokens", f"Shapes: {GRACE}, LanguageModeling/examples/PennTreebank/PTB-LSTM.py; its sparse embedding is not exchanged, and not counted.", 13275200, 20, "sequence", "sgd")


def transformer_layer(n, name, d, inner, heads, rows, memory_rows=None):
    """Pufferfish's: projections without bias, norm after the sum."""
    def attention(block, queries, keys):
        n.linear(f"{block}.w_qs", d, d, queries, False)
        n.linear(f"{block}.w_ks", d, d, keys, False)
        n.linear(f"{block}.w_vs", d, d, keys, False)
        n.add(f"{block}.attention", "attention", heads=heads, d=d, sequence=queries, memory=keys)
        n.linear(f"{block}.fc", d, d, queries, False)
        after(block, queries)

    def after(block, rows):
        n.activation(f"{block}.dropout", "dropout", rows * d)
        n.add(f"{block}.add", "add", elements=rows * d)
        n.layer_norm(f"{block}.layer_norm", d, rows)

    attention(f"{name}.slf_attn", rows, rows)
    if memory_rows: attention(f"{name}.enc_attn", rows, memory_rows)
    n.linear(f"{name}.pos_ffn.w_1", d, inner, rows)
    n.activation(f"{name}.pos_ffn.relu", "relu", rows * inner)
    n.linear(f"{name}.pos_ffn.w_2", inner, d, rows)
    after(f"{name}.pos_ffn", rows)


def transformer_multi30k():
    words, d, tokens = 9521, 512, 16
    n = Network()
    n.add("encoder.src_word_emb", "embedding", entries=words, width=d, rows=tokens)
    n.activation("encoder.dropout", "dropout", tokens * d)
    n.layer_norm("encoder.layer_norm", d, tokens)
    for i in range(6): transformer_layer(n, f"encoder.layer_stack.{i}", d, 2048, 8, tokens)
    n.add("decoder.trg_word_emb", "embedding", entries=words, width=d, rows=tokens, exchanged=False)
    n.activation("decoder.dropout", "dropout", tokens * d)
    n.layer_norm("decoder.layer_norm", d, tokens)
    for i in range(6): transformer_layer(n, f"decoder.layer_stack.{i}", d, 2048, 8, tokens, tokens)
    n.linear("trg_word_prj", d, words, tokens, False, True)
    n.loss(words, tokens)
    keep = ["decoder.trg_word_emb", "decoder.layer_stack.0", "trg_word_prj"]
    write("transformer-multi30k", n, "Transformer on Multi30k, as Pufferfish trains it; a sample is a pair of sentences of 16 tokens each", f"Shapes: {PUFFERFISH}, low_rank_transformer/transformer/; batch: its run.sh; 16 tokens a sentence assumed. Embeddings and output share one weight.", 48978432, 256, "sentence", "adam", pufferfish("encoder.layer_stack.1", keep))


FUSED_ATTENTION = {"name": "fused-attention", "description": "attention as PyTorch 2 computes it (scaled_dot_product_attention): its scores stay on the chip", "fused_attention": True}


def bert(name, title, layers, d, heads, batch, parameters):
    tokens, masked, words = 128, 20, 30522
    n = Network()
    n.add("embeddings.word_embeddings", "embedding", entries=words, width=d, rows=tokens)
    n.add("embeddings.position_embeddings", "embedding", entries=512, width=d, rows=tokens)
    n.add("embeddings.token_type_embeddings", "embedding", entries=2, width=d, rows=tokens)
    n.add("embeddings.add1", "add", elements=tokens * d)
    n.add("embeddings.add2", "add", elements=tokens * d)
    n.layer_norm("embeddings.LayerNorm", d, tokens)
    n.activation("embeddings.dropout", "dropout", tokens * d)
    for i in range(layers):
        b = f"encoder.layer.{i}"
        for part in ("query", "key", "value"): n.linear(f"{b}.attention.self.{part}", d, d, tokens)
        n.add(f"{b}.attention.self.scores", "attention", heads=heads, d=d, sequence=tokens)
        n.linear(f"{b}.attention.output.dense", d, d, tokens)
        n.activation(f"{b}.attention.output.dropout", "dropout", tokens * d)
        n.add(f"{b}.attention.output.add", "add", elements=tokens * d)
        n.layer_norm(f"{b}.attention.output.LayerNorm", d, tokens)
        n.linear(f"{b}.intermediate.dense", d, 4 * d, tokens)
        n.activation(f"{b}.intermediate.gelu", "gelu", tokens * 4 * d)
        n.linear(f"{b}.output.dense", 4 * d, d, tokens)
        n.activation(f"{b}.output.dropout", "dropout", tokens * d)
        n.add(f"{b}.output.add", "add", elements=tokens * d)
        n.layer_norm(f"{b}.output.LayerNorm", d, tokens)
    n.linear("pooler.dense", d, d)
    n.activation("pooler.tanh", "tanh", d)
    n.linear("decoder", d, words, masked, False, True)
    n.loss(words, masked)
    write(name, n, f"{title}, pre-training on sequences of 128 tokens, 20 of them masked", "Shapes: Devlin et al., NAACL 2019, as Hugging Face's BertModel (with its pooler); sequence and masked tokens as in the paper's first phase; batch assumed. The output is the tied word embedding; the rest of the pre-training heads is left out.", parameters, batch, "sequence", "adam", [FUSED_ATTENTION])


def gpt2():
    tokens, d, words = 1024, 768, 50257
    n = Network()
    n.add("wte", "embedding", entries=words, width=d, rows=tokens)
    n.add("wpe", "embedding", entries=1024, width=d, rows=tokens)
    n.add("add", "add", elements=tokens * d)
    n.activation("drop", "dropout", tokens * d)
    for i in range(12):
        b = f"h.{i}"
        n.layer_norm(f"{b}.ln_1", d, tokens)
        n.linear(f"{b}.attn.c_attn", d, 3 * d, tokens)
        n.add(f"{b}.attn.scores", "attention", heads=12, d=d, sequence=tokens, causal=True)
        n.linear(f"{b}.attn.c_proj", d, d, tokens)
        n.activation(f"{b}.attn.dropout", "dropout", tokens * d)
        n.add(f"{b}.attn.add", "add", elements=tokens * d)
        n.layer_norm(f"{b}.ln_2", d, tokens)
        n.linear(f"{b}.mlp.c_fc", d, 4 * d, tokens)
        n.activation(f"{b}.mlp.gelu", "gelu", tokens * 4 * d)
        n.linear(f"{b}.mlp.c_proj", 4 * d, d, tokens)
        n.activation(f"{b}.mlp.dropout", "dropout", tokens * d)
        n.add(f"{b}.mlp.add", "add", elements=tokens * d)
    n.layer_norm("ln_f", d, tokens)
    n.linear("lm_head", d, words, tokens, False, True)
    n.loss(words, tokens)
    hugging_face = {"name": "hugging-face", "description": "without a compiler: fused attention, and GELU by tanh of simple operations", "fused_attention": True, "composed": True}
    write("gpt2-small", n, "GPT-2 small on sequences of 1024 tokens", "Shapes: Radford et al., 2019, as Hugging Face's GPT2LMHeadModel; batch assumed.", 124439808, 4, "sequence", "adam", [FUSED_ATTENTION, hugging_face])


def transformers():
    write_transformer("gpt2-xl", "GPT-2 XL on sequences of 1024 tokens", "Shapes: Radford et al., 2019, as Hugging Face's gpt2-xl; batch assumed.",
                      layers=48, hidden=1600, heads=25, vocabulary=50257, sequence=1024, dropout=True)
    llama = {"gated": True, "positions": False, "tied": False, "bias": False}
    write_transformer("llama-2-7b", "Llama 2 7B on sequences of 4096 tokens", "Shapes: Touvron et al., 2023 (Llama 2), as Hugging Face's Llama-2-7b; batch assumed.",
                      dtype="bf16", layers=32, hidden=4096, heads=32, ffn=11008, vocabulary=32000, sequence=4096, **llama)
    write_transformer("llama-3-8b", "Llama 3 8B on sequences of 8192 tokens", "Shapes: Llama Team, The Llama 3 Herd of Models, 2024, table 3, as Hugging Face's Meta-Llama-3-8B; batch assumed.",
                      dtype="bf16", layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocabulary=128256, sequence=8192, **llama)


def ncf():
    users, items, factors, layers = 138493, 26744, 64, (256, 256, 128, 64)
    width = factors + layers[0] // 2
    n = Network()
    n.add("user_embeddings", "embedding", entries=users, width=width)
    n.add("item_embeddings", "embedding", entries=items, width=width)
    n.add("mf.multiply", "multiply", elements=factors)
    n.add("mlp.concat", "concat", elements=layers[0])
    for i in range(1, len(layers)):
        n.linear(f"mlp.{i}", layers[i - 1], layers[i])
        n.activation(f"mlp.{i}.relu", "relu", layers[i])
        n.activation(f"mlp.{i}.dropout", "dropout", layers[i])
    n.add("concat", "concat", elements=factors + layers[-1])
    n.linear("output", factors + layers[-1], 1)
    n.add("loss", "softmax_loss", classes=1)
    write("ncf-ml20m", n, "neural collaborative filtering on ml-20m, as the survey trains it", f"Shapes: {GRACE}, Recommendation/NCF/neumf.py with ml-20m's 138,493 users and 26,744 items; batch: 2^20 over 8 workers, uncertain.", 31832577, 131072, "rating", "adam")


def perceptron(name, sizes, description, source, parameters):
    n = Network()
    for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:]), 1):
        n.linear(f"fc{i}", inputs, outputs)
        if i < len(sizes) - 1: n.activation(f"fc{i}.relu", "relu", outputs)
    n.loss(sizes[-1])
    write(name, n, description, source, parameters, 128)


def pipe_sgd():
    paper = "Task: Pipe-SGD (Li et al., NeurIPS 2018), section 4 (recalled)"
    perceptron("mnist-mlp", (28 * 28, 500, 500, 10), "a perceptron of two hidden layers on MNIST", f"{paper}; hidden sizes and batch assumed.", 648010)
    perceptron("cifar100-convex", (3 * 32 * 32, 100), "softmax regression on CIFAR-100, which is convex", f"{paper}; one layer on raw pixels and batch assumed.", 307300)


if __name__ == "__main__":
    vgg19_bn_cifar10()
    resnet18_cifar10()
    resnets_imagenet()
    lstm_wikitext2()
    transformer_multi30k()
    alexnet()
    vgg16()
    inception_v3()
    bert("bert-base", "BERT-base", 12, 768, 12, 32, 109482240)
    bert("bert-large", "BERT-large", 24, 1024, 16, 8, 335141888)
    gpt2()
    transformers()
    densenet40_cifar10()
    resnet20_cifar10()
    lstm_ptb()
    ncf()
    unet_tiny()
    pipe_sgd()
