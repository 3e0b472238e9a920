#!/usr/bin/env python3
"""Writes how far off forecasts are into README.md and docs/how-far-off.md, from `stepcast validate`.

    scenarios/scripts/make_figures.py STEPCAST          writes them
    scenarios/scripts/make_figures.py STEPCAST --check  exit code 1 if one is another
"""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]


def percent(share):
    return f"{100 * share:.1f} %"


def sentences(found):
    """By file: the sentence's pattern, and the sentence."""
    total = found["summary"]
    figure = r"[\d.]+"
    count, half, most = total["predictions"], percent(total["median_absolute_error"]), percent(total["p90_absolute_error"])
    fast = "fast" if total["bias"] < 0 else "slow"
    return {
        "README.md": (
            rf"Beside {figure}\s+measurements\s+half\s+of\s+the\s+forecasts\s+are\s+within\s+{figure}\s+%,\s+nine\s+of\s+ten\s+within\s+{figure}\s+%\.",
            f"Beside {count} measurements half of the forecasts are within {half}, nine of ten within {most}."),
        "docs/how-far-off.md": (
            rf"There\s+are\s+{figure}\s+predictions\s+in\s+{figure}\s+suites:\s+half\s+are\s+within\s+{figure}\s+%\s+of\s+the\s+measured\s+time,\s+nine\s+of\s+ten\s+within\s+{figure}\s+%\.\s+On\s+the\s+whole\s+they\s+are\s+{figure}\s+%\s+too\s+(fast|slow)\.",
            f"There are {count} predictions in {len(found['suites'])} suites: half are within {half} of the measured time, nine of ten within {most}. On the whole they are {percent(abs(total['bias']))} too {fast}."),
    }


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    found = json.loads(subprocess.run([sys.argv[1], "validate", "--json", "-"], capture_output=True, check=True).stdout)
    stale = []
    for name, (pattern, sentence) in sentences(found).items():
        text = (ROOT / name).read_text()
        paragraphs = text.split("\n\n")
        at = [i for i, paragraph in enumerate(paragraphs) if re.search(pattern, paragraph)]
        if len(at) != 1:
            sys.exit(f"make_figures.py: {name} has no such sentence: {sentence}")
        paragraph = paragraphs[at[0]]
        if sentence in " ".join(paragraph.split()): continue
        stale.append(name)
        paragraphs[at[0]] = textwrap.fill(re.sub(pattern, sentence, paragraph), 120, break_long_words=False, break_on_hyphens=False)
        if sys.argv[2:] == []: (ROOT / name).write_text("\n\n".join(paragraphs))
    if stale and sys.argv[2:]: sys.exit(f"make_figures.py: not what validate says: {', '.join(stale)}; run {Path(__file__).name} STEPCAST")


if __name__ == "__main__":
    main()
