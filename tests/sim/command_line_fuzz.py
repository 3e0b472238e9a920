#!/usr/bin/env python3
"""command_line_fuzz.py STEPCAST CALIBRATE SCENARIOS DATA COUNT [SEED]: mutations of command lines that are right, of all
subcommands of both programs. None may end by a signal, beyond 30 s, with another exit code than 0 to 4, or leave a file
that is not whole. Two run at a time; the same seed makes the same mutations."""
import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys
import tempfile

STEPCAST, CALIBRATE, SCENARIOS, DATA = (str(pathlib.Path(a).resolve()) for a in sys.argv[1:5])
COUNT, SEED = int(sys.argv[5]), int(sys.argv[6]) if len(sys.argv) > 6 else 20261123
GOOD = ('{"name": "good", "workload": "resnet50-v100", "cluster": {"workers": [2, 4], '
        '"link": {"bandwidth": "10Gbps", "latency": "25us"}}}')
SETS = ["--set", "/cluster/workers=2"]
LINES = [(STEPCAST, line.split()) for line in (
    "run good.json", "run good.json --point workers=2 --csv out.csv --json out.json", "run good.json --evaluator both --tolerance 1e-3 --jobs 1",
    "run good.json --best 1 --by step --each workers", "sweep good.json --no-cache --csv out.csv --jsonl out.jsonl --jobs 1",
    "sweep good.json --shard 0/1 --shard-file s.jsonl --no-cache", "sweep good.json --cache c.sqlite --evaluator replay --fidelity folded",
    "merge shard.jsonl --csv m.csv --jsonl m.jsonl", "explain good.json --point workers=2 --json out.json --scenario p.json",
    "crossover good.json --along /cluster/link/bandwidth=1Gbps..10Gbps --among workers --grid 3 --csv c.csv",
    "solve good.json --along workers=1..4 --for efficiency=0.9 --within 0.1 --json s.json",
    "validate ddp-2020 --csv v.csv --set /stack/host_cost=0.1ns/B", "trace good.json --set /cluster/workers=2 -o t.json",
    "list algorithms --json l.json", "show ring", "show bucket_cap", "new ddp -o n.json", "import good.json --batch 8 -o w.json", "report good.json -o p.html --point workers=2",
    "run --workload resnet50-v100 --workers 2,4 --link 10Gbps --save saved.json", "run good.json --point workers=2 --measured 200ms",
    "run good.json --columns step,speedup --format markdown --wide", "show workload resnet50 --variant pufferfish --batch 2 --dtype bf16 --json -",
    "show good.json --set /cluster/workers=2 --point workers=2", "schema cluster", "--help", "--version", "run --help")]
LINES += [(CALIBRATE, line.split()) for line in (
    f"link --from {DATA}/osu_latency.txt -o k.json", f"link --from {DATA}/all_reduce_perf.txt --algorithm ring --min-size 16KiB --csv - --name x",
    f"link --from {DATA}/osu_allreduce.txt --ranks 8 --csv k.csv", "transfer v100-datasheet --from v100-datasheet --to a100-datasheet -o p.json --name q",
    "device -o d.json --quick --fit-only", "--help")]
VALUES = [b"", b"-", b"--", b"-1", b"0", b"1e999", b"nan", b"inf", b"9223372036854775808", b"0x10", b"\xff\xfe", b"\xc3\xa9", b"a" * 5000,
          b"/" * 300, b"..", b".", b"/", b"/dev/null", b"good.json", b"broken.json", b"nowhere/x", b"x=y", b"=", b"/=", b"/cluster/workers=0",
          b"/cluster/workers=[1,2,4]", b"/cluster/workers=1..0", b"/x=1..2", b"/cluster/link=null", b"{}", b"[[", b"\"", b"1/0", b"3/2", b"%s%n",
          b"$HOME", b"a b", b"\n", b"\t", b"-o", b"--set", b"--json", b"--csv", b"--nope", b"--jobs=0", b"--help", b"run", b"show"]


def mutated(rng):
    program, words = rng.choice(LINES)
    words = [w.encode() for w in words]
    for _ in range(rng.randint(1, 4)):
        i = rng.randrange(len(words)) if words else 0
        way = rng.randrange(7)
        if not words or way == 0:
            words.insert(i, rng.choice(VALUES))
        elif way == 1:
            del words[i]
        elif way == 2:
            words.insert(i, words[i])
        elif way == 3:
            j = rng.randrange(len(words))
            words[i], words[j] = words[j], words[i]
        elif way == 4:
            words[i] = rng.choice(VALUES)
        elif way == 5:  # a byte of it, never NUL
            at = rng.randrange(len(words[i]) + 1)
            words[i] = words[i][:at] + bytes([rng.randint(1, 255)]) + words[i][at + rng.randint(0, 1):]
        else:
            words.insert(i, rng.choice([w.encode() for w in rng.choice(LINES)[1]]))
    return program, words


def stays_here(word):
    """Mutated paths must not lead out of the folder of the run; those that are read may."""
    return word.startswith((b"/dev/null", DATA.encode())) or b"../" not in word


def attempt(number):
    rng = random.Random(SEED * 1000003 + number)
    program, words = mutated(rng)
    if not all(map(stays_here, words)):
        return None
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        (here / "good.json").write_text(GOOD)
        (here / "broken.json").write_text('{"name": ')
        (here / "shard.jsonl").write_text(SHARD)
        env = {**os.environ, "STEPCAST_SCENARIOS": SCENARIOS, "XDG_CACHE_HOME": folder, "HOME": folder, "TMPDIR": folder}
        try:
            ran = subprocess.run([program, *words], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        except subprocess.TimeoutExpired:
            return f"{number}: {words}: not done after 30 s"
        wrong = []
        if not 0 <= ran.returncode <= 4:
            wrong.append(f"exit code {ran.returncode}")
        if ran.returncode not in (0, 4) and not ran.stderr:
            wrong.append(f"exit code {ran.returncode} without a word")
        wrong += [f"left {f.name!r}" for f in here.rglob("*") if f.suffix == ".partial" or (f.name.startswith(".") and f.is_file())]
        wrong += [f"says {text}" for text in (b"Traceback", b"std::", b"filesystem error", b"terminate called") if text in ran.stderr]
        return f"{number}: {pathlib.Path(program).name} {words}: {'; '.join(wrong)}: {ran.stderr[-300:]}" if wrong else None


with tempfile.TemporaryDirectory() as once:
    pathlib.Path(once, "good.json").write_text(GOOD)
    subprocess.run([STEPCAST, "sweep", "good.json", "--shard", "0/1", "--shard-file", "s", "--no-cache"], cwd=once, check=True,
                   capture_output=True, env={**os.environ, "STEPCAST_SCENARIOS": SCENARIOS})
    SHARD = pathlib.Path(once, "s").read_text()
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    faults = [fault for fault in pool.map(attempt, range(COUNT)) if fault]
print("\n".join(faults) or f"{COUNT} mutations, all ended in order")
sys.exit(bool(faults))
