"""Bars for categories, from zero."""
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from pictures import style
from pictures.quantities import digits, field_text, value_text
from pictures.report import groups, is_number, limit, limit_text, phases

ROW = 0.25  # inches a bar


def draw(report, picture):
    name = picture.quantity.name
    unit, size = picture.quantity.scale([p[name] for p in report.points if is_number(p.get(name))])
    by_panel = groups(report.points, picture.panels)
    most = max(len(members) for members in by_panel.values())
    several = len(by_panel) > 1
    figure, grid, panels = style.make_panels(report, picture, (4.2 if several else 7.2, 0.9 + ROW * max(most, 4)), most_columns=2)
    legend = legend_of(report, picture)
    stacked = picture.series is None and name == "run_time_s" and len({n for p in report.points for n, _ in phases(p)}) > 1
    for axes, members in panels:
        draw_panel(axes, members, report, picture, size, legend, stacked)
    set_width(panels, report, picture, size, legend)
    style.label_outside(grid, picture.quantity.label(unit), field_text(picture.x) if picture.x else "", ticks="y")
    style.frame(figure, report, picture, legend)
    return figure


def legend_of(report, picture):
    return style.Legend(picture.series or picture.hue, report)


def draw_panel(axes, members, report, picture, size, legend, stacked):
    """Categories downwards; the bars of one side by side, in the order of their series."""
    name = picture.quantity.name
    y, ticks, names = 0.0, [], []
    for (category,), points in groups(members, [picture.x] if picture.x else []).items() if picture.x else [((report.name,), members)]:
        first = y
        for point in points:
            if is_number(point.get(name)):
                bar(axes, y, point, report, picture, size, legend, stacked)
            y += 1
        ticks.append((first + y - 1) / 2)
        names.append(value_text(category))
        y += 0.5 if len(points) > 1 else 0.0
    axes.set_ylim(y - 0.4 - (0.5 if picture.series else 0), -0.6)
    axes.set_yticks(ticks, names)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: digits(x)))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.grid(True, axis="x", alpha=0.3)


def bar(axes, y, point, report, picture, size, legend, stacked):
    name = picture.quantity.name
    colour, hatch = fill_of(point, report, picture)
    value = point[name] / size
    parts = phases(point) if stacked else []
    if parts:
        stack(axes, y, [(text, seconds / size) for text, seconds in parts], report, legend)
    else:
        axes.barh(y, value, height=0.8, color=colour, hatch=hatch, edgecolor="white", linewidth=0.5)
    if (picture.series or picture.hue) and not parts:
        legend.add(Patch(facecolor=colour, hatch=hatch, edgecolor="white"), str(point[picture.series or picture.hue]))
    end = value
    low, high = point.get("step_time_p5_s"), point.get("step_time_p95_s")
    if name == "step_time_s" and is_number(low) and is_number(high):
        axes.plot([low / size, high / size], [y, y], color="black", linewidth=1)
        end = max(value, high / size)
    axes.annotate(bar_text(point, report, picture), (end, y), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)


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


def bar_text(point, report, picture):
    name = picture.quantity.name
    text = picture.quantity.text(point[name])
    if name == "run_time_s" and report.baseline_given and is_number(point.get("run_speedup")):
        text += f" ({digits(point['run_speedup'])}×)"
    return text + (", does not fit" if point.get("lacks_memory") else "")


def set_width(panels, report, picture, size, legend):
    """One range from zero for all panels, with room for the texts; limits that lie far outside are told at the edge."""
    name = picture.quantity.name
    values = [p[name] / size for p in report.points if is_number(p.get(name))]
    limits = [limit(p, name) for p in report.points]
    largest = max([*values, *[l / size for l in limits if l and l / size <= 1.6 * max(values)]], default=1) or 1
    texts = max((len(bar_text(p, report, picture)) for p in report.points if is_number(p.get(name))), default=4)
    panel_inches = 2.6 if len(panels) > 1 else 4.6
    right = max(largest * 1.04, max(values, default=1) * (1 + (texts * 0.07 + 0.1) / panel_inches) or 1)
    for axes, members in panels:
        axes.set_xlim(min(0, *values) if values else 0, right)
        draw_limits(axes, members, picture, size, right, legend)


def draw_limits(axes, members, picture, size, right, legend):
    found = [(p, limit(p, picture.quantity.name)) for p in members]
    distinct = {float(digits(value / size, 4)) for _, value in found if value}
    if len(distinct) == 1:
        place = distinct.pop()
        if place <= right:
            legend.add_text(axes.axvline(place, zorder=0.5, **style.LIMIT), limit_text(picture.quantity.name))
        else:
            (handle,) = axes.plot([], [], **style.LIMIT)
            legend.add_text(handle, limit_text(picture.quantity.name))
            text = f"{limit_text(picture.quantity.name).partition(':')[0]} {picture.quantity.text(place * size)} →"
            axes.text(0.995, 1.0, text, transform=axes.transAxes, ha="right", va="bottom", fontsize=8, color=style.LIMIT["color"])
        return
    y = 0.0  # a tick at each bar
    for points in groups(members, [picture.x]).values():
        for point in points:
            value = limit(point, picture.quantity.name)
            if value and value / size <= right:
                (handle,) = axes.plot([value / size] * 2, [y - 0.45, y + 0.45], color=style.LIMIT["color"], linewidth=1.6)
                legend.add_text(handle, limit_text(picture.quantity.name))
            y += 1
        y += 0.5 if len(points) > 1 else 0.0
