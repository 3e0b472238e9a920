#!/usr/bin/python3
"""check_transfer.py: how layers are matched and compared, and a profile that was transferred. (sim.pages holds
docs/how-far-off.md to the figures it shows.)

    check_transfer_test.py SOURCES STEPCAST STEPCAST-CALIBRATE
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

sources, stepcast, calibrate = sys.argv[1:]
script = os.path.join(sources, "notebooks", "check_transfer.py")
sys.path.insert(0, os.path.dirname(script))
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("check_transfer", script)
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)
os.environ["STEPCAST_SCENARIOS"] = os.path.join(sources, "scenarios")


def close(expected, got, relative=1e-9):
    assert abs(got - expected) <= relative * abs(expected), f"expected {expected}, got {got}"


# Two layers, and a head that only the measured network has. The clocks start with layer "b", 30 us and 7 us in. "a" is
# ready 200 us later; the forecast is 150 us. Its tensors may be in any order.
measured = check.measured_layers({"gradients": [
    {"name": "head.weight", "elements": 5, "gap": "10us"}, {"name": "b.bias", "elements": 2, "gap": "5us"}, {"name": "b.weight", "elements": 8, "gap": "15us"},
    {"name": "c.weight", "elements": 3, "gap": "10us"}, {"name": "a.weight", "elements": 6, "gap": "120us"}, {"name": "a.bias", "elements": 3, "gap": "70us"}]})
assert [layer.name for layer in measured] == ["head", "b", "c", "a"]
close(30e-6, measured[1].ready)
forecast = check.forecast_layers({"layers": [
    {"name": "first", "backward": "50us", "gradients": [{"elements": 3}, {"elements": 6}]}, {"name": "relu", "backward": "80us", "gradients": []},
    {"name": "middle", "backward": "20us", "gradients": [{"elements": 3}]}, {"name": "last", "backward": "5us", "gradients": [{"elements": 8}, {"elements": 2}]},
    {"name": "loss", "backward": "2us", "gradients": []}]})
assert [layer.name for layer in forecast] == ["last", "middle", "first"]
close(7e-6, forecast[0].ready)
pairs, only_measured, only_forecast = check.match(measured, forecast)
assert [(m.name, f.name) for m, f in pairs] == [("b", "last"), ("c", "middle"), ("a", "first")]
assert [layer.name for layer in only_measured] == ["head"] and not only_forecast
assert not check.Comparison(measured, forecast).matched  # three of four
one = check.Comparison(measured[1:], forecast)
close(200e-6, one.measured)
close(150e-6, one.forecast)
close(0.75, one.ratio)
# "c" is ready after 10 us, in the first tenth; so "a" alone is judged.
close(0.25, one.median)
close(0.25, one.largest)
assert one.largest_at == "a"

datasheet = check.compare(stepcast, "v100-datasheet")
assert [network for network, _, _ in check.NETWORKS if not datasheet[network][1].matched] == ["lstm-wikitext2"]
for network, layers in (("vgg16", 16), ("resnet50", 107), ("bert-base", 99)):  # 13 + 3; 53 + 53 + 1; 12 · 8 + 3 embeddings
    assert len(datasheet[network][1].pairs) == layers, (network, len(datasheet[network][1].pairs))

# A made-up H100 that measured its datasheet's figures. Its launch, at a V100's clock, is that of the V100's datasheet.
# The transferred profile is therefore the V100's datasheet.
with tempfile.TemporaryDirectory() as folder:
    def path(name):
        return os.path.join(folder, name)

    def transfer(profile):
        with open(path("measured.json"), "w", encoding="utf-8") as file:
            json.dump(profile, file)
        subprocess.run([calibrate, "transfer", path("measured.json"), "--from", "h100-datasheet", "--to", "v100-datasheet", "-o", path("moved.json")], check=True, capture_output=True)
        return check.compare(stepcast, path("moved.json"))

    with open(os.path.join(sources, "scenarios", "profiles", "h100-datasheet.json"), encoding="utf-8") as file:
        profile = json.load(file)
    del profile["$schema"]
    profile["memory_bandwidth"]["evidence"] = "measured"
    profile["launch_overhead"]["value"] = f"{5 * 1.53 / 1.98!r}us"
    moved = transfer(profile)
    for network in ("vgg16", "resnet50", "bert-base"):
        close(datasheet[network][1].forecast, moved[network][1].forecast)

    # The first convolution was measured at twice its roofline: on the V100 too, so backward ends later by that much.
    table = check.show(stepcast, "resnet50", path("measured.json"), 32)
    profile["layers"] = [{"shape": table["layers"][0]["shape"], "batch": 32, "dtype": "fp32", "weight_gradient": f"{2 * check.si(table['layers'][0]['backward'])!r}s", "evidence": "measured", "source": "made up"}]
    once = check.si(check.show(stepcast, "resnet50", "v100-datasheet", 32)["layers"][0]["backward"])
    moved = transfer(profile)
    close(datasheet["resnet50"][1].forecast + once, moved["resnet50"][1].forecast)

    run = subprocess.run([sys.executable, script, "v100-datasheet", path("moved.json"), "--stepcast", stepcast], capture_output=True, text=True, check=True)
    assert f"{path('moved.json')}: backward of a step" in run.stdout and "not compared, the tables have other tensors" in run.stdout, run.stdout
    wrong = subprocess.run([sys.executable, script, "v10-datasheet", "--stepcast", stepcast], capture_output=True, text=True)
    assert wrong.returncode == 1 and 'did you mean "v100-datasheet"?' in wrong.stderr, wrong.stderr
print("check_transfer.py: ok")
