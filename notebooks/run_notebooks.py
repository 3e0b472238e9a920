#!/usr/bin/python3
"""Runs notebooks and stores what they show.

    run_notebooks.py [NOTEBOOK.ipynb ...]      all beside this script without any

Needs Debian's python3-nbclient and python3-ipykernel. Times of execution and other volatile metadata are left out, so
that a second run changes no byte where no answer has changed.
"""
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 300  # for one cell


def missing():
    """The Debian package that is not installed here, or None."""
    try:
        import nbclient  # noqa: F401
        import nbformat  # noqa: F401
    except ModuleNotFoundError:
        return "python3-nbclient"
    try:
        import ipykernel  # noqa: F401
        from jupyter_client.kernelspec import KernelSpecManager
    except ModuleNotFoundError:
        return "python3-ipykernel"
    return None if "python3" in KernelSpecManager().find_kernel_specs() else "python3-ipykernel"


def read(path):
    import nbformat
    return nbformat.read(path, as_version=4)


def execute(notebook, folder):
    """The notebook after all cells have run in this folder.
    @raises nbclient.exceptions.CellExecutionError at the first cell that fails"""
    import nbclient
    os.environ.update({"PYTHONDONTWRITEBYTECODE": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"})  # the kernel inherits them
    nbclient.NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def without_volatile(notebook):
    """The same cells and outputs, with nothing of the machine and the time that made them."""
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
        if cell.cell_type == "code":
            # Neighbouring pieces of one stream may come in one or in several messages.
            outputs = []
            for output in cell.outputs:
                if outputs and output.output_type == "stream" == outputs[-1].output_type and outputs[-1].name == output.name:
                    outputs[-1].text += output.text
                else:
                    outputs.append(output)
            cell.outputs = outputs
    return notebook


def write(notebook, path):
    import nbformat
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def plain(error):
    """The end of an error's text without colours."""
    return "\n".join(re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines()[-12:])


def main():
    if missing():
        sys.exit(f"run_notebooks.py: {sys.executable} has no {missing()} (Debian's package); install it and run this by /usr/bin/python3")
    for path in [pathlib.Path(name) for name in sys.argv[1:]] or sorted(HERE.glob("*.ipynb")):
        try:
            write(without_volatile(execute(read(path), path.resolve().parent)), path)
        except Exception as error:  # a cell's own, or the kernel's
            sys.exit(f"{path}: {plain(error)}")
        print(f"{path}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
