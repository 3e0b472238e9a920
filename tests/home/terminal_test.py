#!/usr/bin/env python3
"""terminal_test.py STEPCAST SCENARIOS: what a person sees on a terminal, and what files and pipes get."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

STEPCAST, SCENARIOS = sys.argv[1:3]
PLAIN = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "TERM")}
PLAIN["STEPCAST_SCENARIOS"] = SCENARIOS


def on_terminal(columns, *words, **variables):
    """Standard output on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen([STEPCAST, *words], stdout=theirs, stderr=subprocess.DEVNULL, env={**PLAIN, "TERM": "xterm", **variables})
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 65536):
            text += part
    except OSError:
        pass
    os.close(ours)
    process.wait()
    return text.decode().replace("\r\n", "\n")


def to_pipe(*words, **variables):
    return subprocess.run([STEPCAST, *words], capture_output=True, text=True, env={**PLAIN, **variables}, check=True).stdout


def without_colours(text):
    return re.sub("\033\\[[0-9]*m", "", text)


class Terminal(unittest.TestCase):
    def test_a_table_fits(self):
        for scenario in ("plan-llm", "stragglers", "sharded", "quickstart"):
            for columns in (80, 100):
                with self.subTest(scenario, columns=columns):
                    lines = without_colours(on_terminal(columns, "run", scenario, "--no-plot")).splitlines()
                    table = [line for line in lines if re.search(r"\d m?s|workers", line) and not line.startswith(("note", "left out", "speedup", "step time", "the "))][1:]
                    self.assertGreater(len(table), 5)
                    self.assertLessEqual(max(map(len, table)), columns)
                    if columns == 80:
                        self.assertTrue(any(line.startswith("left out to fit the terminal: ") for line in lines))

    def test_wide_has_all_columns_as_a_pipe_has(self):
        wide = without_colours(on_terminal(80, "run", "plan-llm", "--wide"))
        self.assertEqual(wide, to_pipe("run", "plan-llm"))

    def test_colours(self):
        coloured = on_terminal(80, "run", "quickstart", "--no-plot")
        self.assertTrue(coloured.startswith("\033[1mpipelined, K = 2 is the fastest in 34 of 42 cases"))
        for refused in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\033", on_terminal(80, "run", "quickstart", "--no-plot", **refused))
        self.assertNotIn("\033", to_pipe("run", "quickstart", "--no-plot", TERM="xterm"))
        self.assertNotIn("\033", on_terminal(80, "run", "quickstart", "--no-plot", "--format", "markdown"))

    def test_columns_says_how_wide(self):
        self.assertIn("left out", on_terminal(200, "run", "plan-llm", COLUMNS="80"))

    def test_messages_never_land_inside_a_table(self):
        with tempfile.TemporaryFile() as both:  # 48 rows: more than a buffer of 4096 bytes
            subprocess.run([STEPCAST, "run", "llm", "--set", "/evaluation/evaluator=both"], stdout=both, stderr=both, env=PLAIN, check=True)
            both.seek(0)
            lines = both.read().decode().splitlines()
        messages = [i for i, line in enumerate(lines) if line.startswith("stepcast: ")]
        table = [i for i, line in enumerate(lines) if not line.startswith("stepcast: ")]
        self.assertTrue(messages)
        self.assertTrue(all(i < table[0] or i > table[-1] for i in messages), lines)

    def test_formats(self):
        self.assertEqual(to_pipe("run", "tcp", "--format", "csv"), to_pipe("run", "tcp", "--csv", "-"))
        self.assertTrue(to_pipe("run", "tcp", "--format", "json").startswith("{"))
        markdown = to_pipe("run", "tcp", "--format", "markdown", "--columns", "step,busbw").splitlines()
        self.assertEqual(markdown[2:4], ["| variant | workers | step | busbw |", "| --- | --- | ---: | ---: |"])
        self.assertEqual(to_pipe("run", "tcp", "--columns", "step", "--csv", "-").splitlines()[0], "variant,workers,step_time_s")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
