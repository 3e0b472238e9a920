#!/usr/bin/env python3
"""No folder includes one above it: of LAYERS each may include those before it, of BESIDE each what its list names. No two
headers have one name."""
import collections
import pathlib
import re
import sys

LAYERS = ["models/unit", "models/describe", "models/part", "models/workload", "models/collective", "models/compressor", "models/fabric",
          "models/price", "models/scenario", "models/study", "models/strategy", "models/forecast", "models/equation", "models/report",
          "models/explain", "models/search", "models/validation",
          "sim/platform", "sim/replay", "sim/answer", "sim/program"]
# These stand beside them, and use only the named parts of the simulator.
BESIDE = {"kernels": [], "program": ["models/unit", "models/describe"],
          "calibrate": ["kernels", "program", "models/unit", "models/describe", "models/part", "models/collective", "models/workload", "models/scenario"]}


def folder(path):
    """The folder of LAYERS or BESIDE that holds a path from the project's root."""
    parts = path.split("/")
    return parts[0] if parts[0] in BESIDE else "/".join(parts[:2])


def main(root):
    faults, seen = [], 0
    for top in ("models", "sim", *BESIDE):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".hpp", ".cpp", ".cu", ".cuh"):
                continue
            here = folder(str(file.relative_to(root)))
            allowed = BESIDE[here] + [here] if here in BESIDE else LAYERS[: LAYERS.index(here) + 1] + ["program"] * here.startswith("sim/")
            for included in re.findall(r'^#include "((?:models|sim|kernels|calibrate|program)/[^"]+)"', file.read_text(), re.MULTILINE):
                seen += 1
                if folder(included) not in allowed:
                    faults.append(f"{file.relative_to(root)}: includes {included}; {here} may include {', '.join(allowed)}")
    headers = collections.defaultdict(list)
    for top in ("cmake", "models", "sim", "tests", *BESIDE):
        for file in (root / top).rglob("*.hpp"):
            headers[file.name].append(str(file.relative_to(root)))
    faults += [f"one name for several headers: {', '.join(sorted(files))}" for files in headers.values() if len(files) > 1]
    print("\n".join(faults) or f"{seen} includes, none upwards; {len(headers)} headers, each with its own name")
    return bool(faults) or seen < 500  # a test that sees nothing would pass


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
