"""Where the time of a step goes, as stacked bars."""
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from pictures import style
from pictures.bars import ROW
from pictures.quantities import TIMES, Quantity, digits, field_text, number_of, value_text, with_unit
from pictures.report import groups, is_number

PARTS = [("forward", ["forward_s"], (style.BLUE, "")), ("backward", ["backward_s"], (style.SKY, "")),
         ("exposed communication", ["exposed_communication_s"], (style.VERMILION, "///")),
         ("the stack", ["stack_s"], (style.GREEN, "\\\\\\")),
         ("codec", ["encode_s", "decode_s"], (style.YELLOW, "xx")), ("update", ["update_s"], (style.BLACK, "")),
         ("waiting for others", ["waiting_s"], ("#CCCCCC", ".."))]


def draw(report, picture):
    by_panel = groups(report.points, picture.panels)
    most = max(sum(len(rows_of(p)) for p in members) for members in by_panel.values())
    figure, grid, panels = style.make_panels(report, picture, (3.7 if len(by_panel) > 1 else 7.2, 0.9 + ROW * max(most, 3)))
    share = share_of_samples if are_unlike_steps(by_panel) else lambda point: 1.0
    widths = [max(total(row) * share(p) for p in members for _, row in rows_of(p)) for _, members in panels]
    alike = max(widths) <= 5 * min(widths)
    unit, size = scale(max(widths))
    legend = style.Legend()
    for (axes, members), width in zip(panels, widths):
        own_unit, own_size = (unit, size) if alike else scale(width)
        draw_panel(axes, members, report, picture, own_size, share, legend)
        room = 1.3 if len(panels) > 1 else 1.15
        axes.set_xlim(0, (max(widths) if alike else width or 1) / own_size * room)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _, shown="" if alike else own_unit: with_unit(digits(x), shown)))
    words = "time per sample of a worker" if share is share_of_samples else Quantity("step_time_s").words
    style.label_outside(grid, f"{words} ({unit})" if alike else words, field_text(picture.x or "scenario"), ticks="y")
    style.lay_out(figure)
    style.frame(figure, report, picture, legend, [] if alike else ["each panel has its own scale"])
    return figure


def scale(value):
    return next((s for s in TIMES if value >= s[1]), TIMES[-1])


def samples_of_worker(point):
    """In a step."""
    rate, workers = point.get("throughput_samples_per_s"), number_of(point.get("workers"))
    return rate * point["step_time_s"] / workers if rate and workers else None


def share_of_samples(point):
    return 1 / samples_of_worker(point)


def are_unlike_steps(by_panel):
    """Whether bars of a panel are steps of unlike many samples of a worker, which only times per sample compare."""
    for members in by_panel.values():
        samples = [samples_of_worker(p) for p in members]
        if not all(samples):
            return False
        if max(samples) > 1.001 * min(samples):
            break
    else:
        return False
    return all(samples_of_worker(p) for members in by_panel.values() for p in members)


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


def draw_panel(axes, members, report, picture, size, share, legend):
    y, ticks, names = 0.0, [], []
    for point in members:
        category = value_text(point[picture.x]) if picture.x else report.name
        rows = rows_of(point)
        for i, (text, row) in enumerate(rows):
            left = 0.0
            for part, columns, (colour, hatch) in PARTS:
                length = part_of(row, columns) * share(point) / size
                if length > 0:
                    axes.barh(y, length, left=left, height=0.8, color=colour, hatch=hatch, edgecolor="white", linewidth=0.4)
                    legend.add_text(Patch(facecolor=colour, hatch=hatch, edgecolor="white"), part)
                left += length
            axes.annotate(Quantity("step_time_s").text(left * size), (left, y), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
            ticks.append(y)
            names.append(category if not text else f"{category}: {text}" if i == 0 else text)
            y += 1
        y += 0.5 if len(rows) > 1 else 0.0
    axes.set_yticks(ticks, names)
    axes.set_ylim(y - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(style.round_steps(4))
    axes.grid(True, axis="x", alpha=0.3)
