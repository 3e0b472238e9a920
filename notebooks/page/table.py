"""The table of all points: its columns, heads with units, and cells that sort by their values."""
import math
from html import escape

from page.study import is_failed
from pictures.quantities import Quantity, digits, field_text, number_of, value_text, with_unit
from pictures.report import is_number

# Columns that are shown at first, behind the axes, where points have them.
IMPORTANT = ("step_time_s", "throughput_samples_per_s", "tokens_per_s_per_worker", "speedup", "scaling_efficiency", "mfu", "run_time_s", "run_speedup",
             "run_cost", "time_to_target_s", "cost_per_million_samples", "algbw_B_per_s", "busbw_B_per_s", "exposed_communication_s", "waiting_s",
             "memory_per_worker_B", "bound_s", "collective_algorithm", "error")
OF_COLLECTIVES = ("algbw_B_per_s", "busbw_B_per_s")
IF_VARIED = ("mfu", "collective_algorithm")
OF_STEP = ("exposed_communication_s", "stack_s", "waiting_s", "bound_s")  # have the unit of step_time_s, beside which they are read
MOST_DECIMALS = {"%": 1, "×": 2}
LONGEST = 160  # characters of a text; critical cycles have thousands
SHORT = 24  # characters of a text that needs no wide column
LONGEST_LINE = 40  # characters of an axis's value that is never broken
SHARES = ("bound_gap", "difference")  # beside those that Quantity knows
HEADS = {"bound_s": "lower bound", "scaling_efficiency": "efficiency", "run_time_s": "time of the run", "busbw_B_per_s": "busbw", "algbw_B_per_s": "algbw",
         "collective_algorithm": "algorithm", "error": "no answer, because", "mfu": "MFU", "tokens_per_s_per_worker": "tokens per worker",
         "step_time_s": "step", "exposed_communication_s": "exposed communication", "stack_s": "stack", "waiting_s": "waiting"}
MISSING = ("", '<span class="none" title="none">–</span>')


class Column:
    def __init__(self, study, name, is_important):
        self.name, self.is_important = name, is_important
        self.is_axis = name in study.axes
        self.meaning = study.meanings.get(name, "")
        values = [point.get(name) for point in study.points if point.get(name) is not None]
        self.is_number = bool(values) and all(is_number(value) for value in values) and not self.is_axis
        self.is_numeric_axis = self.is_axis and all(number_of(value) is not None for value in values)
        self.quantity = Quantity(name)
        if name in SHARES:
            self.quantity.scales = [("%", 0.01)]
        self.keeps_line = name == "notes" or (self.is_axis and max((len(value_text(value)) for value in values), default=0) <= LONGEST_LINE)
        self.is_long = any(len(text_of(value)) > SHORT for value in values)
        if name in OF_STEP:
            values = [point["step_time_s"] for point in study.points if is_number(point.get("step_time_s"))] or values
        self.unit, self.size, self.decimals = shared_unit(self.quantity, values) if self.is_number else ("", None, None)

    def aligns_right(self):
        return self.is_number or self.is_numeric_axis

    def head(self):
        return HEADS.get(self.name) or (field_text(self.name) if self.is_axis else self.quantity.words)

    def cell(self, point, notes):
        """Pairs of the value to sort by and of HTML."""
        value = point.get(self.name)
        if value is None or value == []:
            return MISSING
        if self.is_axis:
            number = number_of(value)
            return ("" if number is None else f"{number:.9g}", escape(value_text(value)))
        if self.is_number:
            return (f"{value:.9g}", escape(self.number_text(value)))
        if self.name == "notes" and isinstance(value, list):
            order = {code: place for place, code in enumerate(notes)}
            codes = sorted(map(str, value), key=lambda code: order.get(code, len(order)))
            return ("", ", ".join(notes.get(code, escape(code)) for code in codes))
        text = text_of(value)
        return ("", escape(text if len(text) <= LONGEST or self.name == "error" else f"{text[:LONGEST].rstrip()} …"))

    def number_text(self, value):
        if value == 0 and self.size is None:
            return "0"
        if self.size is None or not math.isfinite(value):
            return self.quantity.text(value)
        text = f"{value / self.size:.{self.decimals}f}"
        return text[1:] if text.startswith("-") and float(text) == 0 else text


def shared_unit(quantity, values):
    """Unit, size and decimals that suit all of a column's values; without a size each cell has its own unit."""
    sizes = [abs(value) for value in values if value != 0 and math.isfinite(value)]
    if not sizes:
        return "", 1, 0  # nothing but zeros
    least, most = min(sizes), max(sizes)
    if most > 1e4 * least and len(quantity.scales) > 1:
        return "", None, None
    unit, size = quantity.scale([least])
    if most / size >= 1e5 and len(quantity.scales) > 1:
        unit, size = quantity.scale([most])
    if all(float(value / size).is_integer() for value in values):
        return unit, size, 0
    return unit, size, min(max(2 - math.floor(math.log10(least / size)), 0), MOST_DECIMALS.get(unit, 3))


def text_of(value):
    """Any other value in words: yes or no, or the parts of a list of objects."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(text_of(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{Quantity(str(name)).words} {part_text(str(name), part)}" for name, part in value.items() if part is not None)
    return digits(value) if isinstance(value, float) else str(value)


def part_text(name, value):
    return Quantity(name).text(value) if isinstance(value, float) else text_of(value)


class Table:
    """Columns in which points differ; `same` has the others, as pairs of column and cell."""

    def __init__(self, study):
        self.study = study
        names = list(dict.fromkeys([*study.axes, *IMPORTANT, *study.meanings, *(name for point in study.points for name in point)]))
        names = [name for name in names if not is_twin(study, name) and (name in study.axes or any(is_told(point.get(name)) for point in study.points))]
        names.sort(key=lambda name: name == "notes")
        self.columns, self.same = [], []
        for name in names:
            column = Column(study, name, name in study.axes or is_important(study, name))
            if is_same(study, name) and (not column.is_important or name in IF_VARIED) and name != "error":
                self.same.append(column)
            else:
                self.columns.append(column)

    def marks(self, point, column):
        """What warns beside a value."""
        if column.name == "memory_per_worker_B" and point.get("lacks_memory"):
            return "does not fit"
        if column.name == "bound_s" and point.get("bound_gap_is_large"):
            return "step over twice this"
        return ""

    def html(self, notes):
        """`notes`: links to the texts of notes, by their codes."""
        heads = "".join(head_html(column) for column in self.columns)
        rows = "\n".join(self.row(point, notes) for point in self.study.points)
        return f'<table class="points">\n<caption><span>{escape(self.caption())}</span></caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>'

    def row(self, point, notes):
        cells = []
        for i, column in enumerate(self.columns):
            key, text = column.cell(point, notes)
            mark = self.marks(point, column)
            if mark:
                text += f' <strong class="mark" title="{mark}"><span aria-hidden="true">!</span><span class="unseen">{mark}</span></strong>'
            tag = 'th scope="row"' if i == 0 and column.is_axis else "td"
            sorts_by = f' data-v="{key}"' if key else ""
            cells.append(f"<{tag}{classes(column)}{sorts_by}>{text}</{tag.split()[0]}>")
        start = '<tr class="failed">' if is_failed(point) else "<tr>"
        return f"{start}{''.join(cells)}</tr>"

    def caption(self):
        points = self.study.points
        parts = ["1 point" if len(points) == 1 else f"{len(points)} points"]
        if self.study.baseline and any(is_number(point.get("speedup")) for point in points):
            parts.append(f"speedup is against: {self.study.baseline}")
        if any(point.get("lacks_memory") for point in points):
            parts.append("“!” beside memory: more than the device has")
        if any(point.get("bound_gap_is_large") for point in points):
            parts.append("“!” beside a lower bound: the step takes more than twice as long")
        return "; ".join(parts)


def head_html(column):
    unit = f' <span class="unit">({escape(column.unit)})</span>' if column.unit else ""
    title = f' title="{escape(column.meaning)}"' if column.meaning else ""
    return f'<th scope="col"{classes(column)}{title} aria-sort="none"><button type="button">{escape(column.head())}{unit}</button></th>'


def classes(column):
    is_text = column.is_long and not column.aligns_right() and (column.name in ("error", "collective_algorithm") or not column.is_important)
    names = [name for name, holds in (("n", column.aligns_right()), ("more", not column.is_important), ("t", is_text), ("line", column.keeps_line)) if holds]
    return f' class="{" ".join(names)}"' if names else ""


def is_told(value):
    return value is not None and value != []


def is_twin(study, name):
    """An axis in SI units, beside the axis as the scenario has it."""
    return "in SI units" in study.meanings.get(name, "") and name not in study.axes and any(name.startswith(axis) for axis in study.axes)


def is_important(study, name):
    if name == "notes":
        return len(study.answered()) > 1
    if name in OF_COLLECTIVES:
        return not study.is_trained()
    if name == "mfu":
        return any(is_number(point.get("tokens_per_s_per_worker")) for point in study.points)
    if name == "memory_per_worker_B":
        return any(point.get("lacks_memory") for point in study.points) or is_spread(study, name)
    if name == "waiting_s":
        return any((point.get(name) or 0) > 0.01 * (point.get("step_time_s") or 0) for point in study.points)
    return name in IMPORTANT


def is_spread(study, name, least=1.2):
    """Whether points need unlike much of it."""
    values = [point[name] for point in study.points if is_number(point.get(name))]
    return bool(values) and max(values) > least * min(values)


def is_same(study, name):
    """Whether all of several points have one value there."""
    values = [point.get(name) for point in study.answered()]
    return len(values) > 1 and all(value == values[0] for value in values)
