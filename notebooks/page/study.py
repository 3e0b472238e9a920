"""A report of `stepcast run --json` as a page needs it: all points, also those without an answer."""
from pictures.quantities import field_text, value_text
from pictures.report import CannotDraw, read_json

NEEDED = ("name", "axes", "columns", "points")


class Study:
    """@raises CannotDraw where the document is no report"""

    def __init__(self, document):
        if not isinstance(document, dict):
            raise CannotDraw("this is no report of stepcast run --json")
        missing = [key for key in NEEDED if key not in document]
        if missing:
            raise CannotDraw(f"this is no report of stepcast run --json: it has no {', '.join(missing)}")
        for key, kind in (("axes", list), ("columns", dict), ("points", list)):
            if not isinstance(document[key], kind):
                raise CannotDraw(f"this is no report of stepcast run --json: its {key} are no {'object' if kind is dict else 'list'}")
        if not all(isinstance(point, dict) for point in document["points"]):
            raise CannotDraw("this is no report of stepcast run --json: a point is no object")
        self.document = document
        self.name, self.description = str(document["name"]), str(document.get("description") or "")
        self.answer_notes = [str(note) for note in document.get("answer_notes") or []]
        self.answer, self.baseline = str(document.get("answer") or "").strip(), str(document.get("baseline") or "")
        self.axes = [str(axis) for axis in document["axes"]]
        self.meanings = {str(name): str(meaning) for name, meaning in document["columns"].items()}
        self.points = document["points"]
        self.notes = {str(name): str(text) for name, text in (document.get("notes") or {}).items()}
        self.manifest = document.get("manifest") or {}
        absent = [axis for axis in self.axes if any(axis not in point for point in self.points)]
        if absent:
            raise CannotDraw(f"the points have no {', '.join(absent)}")

    def failed(self):
        return [point for point in self.points if is_failed(point)]

    def answered(self):
        return [point for point in self.points if not is_failed(point)]

    def is_trained(self):
        return any(point.get("throughput_samples_per_s") for point in self.points)

    def place(self, point):
        """Where a point is, in words: "ring, workers 8, bandwidth 10 Gb/s"."""
        if not self.axes:
            return "the only point" if len(self.points) == 1 else f"point {self.points.index(point) + 1}"
        return ", ".join(value_text(point[axis]) if axis == "variant" else f"{field_text(axis)} {value_text(point[axis])}" for axis in self.axes)


def is_failed(point):
    return point.get("error") is not None


def read(path):
    return Study(read_json(path))
