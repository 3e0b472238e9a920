#!/usr/bin/env python3
"""Converts CUDA C++ to C++ for the emulator, line by line: only the syntax that no macro can express.

    convert.py SOURCE OUTPUT NAME    NAME: the name of the source in errors

    kernel<T><<<grid, block>>>(x, n)    becomes  launch("kernel<T>", Config(grid, block), [](const auto&... a) { kernel<T>(a...); }, x, n)
    __shared__ float x[2][N];           becomes  auto& x = shared<float [2][N]>([] {});

Unknown syntax is an error with file and line.
"""
import re
import sys

EMULATOR = "::stepcast::emulator::"
OPENING, CLOSING = "([{", ")]}"


class NotUnderstood(Exception):
    def __init__(self, text, at, what):
        super().__init__(what)
        self.line = text.count("\n", 0, at) + 1


def code_of(text):
    """The text with blanks for comments and string literals, character by character."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)


def closing(code, at):
    """The place where the bracket that opens at `at` closes."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in OPENING) - (code[i] in CLOSING)
        if depth == 0:
            return i
    raise NotUnderstood(code, at, "a bracket that does not close")


def kernel_begin(code, end):
    """The begin of the name before `end`, with its template arguments; blanks may lie between."""
    end = len(code[:end].rstrip())
    at = end
    if code[at - 1] == ">":
        depth = 0
        while at > 0:
            at -= 1
            depth += (code[at] == ">") - (code[at] == "<")
            if depth == 0 or code[at] in ";{}":
                break
        if depth != 0:
            raise NotUnderstood(code, end, "a launch whose template arguments do not open")
    while at > 0 and re.match(r"[\w:]", code[at - 1]):
        at -= 1
    if not re.match(r"[A-Za-z_]\w*(?:<.*>)?$", code[at:end], flags=re.S):
        raise NotUnderstood(code, end, f"a launch of {code[at:end]!r}; allowed: an unqualified name, with template arguments or without")
    return at


def convert_launches(text):
    while (at := code_of(text).find("<<<")) >= 0:
        code = code_of(text)
        begin, config_end = kernel_begin(code, at), code.find(">>>", at)
        config = code[at + 3:config_end] if config_end >= 0 else ""
        if not config.strip() or re.search(r"[;{}]|<<<", config) or any(config.count(a) != config.count(b) for a, b in zip(OPENING, CLOSING)):
            raise NotUnderstood(text, at, "a launch's configuration does not end in >>>, or holds more than an expression")
        if code[config_end + 3:config_end + 4] != "(":
            raise NotUnderstood(text, at, "a launch without arguments in parentheses")
        end = closing(code, config_end + 3)
        kernel, arguments = text[begin:at], text[config_end + 4:end]
        name = " ".join(kernel.split()).replace('"', "'")
        comma = ", " if code[config_end + 4:end].strip() else ""
        text = (f'{text[:begin]}{EMULATOR}launch("{name}", {EMULATOR}Config({text[at + 3:config_end]}), '
                f"[](const auto&... emulated) {{ {kernel}(emulated...); }}{comma}{arguments}){text[end + 1:]}")
    return text


def convert_shared(text):
    code = code_of(text)
    if (found := re.search(r"\bextern\s+__shared__", code)):
        raise NotUnderstood(text, found.start(), "dynamic shared memory; allowed: arrays of constant size")
    declaration = re.compile(r"\b__shared__\s+([^;=(]+?)\s*\b(\w+)\s*((?:\[[^;=]*\])?)\s*;")
    parts, last = [], 0
    for found in declaration.finditer(code):
        kind, name, sizes = (text[found.start(i):found.end(i)] for i in (1, 2, 3))
        parts += [text[last:found.start()], f"auto& {name} = {EMULATOR}shared<{kind} {sizes}>([] {{}});"]
        last = found.end()
    text = "".join(parts) + text[last:]
    if (at := code_of(text).find("__shared__")) >= 0:
        raise NotUnderstood(text, at, "__shared__; allowed: one variable a declaration, without initializer")
    return text


def convert(text, name):
    """@raises NotUnderstood"""
    converted = convert_shared(convert_launches(text))
    assert converted.count("\n") == text.count("\n"), "lines keep their numbers"
    return f'#include "tests/emulator/device_builtins.hpp"\n#line 1 "{name}"\n{converted}'


def main():
    source, output, name = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    try:
        converted = convert(text, name)
    except NotUnderstood as error:
        sys.exit(f"{source}:{error.line}: error: not understood by the emulator: {error}")
    with open(output, "w", encoding="utf-8") as file:
        file.write(converted)


if __name__ == "__main__":
    main()
