#!/usr/bin/env python3
"""site_test.py PROJECT: the site of `.ci/check site` is whole, and needs no network. Exit 77: mkdocs or its theme is missing."""
import html.parser
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import urllib.parse

PROJECT = pathlib.Path(sys.argv[1]).resolve()
SITE = PROJECT / "build/site"


def is_installed():
    """The theme is an entry point of Python's packages, or a folder of Debian's."""
    theme = pathlib.Path("/usr/share/mkdocs/themes/material").is_dir() or importlib.util.find_spec("material")
    return shutil.which("mkdocs") and theme


class Page(html.parser.HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.anchors, self.links, self.text = set(), [], []
        self.hidden = None  # the element whose text no reader takes for prose
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors.add(attrs.get("id"))
        self.links += [(tag, attrs[name]) for name in ("href", "src") if attrs.get(name)]
        if tag in ("pre", "script", "style"):
            self.hidden = self.hidden or tag

    def handle_endtag(self, tag):
        if tag == self.hidden:
            self.hidden = None

    def handle_data(self, data):
        if not self.hidden:
            self.text.append(data)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = subprocess.run([PROJECT / ".ci/check", "site"], capture_output=True, text=True, check=False)
        cls.pages = {file: Page(file) for file in SITE.rglob("*.html")}

    def test_builds_without_a_warning(self):
        self.assertEqual(self.built.returncode, 0, self.built.stderr)
        self.assertEqual(self.built.stderr, "")

    def test_each_page_is_there_and_named(self):
        config = (PROJECT / "docs/mkdocs.yml").read_text(encoding="utf-8")
        named = set(re.findall(r"^ +- [^:]+: (\S+\.md)$", config.partition("\nnav:\n")[2], re.MULTILINE))
        self.assertIn("docs/install.md", named)
        for name in named:
            page = re.sub(r"README\.md$", "index.md", name)
            self.assertIn((SITE / page).with_suffix(".html"), self.pages)
        pages = {f"docs/{page.name}" for page in (PROJECT / "docs").glob("*.md")}
        self.assertEqual(pages - named, set(), "docs/mkdocs.yml does not name these")

    def test_links_lead_somewhere(self):
        for file, page in self.pages.items():
            for tag, link in page.links:
                url = urllib.parse.urlsplit(link)
                if url.scheme or url.netloc:
                    self.assertEqual(tag, "a", f"{file} loads {link} from the network")
                    continue
                if file.name == "404.html":  # a server shows it at any address, so its links begin at the root
                    continue
                target = (file.parent / urllib.parse.unquote(url.path)).resolve() if url.path else file
                self.assertTrue(target.is_file(), f"{file} links to {link}")
                if url.fragment and target in self.pages:
                    self.assertIn(urllib.parse.unquote(url.fragment), self.pages[target].anchors, f"{file} links to {link}")

    def test_stylesheets_load_nothing(self):
        for file in SITE.rglob("*.css"):
            self.assertNotRegex(file.read_text(encoding="utf-8"), r"(@import|url\()\s*[\"']?(https?:)?//", file)

    def test_markdown_is_read_as_on_github(self):
        for file, page in self.pages.items():
            text = "".join(page.text)
            self.assertNotIn("```", text, f"{file}: a block is read as text")
            self.assertNotRegex(text, r":\n- ", f"{file}: a list is read as a part of a paragraph")
        for file in (PROJECT / "build/site-src").rglob("*.md"):
            blocks = re.compile(r"^( *)```.*?^ *```$", re.DOTALL | re.MULTILINE)
            text = blocks.sub(r"\1block", file.read_text(encoding="utf-8"))
            self.assertNotRegex(text, r"\n\n {1,3}\S", f"{file}: paragraphs and blocks of a list are indented by 4 spaces")

    def test_search_finds_words(self):
        index = json.loads((SITE / "search/search_index.json").read_text(encoding="utf-8"))
        found = {entry["location"].partition("#")[0] for entry in index["docs"] if "straggler" in entry["text"]}
        self.assertIn("index.html", found)


if __name__ == "__main__":
    if not is_installed():
        print("site_test: needs Debian's packages mkdocs and mkdocs-material")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
