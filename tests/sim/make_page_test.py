#!/usr/bin/python3
"""make_page.py on reports of shipped scenarios and on made-up ones: what a page holds, and what bad input ends in.

    make_page_test.py STEPCAST PROJECT
"""
import base64
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import matplotlib  # noqa: F401
except ImportError:
    print("no matplotlib: skipped")
    sys.exit(77)

STEPCAST, PROJECT = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
SCRIPT = PROJECT / "notebooks" / "make_page.py"
VOID = {"meta", "img", "br", "link", "input", "hr"}
MOST_BYTES = 2_000_000
HOSTILE = "<script>alert('1')</script>\" onload=x & </style></table><!-- ]]>"

failures = []


def expect(got, wanted, what):
    if got != wanted:
        failures.append(f"{what}: {got!r}, not {wanted!r}")


class Page(html.parser.HTMLParser):
    """The elements of a page, its texts, and what is not balanced."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.elements, self.texts = [], [], [], []
        self.ids, self.rows, self.rows_of_points, self.images, self.headings = [], 0, 0, [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self.open]
        self.text = re.sub(r"\s+", " ", "".join(self.texts))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.elements.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "tr" and "tbody" in self.open:
            self.rows += 1
        if tag == "table":
            self.is_points = given.get("class") == "points"
        if tag == "tr" and "tbody" in self.open and self.is_points:
            self.rows_of_points += 1
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.texts.append(data)


def spaced(text):
    return re.sub(r"\s+", " ", str(text)).strip()


def check(page_path, document, what):
    """What each page holds."""
    text = page_path.read_text(encoding="utf-8")
    page = Page(text)
    failures.extend(f"{what}: {fault}" for fault in page.faults)
    expect(len(text.encode()) < MOST_BYTES, True, f"{what}: size {len(text.encode())}")
    expect(page.rows_of_points, len(document["points"]), f"{what}: rows")
    for note in (document.get("notes") or {}).values():
        expect(page.text.count(spaced(note)), 1, f"{what}: {note}")
    for told in (document["name"], document.get("description") or "", document.get("answer") or ""):
        expect(spaced(told) in page.text, True, f"{what}: tells {told!r}")
    for point in document["points"]:
        expect(spaced(point.get("error") or "") in page.text, True, f"{what}: tells {point.get('error')}")
    # Nothing is loaded, and no script runs but ours.
    for tag, given in page.elements:
        for name, value in given.items():
            if name in ("src", "href", "srcset", "data", "action", "poster") and not (value.startswith("#") or (tag == "img" and value.startswith("data:image/"))):
                failures.append(f"{what}: <{tag}> loads {value[:60]}")
            if name.startswith("on"):
                failures.append(f"{what}: <{tag} {name}>")
            if name == "href" and value[1:] not in page.ids:
                failures.append(f"{what}: {value} leads nowhere")
        expect(tag in ("link", "iframe", "object", "embed", "base", "form"), False, f"{what}: <{tag}>")
    expect([tag for tag, _ in page.elements].count("script"), 1, f"{what}: scripts")
    for css in re.findall(r"<style>(.*?)</style>", text, re.DOTALL):
        expect(re.findall(r"url\(|@import", css), [], f"{what}: style")
    policy = next(given["content"] for tag, given in page.elements if given.get("http-equiv") == "Content-Security-Policy")
    expect(policy.startswith("default-src 'none'; img-src data:;"), True, f"{what}: policy {policy}")
    # For everybody.
    expect(len(page.ids), len(set(page.ids)), f"{what}: ids")
    expect(page.headings[0], 1, f"{what}: the first heading")
    expect([pair for pair in zip(page.headings, page.headings[1:]) if pair[1] > pair[0] + 1], [], f"{what}: headings")
    images = [given for tag, given in page.elements if tag == "img"]
    expect([len(given.get("alt", "")) > 20 for given in images], [True] * len(images), f"{what}: texts of images")
    expect(text.count("<table"), text.count("<caption"), f"{what}: captions")
    return page, images


def make(report, page, cwd):
    return subprocess.run([sys.executable, SCRIPT, report, page], cwd=cwd, capture_output=True, text=True, check=False)


def made(document, folder, name, pictures):
    """A page of a document. `pictures`: how many it has."""
    (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    ran = make(f"{name}.json", f"{name}.html", folder)
    expect((ran.returncode, ran.stdout, ran.stderr), (0, "", ""), name)
    if ran.returncode != 0:
        return None
    page, images = check(folder / f"{name}.html", document, name)
    expect(len(images), pictures, f"{name}: pictures")
    for image in images:
        drawn = base64.b64decode(image["src"].partition(",")[2])
        expect(b"<svg" in drawn[:2000] or drawn.startswith(b"\x89PNG"), True, f"{name}: a picture")
    return page


def report_of(study, folder, *options):
    path = folder / "report.json"
    subprocess.run([STEPCAST, "run", study, *options, "--no-plot", "--json", path], cwd=folder, check=False, capture_output=True)
    return json.loads(path.read_text(encoding="utf-8"))


def shipped(folder):
    # A training study has the chosen picture and a breakdown; of workers that differ the breakdown is chosen, and a
    # collective alone has no training.
    for name, pictures in (("quickstart", 2), ("pufferfish-resnet18", 2), ("stragglers", 1), ("tcp", 1), ("llm", 2), ("survey", 2)):
        document = report_of(str(PROJECT / "scenarios" / f"{name}.json"), folder)
        page = made({**document, "answer": "the second is the fastest"}, folder, name, pictures)
        unfit = sum(bool(point.get("lacks_memory")) for point in document["points"])
        expect(f"{unfit} of {len(document['points'])} points do not fit" in page.text, unfit > 0, f"{name}: memory")
        far = sum(bool(point.get("bound_gap_is_large")) for point in document["points"])
        expect("more than twice the lower bound." in page.text, far > 0, f"{name}: bound")
        expect(document["manifest"]["points"][0]["scenario_sha1"] in page.text, True, f"{name}: hash")
    # 126 points are too many bars: those with 64 workers are shown.
    expect("Only points with workers 64 are shown." in (folder / "quickstart.html").read_text(encoding="utf-8"), True, "a large breakdown")
    single = report_of(str(PROJECT / "scenarios" / "quickstart.json"), folder, "--point", "workers=8", "--point", "bandwidth=10Gbps", "--point",
                       "workload=vgg16-v100", "--point", "variant=pipelined, K = 2")
    expect(len(single["points"]), 1, "one point")
    made(single, folder, "single", 2)


def failed(folder):
    scenario = {"name": "failing", "cluster": {"workers": [2, 4], "link": {"bandwidth": "10Gbps", "latency": "25us"}}, "evaluation": {"evaluator": "both"},
                "strategy": {"kind": "collective", "operation": "all-reduce", "collective": {"algorithm": "ring"}, "size": ["1MB", "100TB"]}}
    (folder / "failing-study.json").write_text(json.dumps(scenario), encoding="utf-8")
    document = report_of("failing-study.json", folder)
    page = made(document, folder, "failing", 1)
    expect("2 of 4 points have no answer" in page.text and "more than replay can count" in page.text, True, "failed points")
    document["points"] = [point for point in document["points"] if point["error"]]
    made(document, folder, "all failed", 0)
    made({**document, "points": []}, folder, "no point", 0)


def trained(speedup, workers, **coordinates):
    return {"workers": workers, "step_time_s": workers / speedup, "bound_s": 1.0, "throughput_samples_per_s": float(speedup), "speedup": speedup,
            "scaling_efficiency": speedup / workers, "forward_s": 0.3, "backward_s": 0.6, "update_s": 0.1, "encode_s": 0.0, "decode_s": 0.0,
            "exposed_communication_s": workers / speedup - 1, "waiting_s": 0.0, "notes": [], "error": None, **coordinates}


def hostile(folder):
    """Whatever text the scenario has, the page shows it and obeys none."""
    points = [trained(0.5 * p, p, variant=f"{HOSTILE} {v}", notes=[HOSTILE], **{HOSTILE: HOSTILE + v}) for p in (1, 2, 4) for v in "ab"]
    points.append({"workers": 8, "variant": HOSTILE + " a", "error": HOSTILE})
    document = {"name": HOSTILE, "description": HOSTILE, "answer": HOSTILE, "baseline": HOSTILE, "axes": ["variant", "workers"],
                "columns": {"variant": HOSTILE, "workers": HOSTILE, HOSTILE: HOSTILE, "speedup": HOSTILE}, "points": points, "notes": {HOSTILE: f"a text {HOSTILE}"},
                "manifest": {"arguments": ["report", HOSTILE], "notes": [HOSTILE], "versions": {HOSTILE: HOSTILE, "stepcast": HOSTILE},
                             "workloads": {HOSTILE: {"name": HOSTILE, "description": HOSTILE, "source": HOSTILE}}, "points": [{"scenario_sha1": HOSTILE}] * 7}}
    page = made(document, folder, "hostile", 2)
    expect(any("onload" in given or "x" in given for _, given in page.elements), False, "attributes of hostile names")


def cells(folder):
    """One unit a column, and values to sort by."""
    points = [trained(s, p, variant=v, run_time_s=60.0 * p) for p, s in ((1, 1.0), (2, 1.6)) for v in "ab"]
    document = {"name": "x", "axes": ["variant", "workers"], "columns": {}, "points": points, "answer": None}
    (folder / "cells.json").write_text(json.dumps(document), encoding="utf-8")
    expect(make("cells.json", "cells.html", folder).returncode, 0, "a report with the fewest keys")
    text = (folder / "cells.html").read_text(encoding="utf-8")
    # 2 workers at 1.6 of one's speed: a step of 2 / 1.6 = 1.25 s.
    for wanted in ('step <span class="unit">(s)</span>', 'data-v="1.25">1.25<', 'efficiency <span class="unit">(%)</span>', 'data-v="0.8">80<', 'data-v="120">2<'):
        expect(wanted in text, True, f"cells: {wanted}")
    expect('class="answer"' in text, False, "no answer")


def bad_input(folder):
    good = {"name": "x", "axes": ["workers"], "columns": {}, "points": [trained(1.0, 1)]}
    files = {"good.json": json.dumps(good), "broken.json": "{", "list.json": "[]", "points.json": json.dumps({**good, "points": {}}),
             "point.json": json.dumps({**good, "points": [3]}), "axis.json": json.dumps({**good, "axes": ["nowhere"]}), "notes.json": json.dumps({**good, "notes": [1]}),
             **{f"no {key}.json": json.dumps({k: v for k, v in good.items() if k != key}) for key in good}}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "latin.json").write_bytes(b'{"name": "\xff"}')
    (folder / "folder.html").mkdir()
    cases = [("absent.json", "p.html", "cannot read absent.json: No such file"), ("broken.json", "p.html", "broken.json is no JSON"), ("latin.json", "p.html", "no JSON"),
             ("list.json", "p.html", "no report"), ("points.json", "p.html", "its points"), ("point.json", "p.html", "a point"), ("axis.json", "p.html", "no nowhere"),
             ("notes.json", "p.html", "AttributeError"), *((f"no {key}.json", "p.html", f"it has no {key}") for key in good),
             ("good.json", "nowhere/p.html", "cannot write nowhere/p.html: No such file"), ("good.json", "folder.html", "cannot write folder.html: Is a directory"),
             ("good.json", "p.pdf", "must end in .html"), ("good.json", "--zoom", "--help")]
    before = sorted(path.name for path in folder.rglob("*"))
    for report, page, told in cases:
        ran = make(report, page, folder)
        if ran.returncode != 1 or told not in ran.stderr or ran.stderr.count("\n") != 1 or ran.stdout or not ran.stderr.startswith("make_page.py: "):
            failures.append(f"{report}, {page}: ends with {ran.returncode} and {ran.stderr!r}")
    expect(sorted(path.name for path in folder.rglob("*")), before, "files left")


with tempfile.TemporaryDirectory() as place:
    for part in (shipped, failed, hostile, cells, bad_input):
        part(pathlib.Path(place))
print("\n".join(failures) or "all as expected")
sys.exit(1 if failures else 0)
