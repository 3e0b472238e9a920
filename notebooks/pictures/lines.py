"""Lines over an axis of numbers."""
import math

from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from pictures import style
from pictures.choice import share_scale
from pictures.quantities import digits, field_text, number_of, value_text
from pictures.report import groups, is_number, limit, limit_text


def draw(report, picture):
    is_alone = not picture.panels
    figure, grid, panels = style.make_panels(report, picture, (6.6, 3.7) if is_alone else (3.5, 2.7))
    name = picture.quantity.name
    limits = [limit(p, name) for p in report.points]
    values = [v for v in [p.get(name) for p in report.points] + limits if is_number(v)]
    unit, size = picture.quantity.scale(values)
    legend = style.Legend(picture.series, report)
    for axes, members in panels:
        draw_panel(axes, members, report, picture, size, legend)
        scale_x(axes, report, picture.x)
    if share_scale(report, picture):
        scale_y(axes_of(panels), [v / size for v in values], picture)
    else:
        for axes, members in panels:
            own = [v / size for p in members for v in (p.get(name), limit(p, name)) if is_number(v)]
            scale_y([axes], own, picture)
    style.share(grid.flat, "x")
    if share_scale(report, picture):
        style.share(grid.flat, "y")
    style.label_outside(grid, x_label(report, picture.x), picture.quantity.label(unit), ticks="both" if share_scale(report, picture) else "x")
    thin_ticks(figure, axes_of(panels))
    style.frame(figure, report, picture, legend if len(legend.all()) > 1 else None)
    return figure


def draw_panel(axes, members, report, picture, size, legend):
    name = picture.quantity.name
    order = report.values(picture.series) if picture.series else [""]
    by_line = groups(members, [picture.series] if picture.series else [])
    for (value, *_), points in ((key or ("",), points) for key, points in by_line.items()):
        colour, marker, dashes = style.LINES[order.index(value) % len(style.LINES)]
        drawn = sorted((number_of(p[picture.x]), p[name] / size) for p in points if is_number(p.get(name)))
        look = {"color": colour, "marker": marker, "linestyle": dashes, "markersize": 4.5, "linewidth": 1.6}
        if value == "auto":  # lies on the best of the others, and would hide it
            look = {"color": "#BBBBBB", "linestyle": "-", "linewidth": 6, "zorder": 1, "solid_capstyle": "round"}
        (handle,) = axes.plot([x for x, _ in drawn], [y for _, y in drawn], **look)
        if picture.series:
            legend.add(handle, value)
    for curve in limit_curves(members, picture):
        (handle,) = axes.plot([x for x, _ in curve], [y / size for _, y in curve], zorder=3, **style.LIMIT)
        legend.add_last(handle, limit_text(name))
    axes.grid(True, alpha=0.3)


def limit_curves(members, picture):
    """One where all lines have it in common, else the different ones."""
    curves = {}
    for key, points in groups(members, [picture.series] if picture.series else []).items():
        known = [(number_of(p[picture.x]), limit(p, picture.quantity.name)) for p in points]
        curve = tuple(sorted((x, float(f"{y:.5g}")) for x, y in known if y))
        if len(curve) > 1:
            curves.setdefault(curve, key)
    return list(curves)


def x_label(report, axis):
    unit = common_unit(report, axis)
    return f"{field_text(axis)} ({unit})" if unit else field_text(axis)


def common_unit(report, axis):
    units = {value_text(value).partition(" ")[2] for value in report.values(axis)}
    return units.pop() if len(units) == 1 else ""


def scale_x(axes, report, axis):
    unit = common_unit(report, axis)
    names = {number_of(v): value_text(v).removesuffix(" " + unit) for v in report.values(axis)}
    places = sorted(names)
    if places[0] > 0 and places[-1] >= 6 * places[0]:
        axes.set_xscale("log")
    elif places[0] >= 0:
        axes.set_xlim(left=0 if places[0] < 0.3 * places[-1] else None)
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: names.get(min(places, key=lambda place: abs(place - x)), "")))


def axes_of(panels):
    return [axes for axes, _ in panels]


def scale_y(panels, values, picture):
    """From zero, or by decades where values span them; speedup over workers doubles with them."""
    positive = [v for v in values if v > 0]
    doubles = picture.quantity.name == "speedup" and picture.x == "workers" and panels[0].get_xscale() == "log"
    for axes in panels:
        if len(positive) == len(values) and (doubles or max(positive) >= 30 * min(positive)):
            axes.set_yscale("log")
            decades = math.log10(max(positive) / min(positive))
            if doubles and decades <= 3:
                low, high = math.floor(math.log2(min(positive))), math.ceil(math.log2(max(positive)))
                axes.yaxis.set_major_locator(FixedLocator([2.0**k for k in range(low, high + 1)]))
            else:
                axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5) if decades <= 3 else (1,), numticks=12))
            axes.yaxis.set_minor_locator(NullLocator())
        else:
            axes.set_ylim(bottom=min(0, *values), top=max(values) * 1.06)
            axes.yaxis.set_major_locator(style.round_steps(6))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: digits(y)))


def thin_ticks(figure, panels):
    """Leaves out labels along x that would run into the one before."""
    style.lay_out(figure)
    end, kept = -math.inf, []
    labels = panels[-1].get_xticklabels()  # the last panel has its labels
    for label in labels:
        box = label.get_window_extent()
        if label.get_text() and box.x0 > end + 3:
            end = box.x1
            kept.append(label.get_position()[0])
    if len(kept) < len(labels):
        for axes in panels:
            axes.xaxis.set_major_locator(FixedLocator(kept))
        style.lay_out(figure)
