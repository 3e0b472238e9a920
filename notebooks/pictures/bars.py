"""Bars for categories, from zero."""
from matplotlib.patches import Patch
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter

from pictures import style
from pictures.choice import share_scale
from pictures.quantities import PERCENT, RATIO, TIMES, digits, field_text, value_text, with_unit
from pictures.report import groups, is_number, limit, limit_text, phases

ROW = 0.25  # inches a bar


def draw(report, picture):
    name = picture.quantity.name
    values = sorted(abs(p[name]) for p in report.points if is_number(p.get(name)))
    unit, size = picture.quantity.scale([values[len(values) // 2]])
    by_panel = groups(report.points, picture.panels)
    most = max(len(members) for members in by_panel.values())
    several = len(by_panel) > 1
    figure, grid, panels = style.make_panels(report, picture, (4.2 if several else 7.2, 0.9 + ROW * max(most, 4)), most_columns=2)
    legend = style.Legend(picture.series or picture.hue, report)
    stacked = picture.series is None and name == "run_time_s" and len({n for p in report.points for n, _ in phases(p)}) > 1
    if stacked:
        legend = style.Legend()
    places = [draw_panel(axes, members, report, picture, size, legend, stacked) for axes, members in panels]
    set_widths(grid, panels, report, picture, size)
    limits = Limits(picture, size, legend)
    for (axes, _), bars in zip(panels, places):
        limits.draw(axes, bars)
    style.label_outside(grid, picture.quantity.label(unit), field_text(picture.x or "scenario"), ticks="y")
    move_texts(figure, panels)
    style.frame(figure, report, picture, legend)
    return figure


def draw_panel(axes, members, report, picture, size, legend, stacked):
    """Categories downwards; the bars of one side by side, in the order of their series.
    @returns  pairs of a bar's place and its point"""
    name = picture.quantity.name
    y, ticks, names, drawn = 0.0, [], [], []
    categories = groups(members, [picture.x]) if picture.x else {(report.name,): members}
    for (category,), points in categories.items():
        first = y
        for point in points:
            drawn.append((y, point))
            if is_number(point.get(name)):
                bar(axes, y, point, report, picture, size, legend, stacked)
            y += 1
        ticks.append((first + y - 1) / 2)
        names.append(value_text(category))
        y += 0.5 if len(points) > 1 else 0.0
    axes.set_ylim(drawn[-1][0] + 0.6, -0.6)
    axes.set_yticks(ticks, names)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: digits(x)))
    axes.xaxis.set_major_locator(style.round_steps(5))
    axes.grid(True, axis="x", alpha=0.3)
    return drawn


def bar(axes, y, point, report, picture, size, legend, stacked):
    name = picture.quantity.name
    colour, hatch = fill_of(point, report, picture)
    value = point[name] / size
    parts = phases(point) if stacked else []
    if parts:
        stack(axes, y, [(text, seconds / size) for text, seconds in parts], report, legend)
    else:
        axes.barh(y, value, height=0.8, color=colour, alpha=0.45 if point.get("lacks_memory") else 1, hatch=hatch, edgecolor="white", linewidth=0.5)
    if (picture.series or picture.hue) and not parts:
        legend.add(Patch(facecolor=colour, hatch=hatch, edgecolor="white"), str(point[picture.series or picture.hue]))
    end = end_of(point, name) / size
    if end > value and is_number(point.get("step_time_p5_s")):
        axes.plot([point["step_time_p5_s"] / size, end], [y, y], color="black", linewidth=1)
    axes.annotate(bar_text(point, report, picture, size), (end, y), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)


def end_of(point, name):
    """Where the bar ends: with jitter the 95th percentile, up to which a stroke goes."""
    high = point.get("step_time_p95_s") if name == "step_time_s" else None
    return max(point[name], high) if is_number(high) else point[name]


def fill_of(point, report, picture):
    axis = picture.series or picture.hue
    return style.FILLS[report.values(axis).index(str(point[axis])) % len(style.FILLS)] if axis else style.FILLS[0]


def stack(axes, y, parts, report, legend):
    """The phases of a run; those of one name look alike."""
    names = []
    for point in report.points:
        names += [n for n, _ in phases(point) if n not in names]
    left = 0.0
    for text, length in parts:
        colour, hatch = style.FILLS[names.index(text) % len(style.FILLS)]
        axes.barh(y, length, left=left, height=0.8, color=colour, hatch=hatch, edgecolor="white", linewidth=0.5)
        legend.add_text(Patch(facecolor=colour, hatch=hatch, edgecolor="white"), f"phase {text}")
        left += length


def bar_text(point, report, picture, size):
    """The unit stands at the axis, but for times, which people read with theirs."""
    quantity, value = picture.quantity, point[picture.quantity.name]
    unit = next(name for name, one in quantity.scales if one == size)
    text = with_unit(digits(value / size), unit if quantity.scales in (TIMES, RATIO, PERCENT) else "")
    if quantity.name == "run_time_s" and report.baseline_given and is_number(point.get("run_speedup")):
        text += f" ({digits(point['run_speedup'])}×)"
    return text + (", does not fit in memory" if point.get("lacks_memory") else "")


def set_widths(grid, panels, report, picture, size):
    """From zero, with room for the texts; panels of a row have one range."""
    name = picture.quantity.name
    for axes, members in panels:
        values = [end_of(p, name) / size for p in members if is_number(p.get(name))] or [1]
        limits = [most / size for most in (limit(p, name) for p in members) if most and most / size <= 1.8 * max(values)]
        texts = max((len(bar_text(p, report, picture, size)) for p in members if is_number(p.get(name))), default=4)
        room = (texts * 0.065 + 0.15) / (2.7 if len(panels) > 1 else 4.8)
        near = [most for most in limits if most <= max(values) * (1 + room)]  # the longest bar's text stands behind it
        axes.set_xlim(min(0, *values), max(max(limits, default=0) * 1.04, max([*values, *near]) * (1 + room)) or 1)
    if share_scale(report, picture):
        for row in grid:
            style.share(row, "x")


class Limits:
    """What could be reached: a line where a panel has one limit, else a tick at each bar."""

    def __init__(self, picture, size, legend):
        self.picture, self.size, self.legend = picture, size, legend
        self.text = limit_text(picture.quantity.name)

    def draw(self, axes, bars):
        """@param bars  pairs of a bar's place and its point"""
        found = [(y, value / self.size) for y, value in ((y, limit(p, self.picture.quantity.name)) for y, p in bars) if value]
        right = axes.get_xlim()[1]
        inside = [(y, value) for y, value in found if value <= right]
        if len({f"{value:.4g}" for _, value in found}) == 1:
            (handle,) = [axes.axvline(found[0][1], **style.LIMIT)] if inside else axes.plot([], [], **style.LIMIT)
            self.legend.add_last(handle, self.text)
            if not inside:
                self.tell(axes, found[0][1], 1.0, axes.transAxes, "bottom")
            return
        for y, value in inside:
            (handle,) = axes.plot([value] * 2, [y - 0.47, y + 0.47], color=style.LIMIT["color"], linewidth=1.6)
            self.legend.add_last(handle, self.text)
        told = None
        for y, value in found:
            if value > right and digits(value) != told:
                self.tell(axes, value, y, axes.get_yaxis_transform(), "center")
                told = digits(value)

    def tell(self, axes, value, y, transform, vertical):
        """At the right edge: the limit is outside."""
        text = f"{self.text.partition(':')[0]} {self.picture.quantity.text(value * self.size)} →"
        axes.text(0.995, y, text, transform=transform, ha="right", va=vertical, fontsize=8, color=style.LIMIT["color"])


def move_texts(figure, panels):
    """Texts that a limit would run through stand to its right; a limit told at the edge joins a text in its way."""
    style.lay_out(figure)
    has_moved = False
    for axes, _ in panels:
        marks = [line.get_window_extent() for line in axes.get_lines() if len(line.get_xdata())]
        for text in (artist for artist in axes.texts if isinstance(artist, Annotation)):
            box = text.get_window_extent()
            hit = next((m for m in marks if box.x0 - 2 <= m.x0 <= box.x1 + 2 and m.y0 < box.y1 and m.y1 > box.y0), None)
            if hit:
                text.xy = (axes.transData.inverted().transform((hit.x0, 0))[0], text.xy[1])
                has_moved = True
            for told in [t for t in axes.texts if not isinstance(t, Annotation)]:
                if told.get_window_extent().overlaps(text.get_window_extent()):
                    text.set_text(f"{text.get_text()}, {told.get_text()}")
                    told.remove()
                    has_moved = True
    if has_moved:
        style.lay_out(figure)
