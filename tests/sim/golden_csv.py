#!/usr/bin/env python3
"""golden_csv.py PROGRAM SCENARIO GOLDEN.csv: runs the scenario and compares the columns of the golden table, numbers within
1e-5. UPDATE_GOLDEN=1 records these columns instead: read the difference before you commit it."""
import csv
import io
import math
import os
import subprocess
import sys

TOLERANCE = 1e-5  # six digits are kept


def brief(text):
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text


def alike(found, expected):
    try:
        return math.isclose(float(found), float(expected), rel_tol=TOLERANCE)
    except ValueError:
        return found == expected


program, scenario, golden = sys.argv[1:]
run = subprocess.run([program, "run", scenario, "--no-plot", "--csv", "-"], capture_output=True, text=True)
if run.returncode != 0: sys.exit(f"exit code {run.returncode}\n{run.stderr}")
with open(golden, newline="") as file: expected = list(csv.reader(file))
columns = expected[0]
found = [columns, *([row[column] for column in columns] for row in csv.DictReader(io.StringIO(run.stdout)))]
if os.environ.get("UPDATE_GOLDEN") == "1":
    with open(golden, "w", newline="") as file: csv.writer(file, lineterminator="\n").writerows([columns, *([brief(cell) for cell in row] for row in found[1:])])
    sys.exit()
wrong = [f"row {i}: expected {e}, found {f}" for i, (e, f) in enumerate(zip(expected, found)) if not all(map(alike, f, e))]
if len(found) != len(expected): wrong.append(f"expected {len(expected)} rows, found {len(found)}")
sys.exit("\n".join(wrong[:20]) or 0)
