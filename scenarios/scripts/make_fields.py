#!/usr/bin/env python3
"""make_fields.py STEPCAST [--check]: writes docs/fields.md, every field that a scenario, its parts and a suite can have.

The page follows from `stepcast schema`, which follows from the program's own tables of fields. With --check nothing is
written; the exit code is 1 where the page is stale.
"""

import json
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "fields.md"
PARTS = ("scenario", "workload", "profile", "cluster", "stack", "strategy", "compressor", "suite")
INTRODUCTION = """# Fields

Every field of a scenario, of its parts and of a suite. `scenarios/scripts/make_fields.py` writes this page from `stepcast schema`.
A list in place of a scenario's value makes an axis, and so does a range in steps: `"1kB..8GB:x2"`, `"8..64:8"`. A field without a default has to be written.
A quantity is a number with its unit; the units below are examples, and `stepcast schema` has them all.
"""
EXAMPLES = {"Gbps": '"10Gbps"', "|us|": '"25us"', "MiB)": '"25MiB"', "|TiB": '"25MiB"', "ns/B": '"0.1ns/B"', "GHz": '"1.4GHz"',
            "TFLOPS": '"15.7TFLOPS"', "TFLOP": '"1GFLOP"'}


def schema(stepcast, part):
    return json.loads(subprocess.run([stepcast, "schema", part], capture_output=True, text=True, check=True).stdout)


def part_of(one, names):
    """The part whose fields an object has, most of them: its own page section has them."""
    mine = set(one.get("properties", ())) - {"$schema", "from"}
    return next((part for part, fields in names.items() if len(mine & fields) > 0.7 * len(mine | fields)), None)


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def options(node, definitions):
    """The schemas that a value may have: references followed, alternatives one by one, axes (lists of the same) left out."""
    if "$ref" in node:
        return options(definitions[node["$ref"].rsplit("/", 1)[1]], definitions)
    if "anyOf" not in node:
        return [node]
    def without_meanings(one):
        return {key: value for key, value in one.items() if key != "enumDescriptions"}

    alone = [one for each in node["anyOf"] if each.get("type") != "array" and not each.get("$ref", "").endswith("/range")
             for one in options(each, definitions)]
    lists = [each for each in node["anyOf"] if each.get("type") == "array"]
    return alone + [each for each in lists if any(
        without_meanings(one) not in map(without_meanings, alone) for one in options(each["items"], definitions))]


def value_text(one, definitions):
    """The values that one alternative allows, in words."""
    if "const" in one:
        return f"`{json.dumps(one['const'])}`"
    if "enumDescriptions" in one:
        return "one of these"
    if "enum" in one:
        return ", ".join(f"`{json.dumps(each)}`" for each in one["enum"])
    kind = one.get("type")
    if kind == "string":
        example = next((text for key, text in EXAMPLES.items() if key in one.get("pattern", "")), None)
        return f"such as `{example}`" if example else "text"
    if kind in ("integer", "number"):
        low, high = one.get("minimum"), one.get("maximum")
        bounds = f" of {low:g} or more" if low is not None and high is None else f" from {low:g} to {high:g}" if low is not None else ""
        return ("whole number" if kind == "integer" else "number") + bounds
    if kind == "boolean":
        return "`true`, `false`"
    if kind == "array":
        return "list of: " + " or ".join(dict.fromkeys(value_text(each, definitions) for each in options(one["items"], definitions)))
    return "`null`" if kind == "null" else "object"


class Page:
    def __init__(self, documents):
        self.lines, self.written = [INTRODUCTION], {}
        self.names = {part: set(document["properties"]) - {"$schema", "from"} for part, document in documents.items() if "properties" in document}

    def heading(self, level, title, description=""):
        self.lines += ["", f"{'#' * level} {title}", ""] + ([f"{description}.", ""] if description else [])

    def rows(self, node, definitions, prefix, place):
        """The rows of an object's fields, each followed by those below it. Returns the fields that need tables of their own."""
        required, tables = set(node.get("required", ())), []
        for name, field in node.get("properties", {}).items():
            if name in ("$schema", "kind"):
                continue
            path = f"{prefix}{name}"
            part = next((part for part in PARTS if f'"#/definitions/{part}"' in json.dumps(field)), None)
            if part and part != "scenario":
                self.row(path, f"[{part}](#{part})", name in required, field)
                continue
            alternatives = options(field, definitions)
            objects = [one for one in alternatives if one.get("type") == "object" and one.get("properties")]
            items = [each for one in alternatives if one.get("type") == "array" for each in options(one["items"], definitions)]
            lists = [each for each in items if each.get("properties")]
            text = " or ".join(dict.fromkeys(value_text(one, definitions) for one in alternatives))
            below = objects or lists
            part = next(filter(None, (part_of(one, self.names) for one in below)), None)
            choices = [one for one in alternatives + items if one.get("enumDescriptions")]
            key = json.dumps([below, choices], sort_keys=True)
            if part:
                text, below, choices = f"{text}: [{part}](#{part})", [], []
            elif len(key) > 300 and key in self.written:
                text, below, choices = f"{text}, as `{self.written[key]}`", [], []
            self.written.setdefault(key, f"{place}{path}")
            self.row(path, text, name in required, field)
            for choice in choices:
                for value, meaning in zip(choice["enum"], choice["enumDescriptions"]):
                    self.lines.append(f"| | `{json.dumps(value)}` | | {cell(meaning)} |")
            step = "/" if objects else "/*/"
            if len(below) == 1 and "kind" not in below[0]["properties"]:
                tables += self.rows(below[0], definitions, path + step, place)
            elif below:
                tables.append((path + step, below))
        return tables

    def row(self, path, text, required, field):
        default = "" if "default" not in field or required else f"`{cell(json.dumps(field['default'], ensure_ascii=False))}`"
        if len(default) > 40:
            default = "its fields'"
        self.lines.append(f"| `{path}` | {text} | {default} | {cell(field.get('description', ''))} |")

    def table(self, level, node, definitions, prefix, place):
        start = len(self.lines)
        self.lines += ["| field | value | default | meaning |", "|---|---|---|---|"]
        kinds = self.rows(node, definitions, prefix, place)
        if len(self.lines) == start + 2:
            self.lines[start:] = ["No fields of its own."]
        while kinds:
            path, below = kinds.pop(0)
            for one in below:
                kind = one["properties"].get("kind", {}).get("const")
                title = f"`{path.rstrip('/*')}` of kind `{kind}`" if kind else f"`{path.rstrip('/*')}`, written as an object"
                self.heading(level + 1, title, one.get("description", ""))
                self.table(level + 1, one, definitions, path, place)

    def part(self, name, document):
        definitions = document.get("definitions", {})
        self.heading(2, name)
        if "properties" in document:
            self.table(2, document, definitions, "", f"{name}: ")
            return
        for one in options(document, definitions):
            kind = one.get("properties", {}).get("kind", {}).get("const")
            if kind:
                self.heading(3, f"{name} `{kind}`", one.get("description", ""))
                self.table(3, one, definitions, "", f"{name} {kind}: ")


def main(stepcast, check=""):
    documents = {part: schema(stepcast, part) for part in PARTS}
    documents["suite"]["properties"]["study"]["anyOf"] = [{"type": "string"}, {"type": "object"}]  # a scenario, whose fields are above
    page = Page(documents)
    for part, document in documents.items():
        page.part(part, document)
    text = "\n".join(page.lines).replace("\n\n\n", "\n\n").rstrip() + "\n"
    if check != "--check":
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE} is stale; write it anew: scenarios/scripts/make_fields.py PROGRAM", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
