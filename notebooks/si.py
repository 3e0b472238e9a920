"""Quantities as stepcast writes them into profiles and reports (models/unit/units.cpp)."""
import re

UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60, "h": 3600,
         "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
         "FLOPS": 1, "kFLOPS": 1e3, "MFLOPS": 1e6, "GFLOPS": 1e9, "TFLOPS": 1e12, "PFLOPS": 1e15, "EFLOPS": 1e18}


def si(text):
    """The value of a quantity such as "5us" or "800GB/s"; bits per second count as an eighth."""
    number, unit = re.fullmatch(r"([-+0-9.eE]*[0-9.])\s*(\D+)", text).groups()
    rate = re.fullmatch(r"([kMGT]?)b(?:ps|/s)", unit)
    if rate:
        return float(number) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[rate.group(1)] / 8
    return float(number) * UNITS[unit[:-2] if unit.endswith("/s") else unit]
