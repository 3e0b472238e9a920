#!/usr/bin/python3
"""Draws a report of stepcast run --json."""
import argparse
import gc
import io
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
NAME = "plot_report.py"
if __name__ == "__main__":
    gc.disable()  # a script of one second has no need to look for garbage

from pictures import style  # noqa: E402,F401  first: it says what is wrong with matplotlib
from pictures import bars, breakdown, lines, maps  # noqa: E402
from pictures.choice import KINDS, Asked, choose  # noqa: E402
from pictures.report import CannotDraw, read  # noqa: E402

SUFFIXES = (".png", ".svg", ".pdf")
SAVED = {".png": {"pil_kwargs": {"compress_level": 3}}, ".svg": {"metadata": {"Date": None}}}  # level 6 takes longer, for 4 % fewer bytes
DRAW = {"lines": lines.draw, "bars": bars.draw, "heatmap": maps.draw_heat_map, "breakdown": breakdown.draw, "winners": maps.draw_winners}


class Parser(argparse.ArgumentParser):
    def error(self, message):
        sys.exit(f"{self.prog}: {message}; see {self.prog} --help")


def parser():
    parsed = Parser(prog=NAME, description="Draws a report of stepcast run --json.", allow_abbrev=False)
    parsed.add_argument("report", metavar="REPORT.json")
    parsed.add_argument("picture", metavar="PICTURE", help="a file that ends in .png, .svg or .pdf")
    parsed.add_argument("--kind", help=f"one of {', '.join(KINDS)}; without it the one that suits the study")
    parsed.add_argument("--y", metavar="METRIC", help="the quantity, such as speedup, busbw, step_time, memory_per_worker")
    parsed.add_argument("--x", metavar="AXIS", help="the axis along x; of bars and breakdowns the categories")
    parsed.add_argument("--lines", metavar="AXIS", help="the axis that makes lines, bars side by side, rows of a heat map, or that competes")
    parsed.add_argument("--panels", metavar="AXIS,...", action="append", default=[], help="axes that make panels; others that are left over do, too")
    return parsed


def draw(report, asked):
    """The figure."""
    picture = choose(report, asked)
    if not report.has(picture.quantity.name):
        raise CannotDraw(f"no point has a {picture.quantity.words}")
    return DRAW[picture.kind](report, picture)


def save(figure, path):
    """Whole or not at all."""
    path = pathlib.Path(path)
    if path.suffix not in SUFFIXES:
        raise CannotDraw(f"the picture {path} must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], **SAVED.get(path.suffix, {}))
    write_whole(path, drawn.getvalue())


def write_whole(path, content):
    """Beside its place, then renamed."""
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=path.suffix)
    except OSError as error:
        raise CannotDraw(f"cannot write {path}: {error.strerror}") from error
    try:
        with open(handle, "wb") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(beside, 0o666 & ~mask)
        os.replace(beside, path)
    except OSError as error:
        os.unlink(beside)
        raise CannotDraw(f"cannot write {path}: {error.strerror}") from error


def main(arguments):
    options = parser().parse_args(arguments)
    asked = Asked(options.kind, options.x, options.y, options.lines, [axis for some in options.panels for axis in some.split(",") if axis])
    try:
        save(draw(read(options.report), asked), options.picture)
    except CannotDraw as error:
        sys.exit(f"{NAME}: {error}")
    except (KeyError, TypeError, ValueError, MemoryError) as error:  # a report with other contents than ours
        sys.exit(f"{NAME}: {type(error).__name__}: {' '.join(str(error).split())}")


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # nothing is left to write, and freeing matplotlib's objects one by one takes its time
