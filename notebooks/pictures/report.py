"""A report of `stepcast run --json` or `sweep`: its axes, its points and what there is to draw."""
import json
from collections import OrderedDict

from pictures.quantities import Quantity, number_of


class CannotDraw(ValueError):
    """Why there is no picture, in one line that says what would help."""


class Report:
    """The points that have an answer."""

    def __init__(self, document):
        try:
            self.name, self.axes = str(document["name"]), [str(axis) for axis in document["axes"]]
            self.points = [p for p in document["points"] if p.get("error") is None]
            missing = [axis for axis in self.axes if any(axis not in p for p in self.points)]
        except (AttributeError, KeyError, TypeError) as error:
            raise CannotDraw("this is no report of stepcast run --json") from error
        if not self.points:
            raise CannotDraw("the report has no point with an answer")
        if missing:
            raise CannotDraw(f"the points have no {', '.join(missing)}")
        self.description = str(document.get("description") or "")
        self.baseline = str(document.get("baseline") or "")
        self.baseline_given = bool(document.get("baseline_given"))
        for point in self.points:
            point.update({axis: str(point[axis]) for axis in self.axes})

    def values(self, axis):
        """The values of an axis or of a column of texts, in the order of the points."""
        return list(OrderedDict.fromkeys(str(p.get(axis)) for p in self.points))

    def varying(self):
        """The axes of which the points have more than one value."""
        return [axis for axis in self.axes if len(self.values(axis)) > 1]

    def fixed(self):
        return [axis for axis in self.axes if axis not in self.varying()]

    def is_numeric(self, axis):
        return all(number_of(value) is not None for value in self.values(axis))

    def has(self, name):
        """Whether any point has a number there."""
        return any(is_number(p.get(name)) for p in self.points)

    def has_all(self, name):
        return all(is_number(p.get(name)) for p in self.points)

    def quantities(self):
        """All that can be drawn along y."""
        names = OrderedDict.fromkeys(name for p in self.points for name, value in p.items() if is_number(value) and name not in self.axes)
        return [Quantity(name) for name in names]

    def is_trained(self):
        return self.has("throughput_samples_per_s")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def groups(points, axes):
    """The points by their values on these axes, in order."""
    found = OrderedDict()
    for point in points:
        found.setdefault(tuple(str(point[axis]) for axis in axes), []).append(point)
    return found


def read(path):
    return Report(read_json(path))


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise CannotDraw(f"cannot read {path}: {error.strerror}") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise CannotDraw(f"{path} is no JSON: {' '.join(str(error).split())}") from error


def limit(point, quantity):
    """What the point could reach at best, in its quantity: speedup of workers as fast as alone, or what no schedule can beat."""
    value, name = point.get(quantity), quantity
    if not is_number(value):
        return None
    if name == "speedup":
        efficiency = point.get("scaling_efficiency")
        return value / efficiency if efficiency else None
    bound, step = point.get("bound_s"), point.get("step_time_s")
    if not bound or not step:
        return None
    if name == "step_time_s":
        return bound
    if name in ("throughput_samples_per_s", "tokens_per_s_per_worker", "busbw_B_per_s", "algbw_B_per_s"):
        return value * step / bound
    return None


def limit_text(quantity):
    return "ideal: every worker as fast as alone" if quantity == "speedup" else "limit: no schedule is faster"


def phases(point):
    """The phases of a point's run as pairs of name and seconds; empty where they are not told."""
    told = point.get("run_phases") or []
    return [(str(p.get("name")), p["time_s"]) for p in told if is_number(p.get("time_s"))]
