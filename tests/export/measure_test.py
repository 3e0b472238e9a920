#!/usr/bin/env python3
"""measure_torch.py on PyTorch's CPU: which gradients are ready when, and a table from the command line. 77: no torch here."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "calibrate"
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True
try:
    import torch
    from torch import nn
except ImportError:
    print(f"skipped: torch is missing for {sys.executable}")
    sys.exit(77)
import measure_torch as measure


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.frozen, self.last, self.unused = nn.Linear(4, 5), nn.Linear(5, 5), nn.Linear(5, 3), nn.Linear(2, 2)
        for p in self.frozen.parameters(): p.requires_grad_(False)

    def forward(self, x): return self.last(self.frozen(torch.relu(self.first(x))))


def train(model, timer, passes=1):
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    while not timer.is_complete:
        for _ in range(passes):
            with timer.forward(): loss = model(torch.randn(6, 4)).square().sum()
            with timer.backward(): loss.backward()
        with timer.update():
            optimizer.step()
            optimizer.zero_grad()
    return timer


class Hooks(unittest.TestCase):
    def test_gradients_are_those_of_backward_in_its_order(self):
        model = Net()
        for passes in (1, 2):
            times = train(model, measure.StepTimer(model, warm_up=2, steps=8), passes=passes).medians()
            names = [name for name, _ in times.gaps]
            self.assertEqual({*names[:2]}, {"last.weight", "last.bias"})
            self.assertEqual({*names[2:]}, {"first.weight", "first.bias"})
            self.assertEqual(times.passes, passes)
            self.assertTrue(times.forward > 0 and times.update > 0 and all(gap >= 0 for _, gap in times.gaps))

    def test_a_gradient_is_there_when_it_is_said_to_be_ready(self):
        model, seen = Net(), {}
        timer = measure.StepTimer(model)
        parameters = dict(model.named_parameters())
        timer.ready = lambda name: seen.update({name: parameters[name].grad.clone()})
        timer.watch()
        model(torch.randn(6, 4)).sum().backward()
        self.assertEqual(len(seen), 4)
        for name, gradient in seen.items(): self.assertTrue(torch.equal(gradient, parameters[name].grad), name)
        seen.clear()
        timer.unwatch()
        model(torch.randn(6, 4)).sum().backward()
        self.assertEqual(seen, {})

    def test_what_is_told_of_a_table(self):
        model = Net()
        timer = train(model, measure.StepTimer(model, warm_up=0, steps=6))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "new" / "net.json"
            timer.write(path, batch=6, optimizer=torch.optim.AdamW(model.parameters()), compute_dtype="bf16")
            table = json.loads(path.read_text())
            self.assertEqual((table["optimizer"], table["dtype"]), ("adam", "fp32"))
            self.assertRegex(table["source"], "computed in bf16.*Left out: 30 frozen parameters")  # 5·5 + 5
            for wrong in ({"batch": 0}, {"dtype": "float32"}, {"compute_dtype": "half"}, {"optimizer": "lion"}):
                with self.assertRaises(measure.ScriptError): timer.write(path, **{"batch": 6, "optimizer": "adam", **wrong})

    def test_sparse_gradients_are_refused(self):
        model = nn.Sequential(nn.Embedding(9, 4, sparse=True), nn.Linear(4, 3))
        timer = measure.StepTimer(model, warm_up=0, steps=6)
        while not timer.is_complete:
            with timer.forward(): loss = model(torch.randint(9, (6,))).sum()
            with timer.backward(): loss.backward()
            with timer.update(): model.zero_grad()
        with self.assertRaisesRegex(measure.ScriptError, "0.weight has a sparse gradient"): timer.medians()

    def test_models_that_exchange_are_refused(self):
        class DistributedDataParallel(Net): pass
        for model in (DistributedDataParallel(), nn.ModuleList([DistributedDataParallel()])):
            with self.assertRaisesRegex(measure.ScriptError, "the module inside it"): measure.StepTimer(model)
        with self.assertRaisesRegex(measure.ScriptError, "no device"): measure.StepTimer(nn.ReLU())
        with self.assertRaisesRegex(measure.ScriptError, "float64"): measure.StepTimer(Net().double())


class CommandLine(unittest.TestCase):
    def run_script(self, *arguments, status=0):
        run = subprocess.run([sys.executable, SCRIPTS / "measure_torch.py", *arguments, "--device", "cpu", "--warm-up", "1", "--steps", "6"], capture_output=True, text=True)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def test_a_table(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "net.json"
            told = self.run_script("measure_test:Net", "--path", Path(__file__).parent, "--input", "4", "--batch", "6", "--optimizer", "adam", "--output", path).stderr
            table = json.loads(path.read_text())
        # 4·5 + 5 and 5·3 + 3; unused (2·2 + 2) has no gradient, frozen is not trained.
        self.assertEqual((table["name"], table["batch"], table["parameters"], table["optimizer"]), ("Net", 6, 25 + 18, "adam"))
        self.assertRegex(table["source"], "^Measured on a CPU with PyTorch .*: medians of 6 steps after 1;")
        self.assertRegex(told, '(?s)4 gradients, 43 parameters; forward .*"measured": {"forward"')
        self.assertIn("left out, since they had no gradient: unused.weight, unused.bias", told)

    def test_tokens_and_mixed_precision(self):
        run = self.run_script("measure_test:Tokens", "--path", Path(__file__).parent, "--input", "7", "--input-dtype", "int64:50", "--compute-dtype", "bf16")
        table = json.loads(run.stdout)
        self.assertRegex(run.stderr, '"measured": .*"dtype": "bf16"}')
        self.assertEqual((table["dtype"], table["gradients"][-1]["name"], table["gradients"][-1]["dims"]), ("fp32", "embed.weight", [50, 8]))

    def test_what_cannot_be_timed_is_an_error(self):
        own = ["--path", str(Path(__file__).parent)]
        for arguments, message in ((["measure_test:Net", *own, "--input", "4", "--input-dtype", "int64"], "int64:N"),
                                   (["measure_test:Net", *own, "--input", "5"], "mat1 and mat2"),
                                   (["measure_test:Missing", *own, "--input", "5"], "Missing"),
                                   (["measure_test", *own, "--input", "5"], "MODULE:CALLABLE"),
                                   (["torch.nn:Flatten", "--input", "5"], "trained parameters on no device")):
            error = self.run_script(*arguments, status=1).stderr
            self.assertRegex(error, f"(?ms)^measure_torch.py: {arguments[0]}: .*{message}")


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(50, 8), nn.Linear(8, 50)

    def forward(self, x): return self.out(self.embed(x))


if __name__ == "__main__":
    unittest.main()
