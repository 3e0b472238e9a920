"""Where the time of a step goes, as stacked bars."""
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from pictures import style
from pictures.bars import ROW
from pictures.quantities import TIMES, Quantity, digits, field_text, value_text, with_unit
from pictures.report import groups, is_number

PARTS = [("forward", ["forward_s"], (style.BLUE, "")), ("backward", ["backward_s"], (style.SKY, "")),
         ("exposed communication", ["exposed_communication_s"], (style.VERMILLION, "///")),
         ("codec", ["encode_s", "decode_s"], (style.YELLOW, "xx")), ("update", ["update_s"], (style.BLACK, "")),
         ("waiting for others", ["waiting_s"], ("#CCCCCC", ".."))]


def draw(report, picture):
    by_panel = groups(report.points, picture.panels)
    most = max(sum(len(rows_of(p)) for p in members) for members in by_panel.values())
    figure, grid, panels = style.make_panels(report, picture, (3.7 if len(by_panel) > 1 else 7.2, 0.9 + ROW * max(most, 3)))
    whole = max(total(row) for p in report.points for _, row in rows_of(p))
    unit, size = next((s for s in TIMES if whole >= s[1]), TIMES[-1])
    legend = style.Legend()
    for axes, members in panels:
        draw_panel(axes, members, report, picture, size, legend)
    widths = [max(total(row) for p in members for _, row in rows_of(p)) / size for _, members in panels]
    alike = max(widths) <= 5 * min(widths)
    for (axes, _), width in zip(panels, widths):
        axes.set_xlim(0, (max(widths) if alike else width or 1) * (1.3 if len(panels) > 1 else 1.15))
    style.label_outside(grid, Quantity("step_time_s").label(unit), field_text(picture.x) if picture.x else "", ticks="y")
    style.frame(figure, report, picture, legend)
    return figure


def rows_of(point):
    """A bar for the mean of all workers, or one for each kind where they differ: pairs of text and what has the times."""
    kinds = point.get("worker_kinds") or []
    if len(kinds) < 2:
        return [("", point)]
    return [(kind_text(kind, kinds), kind) for kind in kinds]


def kind_text(kind, kinds):
    many = "1 worker" if kind["workers"] == 1 else f"{kind['workers']} workers"
    if len({k["speed"] for k in kinds}) > 1:
        return f"{many} of speed {digits(kind['speed'])}"
    if len({k["bandwidth_B_per_s"] for k in kinds}) > 1:
        return f"{many} at {Quantity('bandwidth_B_per_s').text(kind['bandwidth_B_per_s'])}"
    if len({k["latency_s"] for k in kinds}) > 1:
        return f"{many} at {Quantity('latency_s').text(kind['latency_s'])}"
    return many


def total(row):
    return sum(part_of(row, columns) for _, columns, _ in PARTS)


def part_of(row, columns):
    return sum(row[column] for column in columns if is_number(row.get(column)))


def draw_panel(axes, members, report, picture, size, legend):
    y, ticks, names = 0.0, [], []
    for point in members:
        category = value_text(point[picture.x]) if picture.x else report.name
        rows = rows_of(point)
        for i, (text, row) in enumerate(rows):
            left = 0.0
            for part, columns, (colour, hatch) in PARTS:
                length = part_of(row, columns) / size
                if length > 0:
                    axes.barh(y, length, left=left, height=0.8, color=colour, hatch=hatch, edgecolor="white", linewidth=0.4)
                    legend.add_text(Patch(facecolor=colour, hatch=hatch, edgecolor="white"), part)
                left += length
            unit, own = Quantity("step_time_s").scale([left * size])
            axes.annotate(with_unit(digits(left * size / own), unit), (left, y), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
            ticks.append(y)
            names.append(category if not text else f"{category}: {text}" if i == 0 else text)
            y += 1
        y += 0.5 if len(rows) > 1 else 0.0
    axes.set_yticks(ticks, names)
    axes.set_ylim(y - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(style.round_steps(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: digits(x)))
    axes.grid(True, axis="x", alpha=0.3)
