"""How all pictures look: colours, hatches, the grid of panels, and what stands above and below it."""
from figures import plt

from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox, BboxTransformFrom

from pictures.quantities import field_and_value, field_text, value_text
from pictures.report import groups

# Okabe and Ito's colours, which colour-blind people can distinguish. In grey, markers and dashes distinguish lines.
BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, YELLOW, BLACK = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442", "#000000")
LINES = [(BLUE, "o", "-"), (VERMILION, "s", "--"), (GREEN, "^", "-."), (ORANGE, "D", "-"), (SKY, "v", "--"),
         (PURPLE, "P", "-."), (BLACK, "X", "-"), ("#8A7A00", "*", "--")]
# Fills of bars: neighbours differ in lightness, and in hatching.
FILLS = [(BLUE, ""), (ORANGE, "///"), (SKY, ""), (VERMILION, "..."), (YELLOW, "xx"), (GREEN, ""), (PURPLE, "\\\\\\"), ("#999999", "")]
DPI = 130
EDGE = 0.12  # inches around a picture
LIMIT = {"color": "#444444", "linestyle": ":", "linewidth": 1.4}

plt.rcParams.update({"font.size": 9, "axes.titlesize": 9, "axes.labelsize": 9, "hatch.linewidth": 0.5, "svg.fonttype": "none",
                     "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "svg.hashsalt": "stepcast"})
if "text.parse_math" in plt.rcParams:  # names of variants are text, never formulas
    plt.rcParams["text.parse_math"] = False


def panel_title(axes, key, width=48):
    """Fields and values; a line ends between two of them where it can."""
    fields = [field_and_value(axis, value) for axis, value in zip(axes, key)]
    lines = [""]
    for i, text in enumerate(fields):
        text += "," if i + 1 < len(fields) else ""
        if lines[-1] and len(lines[-1]) + 1 + len(text) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {text}".strip()
    return "\n".join(part for line in lines for part in wrap_words(line, width))


def wrap_words(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def make_panels(report, picture, size, most_columns=3):
    """The figure, and pairs of a panel's axes and its points. `size`: width and height of a panel, in inches."""
    panels = groups(report.points, picture.panels)
    columns = len({key[-1] for key in panels}) if picture.panels else 1
    if columns > most_columns or len(panels) % columns:
        columns = 2 if len(panels) == 4 else min(len(panels), most_columns)
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(size[0] * columns, size[1] * rows), squeeze=False, dpi=DPI)
    drawn = []
    for axes, (key, members) in zip(grid.flat, panels.items()):
        if picture.panels:
            axes.set_title(panel_title(picture.panels, key), loc="left", y=1)  # a given place: matplotlib looks for no ticks above
        drawn.append((axes, members))
    for axes in list(grid.flat)[len(panels):]:
        axes.set_visible(False)
    return figure, grid, drawn


def label_outside(grid, x, y, ticks="both"):
    """Labels on the left and below; a panel with nothing below it is the lowest of its column. An axis without a label gets a given
    place for it, so that matplotlib does not look for one."""
    for row in range(grid.shape[0]):
        for column in range(grid.shape[1]):
            axes = grid[row, column]
            if not axes.get_visible():
                continue
            is_lowest = row + 1 == grid.shape[0] or not grid[row + 1, column].get_visible()
            if is_lowest:
                axes.set_xlabel(x)
            else:
                axes.xaxis.set_label_coords(0.5, 0)
                if ticks in ("both", "x"):
                    axes.tick_params(labelbottom=False)
            if column == 0:
                axes.set_ylabel(y)
            else:
                axes.yaxis.set_label_coords(0, 0.5)
                if ticks in ("both", "y"):
                    axes.tick_params(labelleft=False)


def share(panels, which):
    """One range for these panels."""
    panels = [axes for axes in panels if axes.get_visible()]
    ranges = [getattr(axes, f"get_{which}lim")() for axes in panels]
    for axes in panels:
        getattr(axes, f"set_{which}lim")(min(low for low, _ in ranges), max(high for _, high in ranges))


def round_steps(most):
    """Ticks at round numbers."""
    return MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])


class Legend:
    """Entries in the order they first came."""

    def __init__(self, axis=None, report=None):
        self.entries, self.last = {}, {}
        self.says_field = bool(axis) and (report is None or axis not in report.axes or not report.is_numeric(axis))
        self.axis = axis

    def add(self, handle, value):
        """A value of the axis; numbers say their field, names have it as the legend's title."""
        self.add_text(handle, value_text(value) if self.says_field else field_and_value(self.axis, value))

    def add_text(self, handle, text):
        self.entries.setdefault(text, handle)

    def add_last(self, handle, text):
        """Behind the others."""
        self.last.setdefault(text, handle)

    def all(self):
        return {**self.entries, **self.last}

    def title(self):
        return field_text(self.axis) if self.says_field else None


def subtitle_of(report, picture):
    """What the picture's labels leave out: the study's name, the baseline, and axes of one value."""
    parts = [report.name]
    if picture.quantity.name in ("speedup", "run_speedup") and picture.kind != "breakdown":
        parts.append(f"speedup over {report.baseline}")
    if picture.kind == "breakdown" and any(p.get("worker_kinds") for p in report.points):
        parts.append("where workers differ, a bar for each kind of them")
    if picture.quantity.name == "run_time_s" and picture.kind == "bars" and report.baseline_given:
        parts.append(f"in brackets the speedup over {report.baseline}")
    if picture.kind == "winners":
        direction = "least" if picture.quantity.less_is_better else "highest"
        parts.append(f"in each cell the {field_text(picture.series)} of the {direction} {picture.quantity.words}")
    parts += [field_and_value(axis, report.values(axis)[0]) for axis in report.fixed()]
    return parts


def lay_out(figure):
    """Gives panels the room that their texts leave. As the figure's engine it would be done again at each drawing."""
    ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06).execute(figure)


def frame(figure, report, picture, legend, told=()):
    """The question above the panels, which are laid out, and the legend below them. `told`: more for the line below the question.
    The figure gets the picture's size. Saving it then needs no other drawing that finds the size out."""
    panels = Bbox.union([axes.get_tightbbox() for axes in figure.axes if axes.get_visible()])
    width, height = figure.bbox.size
    left, wide = panels.x0 / width, max(panels.width, 5.5 * figure.dpi)
    boxes = [panels]
    if legend and legend.all():
        boxes.append(add_legend(figure, legend, (left, (panels.y0 - 0.08 * figure.dpi) / height), wide))
    boxes.append(add_text(figure, "; ".join([*subtitle_of(report, picture), *told]), left, (panels.y1 + 0.08 * figure.dpi) / height, wide, fontsize=8.5, color="#444444"))
    if report.description:
        boxes.append(add_text(figure, report.description, left, (boxes[-1].y1 + 0.05 * figure.dpi) / height, wide, fontsize=11))
    crop(figure, Bbox.union(boxes).padded(EDGE * figure.dpi))


def crop(figure, box):
    """The figure becomes this part of itself. `box`: in pixels."""
    inside = BboxTransformFrom(box)
    places = [(axes, axes.get_window_extent().transformed(inside)) for axes in figure.axes]
    texts = [(text, inside.transform(figure.transFigure.transform(text.get_position()))) for text in figure.texts]
    legends = [(legend, inside.transform(legend.get_bbox_to_anchor().p0)) for legend in figure.legends]
    figure.set_size_inches(box.size / figure.dpi)
    for axes, place in places:
        axes.set_position(place)
    for text, place in texts:
        text.set_position(place)
    for legend, place in legends:
        legend.set_bbox_to_anchor(place)


def add_text(figure, text, x, y, wide, **style):
    """Lines of at most `wide` pixels, upwards from y.
    @returns  their box"""
    drawn = figure.text(x, y, text, ha="left", va="bottom", **style)
    characters = len(text)
    while (box := drawn.get_window_extent()).width > wide and characters > 20:
        characters = int(characters * 0.95)
        drawn.set_text("\n".join(wrap_words(text, characters)))
    return box


def add_legend(figure, legend, place, wide):
    """In as many columns as fit.
    @returns  its box"""
    entries = legend.all()
    for columns in range(min(len(entries), 6), 0, -1):
        drawn = figure.legend(entries.values(), entries.keys(), loc="upper left", bbox_to_anchor=place, ncol=columns, frameon=False,
                              borderaxespad=0, borderpad=0, handlelength=2.8, title=legend.title(), alignment="left", fontsize=9)
        box = drawn.get_window_extent()
        if columns == 1 or box.width <= wide:
            return box
        drawn.remove()
