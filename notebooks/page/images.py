"""The pictures of a page: the one that plot_report chooses, and where a step's time goes."""
import base64
import copy
import io

import plot_report
from figures import plt
from pictures.choice import Asked, choose
from pictures.quantities import field_and_value, field_text, number_of
from pictures.report import CannotDraw, Report

MOST_BARS = 60  # of a breakdown; a larger study shows its largest values alone
MOST_SVG = 500_000  # bytes; a larger picture is a PNG

KINDS = {"lines": "Lines", "bars": "Bars", "heatmap": "A heat map", "breakdown": "Stacked bars", "winners": "A map of who is best"}


class Image:
    def __init__(self, heading, address, width, alt, told):
        self.heading, self.address, self.width, self.alt, self.told = heading, address, width, alt, told


class NoImage:
    """A picture that cannot be drawn, and why."""

    def __init__(self, heading, reason):
        self.heading, self.reason = heading, reason


def images_of(study):
    """Empty where no point has an answer."""
    if not study.answered():
        return []
    made = [image_of(study.document, None)]
    is_breakdown = isinstance(made[0], Image) and made[0].heading == heading_of("breakdown", "")
    if study.is_trained() and not is_breakdown:
        made.append(image_of(*largest(study.document)))
    return made


def largest(document):
    """The document for a breakdown, with the points at the largest value of as many axes of numbers as are needed."""
    report, kept = Report(copy.deepcopy(document)), []
    points, ends = report.points, [axis for axis in report.varying() if report.is_numeric(axis)]
    for axis in sorted(ends, key=lambda name: name != "workers"):
        if len(points) <= MOST_BARS:
            break
        most = max(report.values(axis), key=number_of)
        points = [point for point in points if point[axis] == most]
        kept.append(field_and_value(axis, most))
    return {**document, "points": points}, "breakdown", f"Only points with {' and '.join(kept)} are shown." if kept else ""


def image_of(document, kind, told=""):
    report = Report(copy.deepcopy(document))
    report.description = ""  # the page has the question above
    asked = Asked(kind=kind)
    try:
        picture = choose(report, asked)
        heading = heading_of(picture.kind, picture.quantity.words)
        figure = plot_report.draw(report, asked)
    except CannotDraw as error:
        return NoImage(heading_of(kind, "Picture"), str(error))
    inches = figure.get_figwidth()
    address = encoded(figure)
    plt.close(figure)
    return Image(heading, address, round(inches * 96), alt_text(picture), told)


def heading_of(kind, words):
    return "Where the time of a step goes" if kind == "breakdown" else words[:1].upper() + words[1:]


def alt_text(picture):
    """What stands against what; the table has the numbers."""
    text = f"{KINDS[picture.kind]}: {picture.quantity.words}"
    if picture.kind == "winners":
        text = f"{KINDS[picture.kind]}: the {field_text(picture.series)} with the best {picture.quantity.words}"
    if picture.kind == "breakdown":
        text += ", split into forward, backward, exposed communication, stack, codec, update and waiting"
    if picture.x:
        text += f", over {field_text(picture.x)}"
    if picture.rows:
        text += f" and {field_text(picture.rows)}"
    if picture.series and picture.kind != "winners":
        text += f", for each {field_text(picture.series)}"
    if picture.panels:
        text += f"; a panel for each {' and '.join(field_text(axis) for axis in picture.panels)}"
    return text + ". The table of points has the numbers."


def encoded(figure):
    """As an address that holds the picture. Text of an SVG is outlines: fonts of the reader may be wider than ours."""
    with plt.rc_context({"svg.fonttype": "path"}):
        drawn = saved(figure, "svg", metadata={"Date": None})
    kind = "svg+xml"
    if len(drawn) > MOST_SVG:
        drawn, kind = saved(figure, "png"), "png"
    return f"data:image/{kind};base64,{base64.b64encode(drawn).decode('ascii')}"


def saved(figure, form, **more):
    drawn = io.BytesIO()
    figure.savefig(drawn, format=form, **more)
    return drawn.getvalue()
