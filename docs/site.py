"""A hook of mkdocs.yml: two habits of GitHub's Markdown that Python-Markdown does not read."""
import re


def on_page_markdown(markdown, **_):
    # "```json first.json" names the block's file.
    markdown = re.sub(r'^( *```\w+) ([^\s"]+)$', r'\1 title="\2"', markdown, flags=re.MULTILINE)
    # A list follows its introduction without an empty line.
    return re.sub(r"^(\w.*:\n)(?=- )", r"\1\n", markdown, flags=re.MULTILINE)
