"""The output of convert.py, and its refusal of unknown syntax, with the line."""
import unittest

from convert import NotUnderstood, convert

HEAD = '#include "tests/emulator/device_builtins.hpp"\n#line 1 "x.cu"\n'
LAUNCH = "::stepcast::emulator::launch"
CONFIG = "::stepcast::emulator::Config"
SHARED = "::stepcast::emulator::shared"


class Conversion(unittest.TestCase):
    def test_launches(self):
        for cuda, cpp in (
            ("f<<<1, n>>>(x, g(y));", f'{LAUNCH}("f", {CONFIG}(1, n), [](const auto&... emulated) {{ f(emulated...); }}, x, g(y));'),
            ("f<<<1, 1>>>();", f'{LAUNCH}("f", {CONFIG}(1, 1), [](const auto&... emulated) {{ f(emulated...); }});'),
            ("if (a) f<T, decltype(v)::value><<<dim3(a(b), c), d, 0, s>>>(\n  x);", f'if (a) {LAUNCH}("f<T, decltype(v)::value>", {CONFIG}(dim3(a(b), c), d, 0, s), [](const auto&... emulated) {{ f<T, decltype(v)::value>(emulated...); }}, \n  x);'),
            ("// f<<<1, 1>>>()", "// f<<<1, 1>>>()"),
        ):
            self.assertEqual(convert(cuda, "x.cu"), HEAD + cpp)

    def test_shared(self):
        self.assertEqual(convert("__shared__ float x[2][N + 1];", "x.cu"), f"{HEAD}auto& x = {SHARED}<float [2][N + 1]>([] {{}});")
        self.assertEqual(convert("__shared__ typename A<T, 3>::B x;", "x.cu"), f"{HEAD}auto& x = {SHARED}<typename A<T, 3>::B >([] {{}});")

    def test_what_is_not_understood(self):
        for cuda in ("kernels[i]<<<1, 1>>>(x);", "f<<<1, 1>>>;", "f<<<1, (1>>>(x);", "f<<<>>>(x);", "f<<<1, 1>>>(x;", "a::f<<<1, 1>>>(x);", "(f)<<<1, 1>>>(x);",
                     "extern __shared__ float x[];", "__shared__ int x = 1;", "static __shared__"):
            with self.assertRaises(NotUnderstood, msg=cuda) as caught:
                convert("\n" + cuda, "x.cu")
            self.assertEqual(caught.exception.line, 2, cuda)


if __name__ == "__main__":
    unittest.main()
