"""matplotlib as the scripts of this folder draw with it: into files, without a display."""
import os
import sys

_program = os.path.basename(sys.argv[0])
try:
    import matplotlib  # noqa: F401
    matplotlib.use("Agg")
    from matplotlib import artist
    # Artists make docstrings of their properties at import, a third of the import's time. Nobody reads them here.
    artist.kwdoc = lambda _: ""
    if hasattr(artist.Artist, "_update_set_signature_and_docstring"):
        artist.Artist._update_set_signature_and_docstring = classmethod(lambda cls: None)
    import matplotlib.pyplot as plt  # noqa: F401
except ModuleNotFoundError:
    sys.exit(f"{_program}: matplotlib is missing for {sys.executable}; install Debian's python3-matplotlib and run it by /usr/bin/python3, "
             "or name another interpreter in STEPCAST_PYTHON")
except Exception as error:  # any error of a broken installation
    sys.exit(f"{_program}: matplotlib of {sys.executable} cannot be used ({' '.join(str(error).split())}); "
             "mend it, or name another interpreter in STEPCAST_PYTHON")
