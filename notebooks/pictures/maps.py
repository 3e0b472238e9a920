"""Heat maps: a quantity over two axes, or who wins there."""
import math

from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Patch, Rectangle
from matplotlib.pyplot import get_cmap

from pictures import style
from pictures.quantities import digits, field_text, number_of, value_text, with_unit
from pictures.report import groups, is_number


def draw_heat_map(report, picture):
    """Rows of what competes, each column's best in a frame."""
    name = picture.quantity.name
    values = [p[name] for p in report.points if is_number(p.get(name))]
    unit, size = picture.quantity.scale(values)
    columns, rows = in_order(report, picture.x), in_order(report, picture.series)
    figure, grid, panels = style.make_panels(report, picture, (max(2.2, 0.75 * len(columns)) + 2.2, 0.7 + 0.27 * len(rows)), most_columns=2)
    low, high = min(values) / size, max(values) / size
    norm = LogNorm(low, high) if low > 0 and high >= 20 * low else Normalize(min(0, low), high or 1)
    colours = get_cmap("cividis_r" if picture.quantity.less_is_better else "cividis")
    for axes, members in panels:
        cells = {(p[picture.x], p[picture.series]): p[name] / size for p in members if is_number(p.get(name))}
        best = best_of_columns(cells, picture)
        for (x, row), value in cells.items():
            place = columns.index(x), rows.index(row)
            shade = colours(norm(value))
            axes.add_patch(Rectangle((place[0] - 0.5, place[1] - 0.5), 1, 1, facecolor=shade, edgecolor="white", linewidth=0.8))
            is_best = abs(value - best[x]) <= 0.005 * abs(best[x])
            dark = 0.3 * shade[0] + 0.59 * shade[1] + 0.11 * shade[2] < 0.5
            axes.text(*place, digits(value), ha="center", va="center", color="white" if dark else "black", fontsize=8, weight="bold" if is_best else "normal")
            if is_best:
                axes.add_patch(Rectangle((place[0] - 0.47, place[1] - 0.46), 0.94, 0.92, fill=False, edgecolor=style.VERMILLION, linewidth=2, zorder=3))
        set_cells(axes, columns, rows)
    style.label_outside(grid, field_text(picture.x), field_text(picture.series))
    legend = style.Legend()
    legend.add_text(Patch(facecolor=colours(norm(low)), edgecolor="white"), f"{picture.quantity.label(unit)}: {digits(low)}")
    legend.add_text(Patch(facecolor=colours(norm(high)), edgecolor="white"), f"{digits(high)}")
    legend.add_text(Patch(facecolor="none", edgecolor=style.VERMILLION, linewidth=2), f"the best at this {field_text(picture.x)}, within 0.5 %")
    style.frame(figure, report, picture, legend)
    return figure


def in_order(report, axis):
    values = report.values(axis)
    return sorted(values, key=number_of) if report.is_numeric(axis) else values


def best_of_columns(cells, picture):
    choose = min if picture.quantity.less_is_better else max
    return {x: choose(v for (other, _), v in cells.items() if other == x) for x, _ in cells}


def set_cells(axes, columns, rows, upwards=False):
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(*((-0.5, len(rows) - 0.5) if upwards else (len(rows) - 0.5, -0.5)))
    axes.set_xticks(range(len(columns)), [value_text(v) for v in columns])
    axes.set_yticks(range(len(rows)), [value_text(v) for v in rows])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def draw_winners(report, picture):
    """In each cell who is best there, and by how much."""
    name = picture.quantity.name
    columns = in_order(report, picture.x)
    rows = in_order(report, picture.rows) if picture.rows else [""]
    longest = max(len(value) for value in report.values(picture.series))
    cell = max(1.0, 0.1 + 0.085 * longest)
    figure, grid, panels = style.make_panels(report, picture, (cell * len(columns) + 0.9, 0.75 * len(rows) + 0.8), most_columns=2)
    best = [best_cells(members, picture) for _, members in panels]
    winning = [value for value in report.values(picture.series) if any(p[picture.series] == value for cells in best for p in cells.values())]
    for (axes, _), cells in zip(panels, best):
        for (x, row), point in cells.items():
            place = columns.index(x), rows.index(row)
            colour, hatch = style.FILLS[winning.index(point[picture.series]) % len(style.FILLS)]
            axes.add_patch(Rectangle((place[0] - 0.5, place[1] - 0.5), 1, 1, facecolor=pale(colour), edgecolor="white", linewidth=2))
            axes.text(*place, f"{value_text(point[picture.series])}\n{picture.quantity.text(point[name])}", ha="center", va="center", fontsize=8.5)
        set_cells(axes, columns, rows, upwards=True)
    style.label_outside(grid, field_text(picture.x), field_text(picture.rows) if picture.rows else "")
    legend = style.Legend()
    direction = "least" if picture.quantity.less_is_better else "highest"
    legend.add_text(Patch(facecolor="none", edgecolor="none"), f"in each cell: the {field_text(picture.series)} of the {direction} {picture.quantity.words}, and that {picture.quantity.words}")
    style.frame(figure, report, picture, legend)
    return figure


def best_cells(members, picture):
    """The best point of each cell; one that does not fit its device wins nowhere."""
    name = picture.quantity.name
    cells = {}
    for (x, *row), points in groups(members, [picture.x] + ([picture.rows] if picture.rows else [])).items():
        usable = [p for p in points if is_number(p.get(name)) and not p.get("lacks_memory") and math.isfinite(p[name])]
        if usable:
            choose = min if picture.quantity.less_is_better else max
            cells[x, row[0] if row else ""] = choose(usable, key=lambda p: p[name])
    return cells


def pale(colour):
    return tuple(1 - 0.45 * (1 - int(colour[i:i + 2], 16) / 255) for i in (1, 3, 5))
