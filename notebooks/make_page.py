#!/usr/bin/python3
"""Makes one HTML page of a report of stepcast run --json."""
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
NAME = "make_page.py"

import plot_report  # noqa: E402  first: it says what is wrong with matplotlib
from page.images import images_of  # noqa: E402
from page.sections import page  # noqa: E402
from page.study import read  # noqa: E402
from pictures.report import CannotDraw  # noqa: E402


def parser():
    parsed = plot_report.Parser(prog=NAME, description="Makes one HTML page of a report of stepcast run --json.", allow_abbrev=False)
    parsed.add_argument("report", metavar="REPORT.json")
    parsed.add_argument("page", metavar="PAGE.html", help="a file that ends in .html")
    return parsed


def main(arguments):
    options = parser().parse_args(arguments)
    try:
        path = pathlib.Path(options.page)
        if path.suffix != ".html":
            raise CannotDraw(f"the page {path} must end in .html")
        study = read(options.report)
        plot_report.write_whole(path, page(study, images_of(study)).encode("utf-8", "replace"))
    except CannotDraw as error:
        sys.exit(f"{NAME}: {error}")
    except (AttributeError, KeyError, TypeError, ValueError, MemoryError) as error:  # a report with other contents than ours
        sys.exit(f"{NAME}: {type(error).__name__}: {' '.join(str(error).split())}")


if __name__ == "__main__":
    main(sys.argv[1:])
