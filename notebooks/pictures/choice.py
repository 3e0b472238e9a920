"""What a picture of a report shows: its kind, what stands along which side, and what makes lines and panels."""
from dataclasses import dataclass, field

from pictures.quantities import Quantity, field_text
from pictures.report import CannotDraw, groups, limit

KINDS = ("lines", "bars", "heatmap", "breakdown", "winners")
ALTERNATIVES = ("variant", "strategy", "algorithm", "compressor")  # axes whose values compete
ALONG_X = ("workers", "size", "bandwidth")
HUES = ("strategy", "compressor")  # columns that may colour bars, axes or not
MOST_LINES = 8
MOST_PANELS = 48
MOST_ROWS = 120
MOST_COLUMNS = 40


@dataclass
class Asked:
    """What the command line says; None and empty leave the choice to us."""

    kind: str = None
    x: str = None
    y: str = None
    lines: str = None
    panels: list = field(default_factory=list)

    def axes(self):
        return [axis for axis in (self.x, self.lines, *self.panels) if axis]


@dataclass
class Picture:
    kind: str
    quantity: Quantity
    x: str = None  # along x; of bars and breakdowns the categories
    series: str = None  # lines, bars of one category, rows of a heat map, what competes
    rows: str = None  # of a map of winners: the axis upwards
    hue: str = None  # a column that colours bars
    panels: list = field(default_factory=list)


def choose(report, asked):
    """@raises CannotDraw for what is asked and is not there"""
    check_axes(report, asked)
    quantity = asked_quantity(report, asked.y) if asked.y else main_quantity(report)
    picture = arrange(report, asked, quantity)
    if not asked.y and quantity.name == "speedup" and are_unlike(report, picture.panels):
        picture = arrange(report, asked, absolute_quantity(report))
    limit_sizes(report, picture)
    return picture


def check_axes(report, asked):
    for option, axes in (("--x", [asked.x]), ("--lines", [asked.lines]), ("--panels", asked.panels)):
        for axis in axes:
            is_hue = option == "--lines" and axis in HUES and asked.kind in (None, "bars")
            if axis and axis not in report.axes and not is_hue:
                raise CannotDraw(f"{option} {axis}: no axis of the study; its axes are {', '.join(report.axes) or 'none'}")
    twice = next((axis for axis in asked.axes() if asked.axes().count(axis) > 1), None)
    if twice:
        raise CannotDraw(f"the axis {twice} is asked for twice; --x, --lines and --panels each take others")
    if asked.kind and asked.kind not in KINDS:
        raise CannotDraw(f"--kind {asked.kind}: no kind of picture; there are {', '.join(KINDS)}")


def asked_quantity(report, name):
    known = report.quantities()
    for quantity in known:
        if name in (quantity.name, quantity.short):
            return quantity
    raise CannotDraw(f"--y {name}: no metric with numbers here; there are {', '.join(q.short for q in known)}")


def main_quantity(report):
    """The quantity that the study's question is about."""
    if report.has("run_time_s"):
        return Quantity("run_time_s")
    if report.is_trained():
        return Quantity("speedup") if report.has_all("speedup") else absolute_quantity(report)
    return Quantity(next((name for name in ("busbw_B_per_s", "algbw_B_per_s") if report.has_all(name)), "step_time_s"))


def absolute_quantity(report):
    names = ("tokens_per_s_per_worker", "throughput_samples_per_s", "step_time_s")
    return Quantity(next((name for name in names if report.has_all(name)), "step_time_s"))


def are_unlike(report, panels):
    """Whether a panel compares speedups that are each over another worker alone: of another network, dtype or batch."""
    if report.baseline_given:
        return False
    for members in groups(report.points, panels).values():
        alone = [p["throughput_samples_per_s"] / p["speedup"] for p in members if p["speedup"]]
        if alone and max(alone) > (1 + 1e-9) * min(alone):
            return True
    return False


def arrange(report, asked, quantity):
    kind = asked.kind or main_kind(report, asked)
    picture = {"lines": lines, "bars": bars, "heatmap": heat_map, "breakdown": breakdown, "winners": winners}[kind](report, asked, quantity)
    used = {picture.x, picture.series, picture.rows}
    others = [axis for axis in report.varying() if axis not in used and axis not in asked.panels]
    picture.panels = others + list(asked.panels)
    return picture


def main_kind(report, asked):
    if not asked.y and any(p.get("worker_kinds") for p in report.points):
        return "breakdown"  # who waits for whom
    x = along(report, asked)
    if x is None:
        return "bars"
    series = asked.lines or alternatives(report, {x, *asked.panels})
    if series is None or len(report.values(series)) <= MOST_LINES:
        return "lines"
    others = [axis for axis in report.varying() if axis not in (x, series, *asked.panels)]
    return "winners" if any(report.is_numeric(axis) for axis in others) and not asked.y else "heatmap"


def along(report, asked, fewest=3):
    """The axis of numbers along x, or None: two values make no line worth drawing."""
    if asked.x:
        return asked.x if report.is_numeric(asked.x) and len(report.values(asked.x)) >= 2 else None
    numeric = [a for a in report.varying() if report.is_numeric(a) and len(report.values(a)) >= fewest and a not in asked.axes()]
    preferred = [axis for axis in ALONG_X if axis in numeric]
    return (preferred or numeric[-1:] or [None])[0]


def alternatives(report, taken):
    """The axis whose values compete with each other."""
    free = [axis for axis in report.varying() if axis not in taken]
    named = [axis for axis in free if not report.is_numeric(axis)]
    return next((axis for axis in ALTERNATIVES if axis in free), (named or free or [None])[0])


def lines(report, asked, quantity):
    x = along(report, asked) or along(report, asked, fewest=2)
    if x is None:
        numeric = [axis for axis in report.varying() if report.is_numeric(axis)]
        raise CannotDraw(f"lines want an axis with several numbers along x (there {'are ' + ', '.join(numeric) if numeric else 'is none'}); take --kind bars")
    series = asked.lines or alternatives(report, {x, *asked.panels})
    if series and len(report.values(series)) > MOST_LINES:
        series = None  # a panel each
    return Picture("lines", quantity, x=x, series=series)


def bars(report, asked, quantity):
    hue = asked.lines if asked.lines not in report.axes else None
    taken = {*asked.panels, asked.lines}
    category = asked.x or alternatives(report, taken) or next(iter(report.axes), None)
    picture = Picture("bars", quantity, x=category, series=None if hue else asked.lines, hue=hue)
    if asked.lines is None:
        picture.series = side_by_side(report, asked, picture)
    if picture.series is None and hue is None:
        picture.hue = hue_of(report, category)
    return picture


def side_by_side(report, asked, picture):
    """The axis that sets bars of one category side by side: the last with few values that leaves a panel's ideal speedup one."""
    free = [axis for axis in report.varying() if axis != picture.x and axis not in asked.panels]
    for axis in reversed(free):
        panels = [a for a in free if a != axis] + asked.panels
        if len(report.values(axis)) <= 4 and (picture.quantity.name != "speedup" or has_one_limit(report, panels)):
            return axis
    return None


def has_one_limit(report, panels):
    for members in groups(report.points, panels).values():
        limits = [value for value in (limit(p, "speedup") for p in members) if value]
        if limits and max(limits) > 1.001 * min(limits):
            return False
    return True


def hue_of(report, category):
    """A column that sorts the categories into a few families."""
    if category not in report.axes or report.is_numeric(category):
        return None
    for column in HUES:
        families = groups(report.points, [category, column]) if column not in report.axes and all(column in p for p in report.points) else {}
        if len(families) == len(report.values(category)) and 2 <= len(report.values(column)) <= 5:
            return column
    return None


def heat_map(report, asked, quantity):
    rows = asked.lines or alternatives(report, {asked.x, *asked.panels})
    taken = {rows, *asked.panels}
    x = asked.x or along(report, Asked(panels=[a for a in taken if a]), fewest=2) or alternatives(report, taken)
    if rows is None or x is None:
        raise CannotDraw("a heat map wants two axes with several values; take --kind bars")
    return Picture("heatmap", quantity, x=x, series=rows)


def winners(report, asked, quantity):
    contest = asked.lines or alternatives(report, {asked.x, *asked.panels})
    free = [a for a in report.varying() if a != contest and a not in asked.panels and a != asked.x]
    free.sort(key=lambda a: (not report.is_numeric(a), a == "workers", a not in ALONG_X))
    x = asked.x or (free.pop(0) if free else None)
    if contest is None or x is None:
        raise CannotDraw("a map of winners wants an axis whose values compete and another one; take --kind bars")
    numeric = [axis for axis in free if report.is_numeric(axis)]
    rows = "workers" if "workers" in free else (numeric or free or [None])[0]
    return Picture("winners", quantity, x=x, series=contest, rows=rows)


def breakdown(report, asked, _quantity):
    free = [axis for axis in report.varying() if axis not in asked.panels]
    category = asked.x or asked.lines
    if category is None and free:
        named = alternatives(report, set(asked.panels))
        situations = len(groups(report.points, [axis for axis in report.varying() if axis != named]))
        category = named if situations <= 12 else max(free, key=lambda axis: len(report.values(axis)))
    return Picture("breakdown", Quantity("step_time_s"), x=category or next(iter(report.axes), None))


def share_scale(report, picture):
    """Whether panels side by side have one range. Speedups over a worker alone are read against each panel's own ideal."""
    return picture.quantity.name != "speedup" or report.baseline_given or picture.x == "workers"


def limit_sizes(report, picture):
    panels = len(groups(report.points, picture.panels))
    if panels > MOST_PANELS:
        fields = ", ".join(field_text(axis) for axis in picture.panels)
        raise CannotDraw(f"{panels} panels ({fields}) are too many; choose points, with run's --point, or name axes by --x and --lines")
    if picture.kind in ("heatmap", "winners"):
        rows = picture.rows if picture.kind == "winners" else picture.series
        if len(report.values(picture.x)) > MOST_COLUMNS or (rows and len(report.values(rows)) > MOST_ROWS):
            raise CannotDraw(f"a map of {field_text(picture.x)} by {field_text(rows or picture.series)} has too many cells; choose points, with run's --point")
    if picture.kind in ("bars", "breakdown"):
        rows = max(len(p) for p in groups(report.points, picture.panels).values())
        if rows > MOST_ROWS:
            raise CannotDraw(f"{rows} bars in a panel are too many; choose points, with run's --point, or name axes by --panels")
