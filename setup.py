"""Builds the program by CMake into the Python package; pyproject.toml has all else.

STEPCAST_BUILD names a build tree that is there already. Without it one is made in build/pip. STEPCAST_TOOLS is the PATH
on which CMake and the compiler are looked for; without it Debian's come before any other, as ./stepcast has it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent


def cmake(*words):
    path = os.environ.get("STEPCAST_TOOLS") or f"/usr/bin:/bin:{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path}
    if not shutil.which("cmake", path=path):
        sys.exit("stepcast: building needs CMake, a compiler and libraries; .ci/packages-run.txt names their Debian packages")
    if subprocess.run(["cmake", *map(str, words)], env=environment, check=False).returncode != 0:
        sys.exit(f"stepcast: cmake {words[0]} failed, see above; the packages it needs are in .ci/packages-run.txt")


def install_program(prefix):
    tree = pathlib.Path(os.environ.get("STEPCAST_BUILD") or ROOT / "build/pip").resolve()
    if not (tree / "CMakeCache.txt").exists():
        cmake("-S", ROOT, "-B", tree, "-DCMAKE_BUILD_TYPE=Release", "-DSTEPCAST_TESTS=OFF")
    cmake("--build", tree, "--parallel", os.cpu_count() or 1, "--target", "stepcast", "stepcast-calibrate", "stepcast_manual")
    shutil.rmtree(prefix, ignore_errors=True)
    cmake("--install", tree, "--prefix", prefix, "--component", "program", "--strip")


class BuildWithProgram(build_py):
    def run(self):
        super().run()
        if not getattr(self, "editable_mode", False):
            install_program(pathlib.Path(self.build_lib).resolve() / "stepcast/_program")


class WheelOfProgram(bdist_wheel):
    """For any Python 3, on this kind of machine."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


class WithProgram(Distribution):
    def has_ext_modules(self):
        return True


version = re.search(r"project\(stepcast VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
setup(version=version, distclass=WithProgram, cmdclass={"build_py": BuildWithProgram, "bdist_wheel": WheelOfProgram})
