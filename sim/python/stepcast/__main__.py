"""The command `stepcast` of a pip installation, and `python3 -m stepcast`: the program itself takes over."""
import os
import sys

from .program import StepcastError, program


def main():
    try:
        path = program()
        os.execv(path, [path, *sys.argv[1:]])
    except (StepcastError, OSError) as error:
        sys.exit(f"stepcast: {error}")


if __name__ == "__main__":
    main()
