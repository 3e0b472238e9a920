"""The page around its table: every text that is not the project's own is escaped here."""
import base64
import hashlib
import shlex
from html import escape

from page import look
from page.images import Image
from page.table import Table

MOST_PLACES = 5  # points named one by one; more are folded


def page(study, images):
    """The whole document. Its policy lets a browser load nothing, and run no script but ours."""
    digest = base64.b64encode(hashlib.sha256(look.SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    table = Table(study)
    parts = ["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">', f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">', '<meta name="referrer" content="no-referrer">',
             f"<title>{escape(study.name)}: a forecast by stepcast</title>", f"<style>{look.STYLE}</style>", f"<noscript><style>{look.WITHOUT_SCRIPT}</style></noscript>",
             "</head>", "<body>", header(study), "<main>", warnings(study), *(picture(image) for image in images), points(study, table), notes(study), columns(table),
             manifest(study), "</main>", footer(study), f"<script>{look.SCRIPT}</script>", "</body>", "</html>", ""]
    return "\n".join(part for part in parts if part is not None)


def header(study):
    lines = ["<header>", f"<h1>{escape(study.name)}</h1>"]
    if study.description:
        lines.append(f'<p class="question">{escape(study.description)}</p>')
    if study.answer:
        lines.append(f'<p class="answer">{escape(sentence(study.answer))}</p>')
    lines += [f'<p class="but">{escape(sentence(note[:1].upper() + note[1:]))}</p>' for note in study.answer_notes]
    return "\n".join([*lines, "</header>"])


def sentence(text):
    return text if not text or text[-1] in ".!?" else f"{text}."


def many(count, whole, is_are=False):
    """ "2 of 14 points", "1 of 1 point"."""
    verb = (" is" if count == 1 else " are") if is_are else ""
    return f"{count} of {whole} point{'' if whole == 1 else 's'}{verb}"


def warnings(study):
    """Points without an answer, without enough memory, and far from their bound."""
    found, whole = [], len(study.points)
    if not whole:
        found.append("The study has no point.")
    failed = study.failed()
    if failed:
        by_reason = {}
        for point in failed:
            by_reason.setdefault(str(point["error"]), []).append(point)
        reasons = "".join(f"<li>{escape(sentence(reason))}{places(study, members)}</li>" for reason, members in by_reason.items())
        found.append(f"{many(len(failed), whole)} {'has' if len(failed) == 1 else 'have'} no answer:<ul>{reasons}</ul>")
    unfit = [point for point in study.points if point.get("lacks_memory")]
    if unfit:
        found.append(f"{many(len(unfit), whole)} {'does' if len(unfit) == 1 else 'do'} not fit in the device's memory.{places(study, unfit)}")
    far = [point for point in study.points if point.get("bound_gap_is_large")]
    if far:
        found.append(f"{many(len(far), whole)} {'takes' if len(far) == 1 else 'take'} more than twice the lower bound. Is the scenario as meant?{places(study, far)}")
    if not found:
        return None
    return f'<section class="warnings" aria-labelledby="warnings"><h2 id="warnings">Warnings</h2><ul>{"".join(f"<li>{text}</li>" for text in found)}</ul></section>'


def places(study, members):
    """The points, in a list; folded where there are many."""
    if len(study.points) == 1:
        return ""
    listed = f"<ul>{''.join(f'<li>{escape(study.place(point))}</li>' for point in members)}</ul>"
    return listed if len(members) <= MOST_PLACES else f"<details><summary>the {len(members)} points</summary>{listed}</details>"


def picture(image):
    if not isinstance(image, Image):
        return f"<section><h2>{escape(image.heading)}</h2>\n<p>There is no picture: {escape(image.reason)}.</p></section>"
    caption = f"<figcaption>{escape(image.told)}</figcaption>" if image.told else ""
    label = escape(f"Picture: {image.heading}")
    return (f'<section><h2>{escape(image.heading)}</h2>\n<figure><div class="scroll" tabindex="0" role="region" aria-label="{label}">'
            f'<img src="{image.address}" width="{image.width}" alt="{escape(image.alt)}"></div>{caption}</figure></section>')


def links(study):
    """To each note, by its code; the text is a number, as in the list of notes."""
    return {code: f'<a href="#note-{i}" title="{escape(code)}" aria-label="note {i}, {escape(code)}">{i}</a>' for i, code in enumerate(study.notes, 1)}


def points(study, table):
    lines = ["<section>", "<h2>All points</h2>"]
    hidden = sum(not column.is_important for column in table.columns)
    button = f'<button type="button" id="all-columns" aria-pressed="false">all columns</button><span class="soft">{hidden} more</span>' if hidden else ""
    lines.append(f'<div class="bar">{button}<span class="soft">A click on a head sorts.</span><span class="soft" id="sorted" role="status"></span></div>')
    lines.append(f'<div class="scroll tall spaced" tabindex="0" role="region" aria-label="Table of all points">{table.html(links(study))}</div>')
    if table.same:
        held = "".join(f"<dt>{escape(column.head())}{unit_of(column)}</dt><dd>{column.cell(study.answered()[0], links(study))[1]}</dd>" for column in table.same)
        lines.append(f"<details><summary>the same for all points ({len(table.same)})</summary><dl>{held}</dl></details>")
    return "\n".join([*lines, "</section>"])


def unit_of(column):
    return f" ({escape(column.unit)})" if column.unit else ""


def notes(study):
    """Each text once."""
    told = [f'<li id="note-{i}">{escape(sentence(text))} <code class="soft">{escape(code)}</code></li>' for i, (code, text) in enumerate(study.notes.items(), 1)]
    general = [str(text) for text in study.manifest.get("notes") or [] if str(text) not in study.notes.values()]
    told += [f"<li>{escape(sentence(text))}</li>" for text in general]
    if not told:
        return None
    return f"<section><h2>Assumptions and notes</h2>\n<p>Know these before you trust a number.</p>\n<ol class='notes'>{''.join(told)}</ol></section>"


def columns(table):
    told = "".join(f"<dt>{escape(column.head())}{unit_of(column)}</dt><dd>{escape(column.meaning)}</dd>"
                   for column in [*table.columns, *table.same] if column.meaning)
    return f"<details><summary><h2>Columns and their meanings</h2></summary><dl>{told}</dl></details>" if told else None


def manifest(study):
    """What is needed to make the same numbers again."""
    held, parts = study.manifest, []
    if held.get("arguments"):
        parts.append(f"<h3>Command</h3>\n<pre>{escape(shlex.join(['stepcast', *map(str, held['arguments'])]))}</pre>")
    if held.get("versions"):
        parts.append(f"<h3>Versions</h3>\n{small_table('Versions', ('program', 'version'), held['versions'].items())}")
    tables = held.get("workloads") or {}
    if tables:
        rows = [(name, table.get("parameters") or "", table.get("batch") or "", table.get("dtype") or "", table.get("description") or "", table.get("source") or "")
                for name, table in tables.items()]
        parts.append(f"<h3>Workloads</h3>\n{small_table('Workloads', ('name', 'parameters', 'batch', 'dtype', 'description', 'source'), rows)}")
    hashes = [str(point.get("scenario_sha1") or "") for point in held.get("points") or []]
    if any(hashes):
        named = len(hashes) == len(study.points)
        rows = [(study.place(study.points[i]) if named else i + 1, code) for i, code in enumerate(hashes)]
        parts.append("<details><summary><h3>Hashes of the scenarios</h3></summary>"
                     f"{small_table('SHA-1 of each scenario, with all its defaults', ('point', 'hash'), rows)}</details>")
    if not parts:
        return None
    parts.append("<p>The report that <code>stepcast run --json</code> writes has each layer table and scenario. It also has the whole of texts that end in “…” here.</p>")
    return "<details><summary><h2>Manifest</h2></summary>\n" + "\n".join(parts) + "\n</details>"


def small_table(caption, heads, rows):
    head = "".join(f'<th scope="col" class="plain">{escape(text)}</th>' for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")


def footer(study):
    version = (study.manifest.get("versions") or {}).get("stepcast")
    return f"<footer>A forecast by stepcast{f' {escape(str(version))}' if version else ''}. Nothing here was measured by it.</footer>"
