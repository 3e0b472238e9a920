#!/usr/bin/python3
"""notebooks_test.py PROGRAM CALIBRATE PROJECT [NOTEBOOK...]: every notebook runs, and shows what is stored in it.

Each notebooks/*.ipynb runs in a temporary copy of its folder. Its stored text must be that of the run, and it must have
a stored picture. 77: Debian's python3-nbclient, python3-ipykernel or python3-matplotlib is not installed.
"""
import concurrent.futures
import difflib
import importlib.util
import os
import pathlib
import re
import shutil
import sys
import tempfile

PROGRAM, CALIBRATE, PROJECT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
MOST_BYTES = 400_000
sys.dont_write_bytecode = True


def load_runner():
    spec = importlib.util.spec_from_file_location("run_notebooks", PROJECT / "notebooks/run_notebooks.py")
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    return runner


def outputs(notebook):
    return [(number, output) for number, cell in enumerate(notebook.cells) if cell.cell_type == "code" for output in cell.outputs]


def texts(notebook):
    """Lines that cells printed, each with its cell's number."""
    return [f"[{number}] {line}" for number, output in outputs(notebook) if output.output_type == "stream" for line in output.text.splitlines()]


def stored_faults(path, notebook):
    """What is wrong with the file itself."""
    whole = path.read_text(encoding="utf-8")
    found = []
    if path.stat().st_size > MOST_BYTES:
        found.append(f"has {path.stat().st_size} bytes, more than {MOST_BYTES}")
    if not any("image/png" in output.get("data", {}) for _, output in outputs(notebook)):
        found.append("has no stored picture")
    if any(output.output_type == "error" for _, output in outputs(notebook)):
        found.append("has a stored error")
    if "iopub" in whole or '"execution": {' in whole:
        found.append("has times of execution in its metadata")
    for home in re.findall(r"(?:/tmp/|/home/|/root/|/Users/)[^\s\"\\]*", re.sub(r'"image/png": "[^"]*"', "", whole)):
        found.append(f"has a path of one machine: {home}")
    return found


def check(runner, path, folder):
    """Faults of one notebook."""
    stored = runner.read(path)
    found = stored_faults(path, stored)
    try:
        ran = runner.without_volatile(runner.execute(runner.read(path), folder))
    except Exception as error:  # a cell's own, or the kernel's
        return [*found, f"does not run: {runner.plain(error)}"]
    changed = list(difflib.unified_diff(texts(stored), texts(ran), "stored", "now", lineterm="", n=0))
    if changed:
        found.append("\n  ".join(["shows now what is not stored in it; run notebooks/run_notebooks.py", *changed[:20]]))
    return found


def main():
    runner = load_runner()
    missing = runner.missing() or (None if importlib.util.find_spec("matplotlib") else "python3-matplotlib")
    if missing:
        print(f"skipped: no {missing} for {sys.executable} (Debian's package)")
        return 77
    paths = sorted((PROJECT / "notebooks").glob("*.ipynb"))
    if sys.argv[4:]:
        paths = [path for path in paths if path.stem in sys.argv[4:]]
    assert paths, "no notebooks"
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "notebooks"
        shutil.copytree(PROJECT / "notebooks", place, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
        os.environ.update({"STEPCAST_PROGRAM": str(PROGRAM), "STEPCAST_CALIBRATE": str(CALIBRATE), "STEPCAST_SCENARIOS": str(PROJECT / "scenarios"),
                           "PYTHONPATH": str(PROJECT / "sim/python"), "XDG_CACHE_HOME": folder, "IPYTHONDIR": folder + "/ipython",
                           "JUPYTER_RUNTIME_DIR": folder + "/runtime", "MPLCONFIGDIR": folder + "/matplotlib"})
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            faults = dict(zip(paths, threads.map(lambda path: check(runner, path, place), paths)))
    for path, found in faults.items():
        for fault in found:
            print(f"{path.name}: {fault}")
    print(f"{len(paths)} notebooks, {sum(map(len, faults.values()))} faults")
    return 1 if any(faults.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
