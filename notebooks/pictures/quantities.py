"""Names, values and units of a report in words that stand beside an axis."""
import math
import re

from si import si

TIMES = [("d", 86400), ("h", 3600), ("min", 60), ("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)]
RATES = [("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1)]  # of algbw and busbw, as nccl-tests
BYTES = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1)]
RATIO, PERCENT, PLAIN = [("×", 1)], [("%", 0.01)], [("", 1)]

# Ends of metrics' names that are units; the longest that fits counts.
UNITS = {"_samples_per_s": [("samples/s", 1)], "_B_per_s": RATES, "_s": TIMES, "_B": BYTES}
WORDS = {"step_time_s": "time per step", "run_time_s": "time of the run", "busbw_B_per_s": "bus bandwidth", "algbw_B_per_s": "algorithm bandwidth",
         "tokens_per_s_per_worker": "tokens per second and worker", "mfu": "model FLOPs utilization", "run_speedup": "speedup of the run",
         "cost_per_million_samples": "cost of a million samples", "run_cost": "cost of the run"}
FIELDS = {"nics": "NICs", "size": "message size"}
LESS_IS_BETTER = re.compile(r"(_s|_B|_cost|cost_per_million_samples|bound_gap)$")
MORE_IS_BETTER = re.compile(r"(_per_s|_per_s_per_worker)$")


class Quantity:
    """A metric: its column, its words, its unit's steps, and which way is better."""

    def __init__(self, name):
        self.name = name
        ending = max((e for e in UNITS if name.endswith(e)), key=len, default="")
        self.scales = UNITS.get(ending, PLAIN)
        if name in ("speedup", "run_speedup"):
            self.scales = RATIO
        elif name in ("mfu", "scaling_efficiency"):
            self.scales = PERCENT
        elif name == "tokens_per_s_per_worker":
            self.scales = [("tokens/s", 1)]
        self.short = name.removesuffix(ending) if ending else name
        self.words = WORDS.get(name, self.short.replace("_", " "))
        self.less_is_better = bool(LESS_IS_BETTER.search(name)) and not MORE_IS_BETTER.search(name)

    def scale(self, values):
        """The unit that suits values: (its name, its size)."""
        largest = max((abs(v) for v in values), default=0)
        return next((s for s in self.scales if largest >= s[1]), self.scales[-1])

    def label(self, unit):
        return f"{self.words} ({unit})" if unit else self.words

    def text(self, value):
        """One value with its own unit, to three digits."""
        unit, size = self.scale([value])
        return with_unit(digits(value / size), unit)


def with_unit(number, unit):
    return number + unit if unit in ("×", "") else f"{number} {unit}"


def digits(value, count=3):
    """A number to so many digits or more, without an exponent where it can be read without."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    exponent = math.floor(math.log10(abs(value)))
    if exponent < -4 or exponent > 8:
        return f"{value:.{count}g}"
    rounded = round(value, max(0, count - 1 - exponent))  # the digits of whole numbers are all told
    return f"{rounded:.0f}" if abs(rounded) >= 10 ** (count - 1) else f"{rounded:.{count}g}"


def number_of(text):
    """The number that a value of an axis stands for, or None: "8", "10Gbps", "64KiB"."""
    text = str(text).strip()
    try:
        value = float(text)
    except ValueError:
        try:
            value = si(text)
        except (AttributeError, KeyError, ValueError):
            return None
    return value if math.isfinite(value) else None


def value_text(text):
    """A value of an axis as people write it: "10 Gb/s" for "10Gbps"."""
    match = re.fullmatch(r"([-+0-9.eE]*[0-9.])\s*([A-Za-zµ]+(?:/s)?)", str(text))
    if not match or number_of(text) is None:
        return str(text)
    return f"{match[1]} {re.sub('bps$', 'b/s', match[2])}"


def field_text(axis):
    """The axis in words."""
    return FIELDS.get(axis, axis.replace("_", " "))


def field_and_value(axis, value):
    return f"{field_text(axis)} {value_text(value)}"
