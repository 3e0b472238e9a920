#!/usr/bin/env python3
"""man_page_test.py PROGRAM...: each program's manual page has all subcommands and options of its --help."""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PROGRAMS = [str(pathlib.Path(a).resolve()) for a in sys.argv[1:]]


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class ManPages(unittest.TestCase):
    def test_holds_what_help_holds(self):
        for program in PROGRAMS:
            page = said(program, "__man").replace("\\-", "-")
            subcommands = re.findall(r"^  ([a-z]+) ", said(program, "--help").split("Subcommands:\n")[1], re.MULTILINE)
            self.assertGreaterEqual(len(subcommands), 3)
            name = pathlib.Path(program).name
            for command in subcommands:
                section = re.search(rf"^\.SS {name} {command}\b(.*?)(?=^\.S[SH] )", page, re.MULTILINE | re.DOTALL)
                self.assertTrue(section, f"{name} {command} is missing")
                for option in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", said(program, command, "--help"), re.MULTILINE):
                    self.assertIn(f"\\fB{option}\\fR", section[1])

    def test_sections(self):
        page = said(PROGRAMS[0], "__man")
        for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "SUBCOMMANDS", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES"):
            self.assertIn(f".SH {title}\n", page)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_has_nothing_to_say(self):
        for program in PROGRAMS:
            ran = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-rLL=100n"], input=said(program, "__man"), capture_output=True,
                                 text=True, check=True)
            self.assertEqual(ran.stderr, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
