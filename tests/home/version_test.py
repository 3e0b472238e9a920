#!/usr/bin/env python3
"""version_test.py PROJECT PROGRAM...: one version everywhere, and one date of its release."""
import pathlib
import re
import subprocess
import sys
import unittest

PROJECT, PROGRAMS = pathlib.Path(sys.argv[1]), sys.argv[2:]


def found(pattern, file):
    match = re.search(pattern, (PROJECT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert match, f"{file} has no {pattern}"
    return match[1]


class Version(unittest.TestCase):
    def test_files_agree(self):
        version = found(r"^project\(stepcast VERSION (\d+\.\d+\.\d+) ", "CMakeLists.txt")
        self.assertEqual(found(r"^version: (\S+)$", "CITATION.cff"), version)
        # The first heading is this release's; "unreleased" is for the time between two.
        heading = found(r"^## (.+)$", "CHANGELOG.md")
        self.assertRegex(heading, rf"^({re.escape(version)}, \d{{4}}-\d\d-\d\d|\d+\.\d+\.\d+, unreleased)$")
        released = found(rf"^## {re.escape(version)}, (\d{{4}}-\d\d-\d\d)$", "CHANGELOG.md")
        self.assertEqual(found(r"^date-released: (\S+)$", "CITATION.cff"), released)

    def test_programs_say_it(self):
        version = found(r"^project\(stepcast VERSION (\S+) ", "CMakeLists.txt")
        for program in PROGRAMS:
            said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
            self.assertRegex(said, rf"^\S+ {re.escape(version)} \(")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
