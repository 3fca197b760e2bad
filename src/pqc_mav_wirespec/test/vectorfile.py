# SPDX-License-Identifier: Apache-2.0
"""The text form of test vectors: `[section]` lines, `key = value` lines, `#` comments, nothing else.

A value is bytes, ASCII text or a decimal number; test/vectors/README.md says which key has which. One value is one
line. Bytes are hex, or base64 after `base64:` where they are many.
"""

from __future__ import annotations

import base64
from pathlib import Path

from pqc_mav_wirespec.errors import MalformedError

Value = bytes | str | int
BASE64 = "base64:"
HEX_BYTES = 96  # at most; longer values are base64


def _text(value: Value) -> str:
    if not isinstance(value, bytes):
        return str(value)
    return value.hex() if len(value) <= HEX_BYTES else BASE64 + base64.b64encode(value).decode("ascii")


class Section:
    """An ordered set of named values."""

    def __init__(self, name: str, values: dict[str, str] | None = None) -> None:
        self.name = name
        self._values = values if values is not None else {}

    def put(self, **values: Value) -> Section:
        """Adds values: bytes become hex or base64, numbers decimal, text stays. Returns self."""
        self._values |= {key: _text(value) for key, value in values.items()}
        return self

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def names(self) -> list[str]:
        """The names of its values, in order."""
        return list(self._values)

    def text(self, key: str) -> str:
        """The value as text. Raises MalformedError when it is missing."""
        if key not in self._values:
            raise MalformedError(f"[{self.name}] has no {key}")
        return self._values[key]

    def raw(self, key: str) -> bytes:
        """The value as bytes. Raises MalformedError when it is missing or neither hex nor base64."""
        text = self.text(key)
        try:
            if text.startswith(BASE64):
                return base64.b64decode(text.removeprefix(BASE64), validate=True)
            return bytes.fromhex(text)
        except ValueError as error:
            raise MalformedError(f"[{self.name}] {key} is neither hex nor base64") from error

    def number(self, key: str) -> int:
        """The value as a number. Raises MalformedError when it is missing or no decimal number."""
        try:
            return int(self.text(key), 10)
        except ValueError as error:
            raise MalformedError(f"[{self.name}] {key} is no decimal number") from error

    def lines(self) -> list[str]:
        """The section as lines of its file."""
        return [f"[{self.name}]", *(f"{key} = {value}".rstrip() for key, value in self._values.items()), ""]


class VectorFile:
    """A list of sections with different names, the first of which is `[vector]` and has the key `kind`."""

    def __init__(self, comment: str = "") -> None:
        self.comment = comment
        self.sections: list[Section] = []

    def section(self, name: str) -> Section:
        """Starts a section. Raises MalformedError when the name is taken."""
        if any(existing.name == name for existing in self.sections):
            raise MalformedError(f"there are two sections [{name}]")
        self.sections.append(Section(name))
        return self.sections[-1]

    def __getitem__(self, name: str) -> Section:
        for section in self.sections:
            if section.name == name:
                return section
        raise MalformedError(f"there is no section [{name}]")

    def body(self) -> str:
        """The sections as text."""
        return "\n".join(line for section in self.sections for line in section.lines())

    def render(self) -> str:
        """The whole file."""
        return "".join(f"# {line}\n" for line in self.comment.splitlines()) + "\n" + self.body()

    @classmethod
    def parse(cls, text: str) -> VectorFile:
        """Raises MalformedError with the number of the first line that is none of the three forms."""
        file = cls()
        for number, line in enumerate(text.splitlines(), 1):
            stripped = line.strip()
            if not stripped or stripped.startswith("#"):
                continue
            if stripped.startswith("[") and stripped.endswith("]"):
                file.section(stripped[1:-1])
                continue
            key, separator, value = stripped.partition("=")
            if not separator or not file.sections or key.strip() in file.sections[-1]:
                raise MalformedError(f"line {number} is no section, comment or new 'key = value'")
            file.sections[-1].put(**{key.strip(): value.strip()})
        return file

    @classmethod
    def read(cls, path: Path) -> VectorFile:
        """Reads a file. Raises MalformedError or OSError."""
        return cls.parse(path.read_text("ascii"))
