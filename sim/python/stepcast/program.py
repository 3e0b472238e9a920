"""Finds and runs the stepcast program; its faults become one exception."""
import json
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE_MISSED = 4


class StepcastError(Exception):
    """The program gave no answer. `faults` are its messages, one a fault; `exit_code` is the program's, None where it
    did not start. `rows` are there where it answered and a stated tolerance was missed."""

    def __init__(self, message, faults=(), exit_code=None, rows=None):
        super().__init__(message)
        self.faults, self.exit_code, self.rows = list(faults) or [message], exit_code, rows


class Rows(list):
    """Rows as dicts. `document` is all of the program's JSON, `messages` are what it said beside it."""

    def __init__(self, rows, document=None, messages=()):
        super().__init__(rows)
        self.document, self.messages = document, list(messages)

    @property
    def notes(self):
        """Texts to know before trusting the numbers, such as that a profile is not measured."""
        notes = (self.document or {}).get("notes", {})
        return list(notes.values()) if isinstance(notes, dict) else [note["text"] for note in notes]

    def frame(self):
        """The rows as a pandas.DataFrame."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise StepcastError("frame() needs pandas; Debian's package is python3-pandas") from None
        return pandas.DataFrame.from_records(list(self))


class Answer:
    """What the program printed."""

    def __init__(self, output, messages, exit_code):
        self.output, self.messages, self.exit_code, self.document = output, messages, exit_code, None

    def read(self):
        self.document = json.loads(self.output)
        return self

    def with_rows(self, rows):
        rows = Rows(rows, self.document, self.messages)
        if self.exit_code == TOLERANCE_MISSED:
            raise StepcastError("\n".join(self.messages), self.messages, self.exit_code, rows)
        return rows


def program():
    """The program's path: $STEPCAST_PROGRAM, or pip's, or that of the sources or the prefix that this module lies in,
    or the one on the PATH."""
    chosen = os.environ.get("STEPCAST_PROGRAM")
    if chosen:
        return chosen
    up = HERE.parents
    places = [HERE / "_program/bin/stepcast"]
    if len(up) > 2 and (up[2] / "CMakeLists.txt").exists():
        places.append(up[2] / "stepcast")
    if len(up) > 3:
        places.append(up[3] / "bin/stepcast")  # PREFIX/lib/python3/dist-packages/stepcast
    found = next((str(place) for place in places if place.is_file()), None) or shutil.which("stepcast")
    if not found:
        raise StepcastError("the program stepcast is not there; install it, or name it in STEPCAST_PROGRAM")
    return found


def ask(*arguments, text=""):
    """Runs the program with `text` on its standard input.
    @raises StepcastError where it prints no answer"""
    path = program()
    try:
        ran = subprocess.run([path, *arguments], input=text, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise StepcastError(f"{path} does not start: {error.strerror}") from None
    messages = messages_of(ran.stderr)
    if not ran.stdout or ran.returncode not in (0, 1, TOLERANCE_MISSED):
        raise StepcastError("\n".join(messages) or f"{path} ended with {ran.returncode} and did not say why",
                            messages, ran.returncode)
    return Answer(ran.stdout, messages, ran.returncode)


def messages_of(errors):
    """One message a line: the faults, without their count and the hint to run --help."""
    lines = [line.removeprefix("stepcast: ") for line in errors.splitlines() if line.strip()]
    return [line for line in lines if not line.startswith("Run stepcast ") and not line.endswith(" in the scenario")]
