# SPDX-License-Identifier: Apache-2.0
"""The small changes that `tools/mutants.py` makes: numbers, comparisons, and/or/not, +/-, and what is returned.

A change is a span of the source and what takes its place; numbers grow by a quarter, whole ones by one at least.
"""

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

# What takes the place of an operator. A comparison is loosened or tightened, which is harder to notice than turned.
SWAPS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "and": "or",
    "or": "and",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "*": "/",
    "+=": "-=",
    "-=": "+=",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
    "true": "false",
    "false": "true",
    "True": "False",
    "False": "True",
    '""': '"?"',
    "std::min": "std::max",
    "std::max": "std::min",
}
_WHOLE = re.compile(r"[\d_']+")


@dataclass(frozen=True, order=True)
class Mutation:
    """Bytes `begin` to `end` of a source become `text`."""

    begin: int
    end: int
    text: str

    def applied(self, source: bytes) -> bytes:
        """The source with this change."""
        return source[: self.begin] + self.text.encode() + source[self.end :]

    def line(self, source: bytes) -> int:
        """The number of its line."""
        return source.count(b"\n", 0, self.begin) + 1

    def words(self, source: bytes) -> tuple[str, str]:
        """Its first line as it is, and as it becomes, without indentation."""
        at = self.line(source) - 1
        before, after = (each.split(b"\n")[at].decode().strip() for each in (source, self.applied(source)))
        return before, after


def of_file(path: Path) -> list[Mutation]:
    """Every change that may be made to a file of Python or C++, in order."""
    source = path.read_bytes()
    found = of_python(source) if path.suffix == ".py" else of_cpp(source)
    return sorted(set(found))


def _other(number: str) -> str:
    """Another number, near to this one."""
    if _WHOLE.fullmatch(number):
        whole = int(number.replace("'", ""))
        return str(whole + max(1, whole // 4))
    return f"{float(number) * 1.25:.12g}" if float(number) else "1.0"


def of_python(source: bytes) -> Iterator[Mutation]:
    """By the syntax tree; annotations, strings and what is raised stay as they are."""
    lines = [0]
    for line in source.split(b"\n"):
        lines.append(lines[-1] + len(line) + 1)

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return lines[node.lineno - 1] + node.col_offset, lines[node.end_lineno - 1] + node.end_col_offset

    def between(one: ast.expr, other: ast.expr) -> Iterator[Mutation]:
        begin, end = span(one)[1], span(other)[0]
        operator = re.search(rb"[-<>=!+*]=?|\b(?:and|or|not\s+in|in|is\s+not|is)\b", source[begin:end])
        if operator and operator[0].decode() in SWAPS:
            yield Mutation(begin + operator.start(), begin + operator.end(), SWAPS[operator[0].decode()])

    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.JoinedStr, ast.Raise)):
            continue
        skipped = {getattr(node, name, None) for name in ("annotation", "returns")}
        waiting += [each for each in ast.iter_child_nodes(node) if each not in skipped]
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            begin, end = span(node)
            if re.fullmatch(rb"[\d_.]+(e-?\d+)?", source[begin:end]):
                yield Mutation(begin, end, _other(source[begin:end].decode()))
        elif isinstance(node, ast.Compare):
            for one, other in pairwise([node.left, *node.comparators]):
                yield from between(one, other)
        elif isinstance(node, ast.BoolOp):
            for one, other in pairwise(node.values):
                yield from between(one, other)
        elif isinstance(node, ast.BinOp):
            yield from between(node.left, node.right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield Mutation(span(node)[0], span(node.operand)[0], "")
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
            begin, end = span(node.value)
            if swapped := SWAPS.get(source[begin:end].decode()):
                yield Mutation(begin, end, swapped)


_QUIET = re.compile(
    rb'//[^\n]*|/\*.*?\*/|^\s*#[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])\'|static_assert', re.S | re.M
)
# Formatted by clang-format: operators of two values have blanks beside them, and brackets of templates have none.
_CPP = re.compile(
    rb"(?<= )(?P<operator>[<>]=?|[=!]=|&&|\|\||[-+*]|[-+]=)(?= )"
    rb"|(?<![\w.'])(?P<number>\d[\d']*(?:\.\d+)?)(?![\w.'])"
    rb"|(?<=return )(?P<returned>true|false)\b|\b(?P<least>std::m(?:in|ax))(?=[(<])|(?P<no>!)(?=[\w(])"
)


def of_cpp(source: bytes) -> Iterator[Mutation]:
    """By tokens, outside of comments, strings and the preprocessor; some do not compile."""
    quiet = [match.span() for match in _QUIET.finditer(source)]
    begins = [begin for begin, _ in quiet]
    for match in _CPP.finditer(source):
        place = bisect_right(begins, match.start()) - 1
        if place >= 0 and match.start() < quiet[place][1]:
            continue
        was = match[0].decode()
        text = "" if match["no"] else _other(was) if match["number"] else SWAPS[was]
        yield Mutation(match.start(), match.end(), text)
