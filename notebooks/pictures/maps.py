"""Heat maps: a quantity over two axes, or who wins there."""
import math

from matplotlib.patches import Patch, Rectangle
from matplotlib.pyplot import get_cmap

from pictures import style
from pictures.quantities import digits, field_text, number_of, value_text
from pictures.report import groups, is_number

COLOURS = get_cmap("cividis")  # light is best, in grey too
WINNERS = [style.ORANGE, style.BLUE, style.YELLOW, style.GREEN, style.PURPLE, style.VERMILION, style.SKY, "#999999"]


def draw_heat_map(report, picture):
    """Rows of what competes, coloured by how near each comes to its column's best, which has a frame."""
    name = picture.quantity.name
    values = sorted(abs(p[name]) for p in report.points if is_number(p.get(name)))
    unit, size = picture.quantity.scale([values[len(values) // 2]])
    columns, rows = in_order(report, picture.x), in_order(report, picture.series)
    figure, grid, panels = style.make_panels(report, picture, (max(2.2, column_width(columns, 0.75) * len(columns)) + 2.2, 0.7 + 0.27 * len(rows)), most_columns=2)
    for axes, members in panels:
        cells = {(p[picture.x], p[picture.series]): p[name] / size for p in members if is_number(p.get(name))}
        best = best_of_columns(cells, picture)
        for (x, row), value in cells.items():
            draw_cell(axes, (columns.index(x), rows.index(row)), value, nearness(value, best[x], picture))
        set_cells(axes, columns, rows)
    style.label_outside(grid, field_text(picture.x), field_text(picture.series), ticks="y")
    legend = style.Legend()
    for share, text in ((0.0, "0 %"), (0.5, "50 %"), (1.0, f"100 % of the best at this {field_text(picture.x)}")):
        legend.add_text(Patch(facecolor=COLOURS(share)), text)
    legend.add_text(Patch(facecolor="none", edgecolor=style.VERMILION, linewidth=2), "within 0.5 % of the best")
    style.lay_out(figure)
    style.frame(figure, report, picture, legend, [picture.quantity.label(unit)])
    return figure


def nearness(value, best, picture):
    """1 for the best, towards 0 for what is far behind."""
    part, whole = (best, value) if picture.quantity.less_is_better else (value, best)
    return min(1.0, max(0.0, part / whole)) if whole else 1.0


def draw_cell(axes, place, value, share):
    shade = COLOURS(share)
    axes.add_patch(Rectangle((place[0] - 0.5, place[1] - 0.5), 1, 1, facecolor=shade, edgecolor="white", linewidth=0.8))
    is_best = share >= 0.995
    is_dark = 0.3 * shade[0] + 0.59 * shade[1] + 0.11 * shade[2] < 0.5
    axes.text(*place, digits(value), ha="center", va="center", color="white" if is_dark else "black", fontsize=8, weight="bold" if is_best else "normal")
    if is_best:
        axes.add_patch(Rectangle((place[0] - 0.47, place[1] - 0.46), 0.94, 0.92, fill=False, edgecolor=style.VERMILION, linewidth=2, zorder=3))


def column_width(columns, least):
    """In inches, for the columns' names."""
    return max([least, *(0.15 + 0.08 * len(value_text(value)) for value in columns)])


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
    cell = max(1.0, 0.1 + 0.085 * longest, column_width(columns, 0))
    figure, grid, panels = style.make_panels(report, picture, (cell * len(columns) + 0.9, 0.75 * len(rows) + 0.8), most_columns=2)
    best = [best_cells(members, picture) for _, members in panels]
    winning = [value for value in report.values(picture.series) if any(p[picture.series] == value for cells in best for p in cells.values())]
    for (axes, _), cells in zip(panels, best):
        for (x, row), point in cells.items():
            place = columns.index(x), rows.index(row)
            colour = WINNERS[winning.index(point[picture.series]) % len(WINNERS)]
            axes.add_patch(Rectangle((place[0] - 0.5, place[1] - 0.5), 1, 1, facecolor=pale(colour), edgecolor="white", linewidth=2))
            axes.text(*place, f"{value_text(point[picture.series])}\n{picture.quantity.text(point[name])}", ha="center", va="center", fontsize=8.5)
        set_cells(axes, columns, rows, upwards=True)
    style.label_outside(grid, field_text(picture.x), field_text(picture.rows) if picture.rows else "", ticks="both" if picture.rows else "x")
    style.lay_out(figure)
    style.frame(figure, report, picture, None)
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
