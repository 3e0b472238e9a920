"""Imported by every notebook: stepcast, the project's folder, colours, tables of text and pictures.

The project is the folder of stepcast's sources above this file, or else the one above STEPCAST_SCENARIOS.
"""
import base64
import io
import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = pathlib.Path(os.environ.get("STEPCAST_SCENARIOS") or HERE.parent / "scenarios").resolve()
PROJECT = next((place for place in (HERE.parent, SCENARIOS.parent) if (place / "CMakeLists.txt").is_file()), HERE.parent)

try:
    import stepcast
except ModuleNotFoundError:
    sys.path.append(str(PROJECT / "sim/python"))
    try:
        import stepcast  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"no module stepcast in {PROJECT}/sim/python: let PYTHONPATH name sim/python of stepcast's sources") from None

from pictures.quantities import Quantity, digits  # noqa: E402,F401
from pictures.style import BLACK, BLUE, FILLS, GREEN, LIMIT, LINES, ORANGE, SKY, VERMILION, plt  # noqa: E402,F401
from si import si  # noqa: E402,F401

plt.rcParams.update({"figure.constrained_layout.use": True, "axes.grid": True, "grid.color": "#DDDDDD", "grid.linewidth": 0.6})


def text(name, value):
    """A metric's value with its unit, to three digits: text("step_time_s", 0.1906) is "191 ms"."""
    if value is None:
        return "-"
    return Quantity(name).text(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def percent(share, places=0):
    """0.061 is "6 %"."""
    return f"{100 * share:.{places}f} %"


def table(rows, **columns):
    """Prints rows as a table. A column is a heading and a metric's name, or a heading and a function of the row."""
    def cell(row, what):
        return what(row) if callable(what) else text(what, row[what])

    lines = [[heading.replace("_", " ") for heading in columns], *([str(cell(row, what)) for what in columns.values()] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    right = [all(line[i][:1].isdigit() or line[i][:1] in "-+" for line in lines[1:]) for i in range(len(columns))]
    for line in lines:
        print("  ".join(word.rjust(width) if is_right else word.ljust(width) for word, width, is_right in zip(line, widths, right)).rstrip())


def show(figure, says):
    """Puts a figure below the cell as a PNG that is the same on every run. `says` describes it for readers who cannot see it."""
    from IPython.display import display
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=84, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    display({"image/png": base64.b64encode(file.getvalue()).decode(), "text/plain": says}, raw=True)


def find(rows, **values):
    """The one row with these values: find(rows, workers=4, variant="server")."""
    found = [row for row in rows if all(str(row[name]) == str(value) for name, value in values.items())]
    if len(found) != 1:
        raise LookupError(f"{len(found)} rows have {values}")
    return found[0]


def calibrate():
    """The path of stepcast-calibrate: $STEPCAST_CALIBRATE, beside the program, in a build folder, or on the PATH."""
    named = os.environ.get("STEPCAST_CALIBRATE")
    places = [pathlib.Path(named)] if named else []
    places += [pathlib.Path(stepcast.program()).parent / "stepcast-calibrate", *sorted(PROJECT.glob("build/*/calibrate/stepcast-calibrate"))]
    found = next((str(place) for place in places if place.is_file()), None) or shutil.which("stepcast-calibrate")
    if not found:
        raise FileNotFoundError("the program stepcast-calibrate is not there; build it (./stepcast test), or name it in STEPCAST_CALIBRATE")
    return found
