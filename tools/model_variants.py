# SPDX-License-Identifier: Apache-2.0
"""The models of the protocol, made from the templates docs/model/*.in as docs/model/situations.txt says.

    python3 tools/model_variants.py FOLDER           writes them; 'make verify-model' does it
    python3 tools/model_variants.py FOLDER --page    prints the page of what was found there, from its results.tsv

A dozen copies kept by hand would drift apart. A line of a template that ends in `//? flag !other` is in a model only
when its variant has every flag that is named and none that is negated; a line `//+ file` stands for that file.
"""

import argparse
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

MODEL = Path(__file__).resolve().parent.parent / "docs" / "model"
SITUATIONS = "situations.txt"
CONDITION, INCLUDE = "//?", "//+ "


class TemplateError(Exception):
    """A template or the list of situations asks for what is not there."""


@dataclass(frozen=True)
class Variant:
    """One model. `expect` has a digit per query: 0 holds, 1 an attack, ? undecided. `spoils` names what it spoils."""

    name: str
    says: str
    flags: frozenset[str]
    expect: str
    template: str
    spoils: str = ""
    queries: tuple[str, ...] = ()


def variants(text: str) -> tuple[Variant, ...]:
    """Return every variant that the list of situations names. Raise TemplateError."""
    found: list[Variant] = []
    template = ""
    queries: tuple[str, ...] = ()
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.removeprefix("== ").split("|")]
        if line.startswith("== "):
            template, queries = fields[0], tuple(fields[1:])
            continue
        if len(fields) != 4 or len(fields[2]) != len(queries):
            raise TemplateError(f"{fields[0]}: four fields, and an outcome for each of {len(queries)} queries")
        name, _, spoils = fields[0].partition("!")
        found.append(Variant(name, fields[3], frozenset(fields[1].split()), fields[2], template, spoils, queries))
    return tuple(found)


VARIANTS = variants((MODEL / SITUATIONS).read_text(encoding="utf-8"))


def file_name(variant: Variant) -> str:
    """Return the name of a variant's model: ProVerif reads .pv, Spin .pml."""
    return variant.name + Path(variant.template).with_suffix("").suffix


def _whole(template: str, parts: dict[str, str]) -> list[str]:
    lines: list[str] = []
    for line in template.splitlines():
        lines += parts[line.removeprefix(INCLUDE)].splitlines() if line.startswith(INCLUDE) else [line]
    return lines


def model(template: str, variant: Variant, parts: dict[str, str] | None = None) -> str:
    """Return the whole file of a variant; `parts` has what it includes, by name. Raise TemplateError."""
    lines, known = [], set()
    for line in _whole(template, parts or {}):
        content, mark, condition = line.partition(CONDITION)
        terms = condition.split()
        known |= {term.removeprefix("!") for term in terms}
        if all((term in variant.flags) if term[0] != "!" else (term[1:] not in variant.flags) for term in terms):
            lines.append(content.rstrip() if mark else line)
    unknown = variant.flags - known
    if unknown:
        raise TemplateError(f"{variant.name}: no line of {variant.template} asks for {', '.join(sorted(unknown))}")
    head = [
        variant.says,
        f"Made by tools/model_variants.py from {variant.template}: change those.",
        f"expect: {variant.expect}",
    ]
    remark = "(* {} *)" if variant.template.endswith(".pv.in") else "/* {} */"
    return "\n".join([*(remark.format(line) for line in head), *lines, ""])


def models(folder: Path = MODEL) -> dict[str, str]:
    """Return every model's text by its file name. Raise TemplateError."""
    templates = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.in")}
    return {file_name(each): model(templates[each.template], each, templates) for each in VARIANTS}


def _row(variant: Variant, code: str) -> str:
    asked = {n: query for n, query in enumerate(variant.queries) if not query.startswith("[")}
    broken = [query for n, query in asked.items() if code[n] == "1"]
    told = "all" if len(broken) == len(asked) else ", ".join(broken)
    open_ = ", ".join(f"{query} undecided" for n, query in asked.items() if code[n] == "?")
    return f"| `{variant.name}` | {variant.says} | {'; '.join(filter(None, (told, open_))) or '-'} |"


def page(results: str) -> str:
    """Return the tables of what was found: a line of `results` has file name, outcomes and seconds, tabs between."""
    found = {name: (code, seconds) for name, code, seconds in (line.split("\t") for line in results.splitlines())}
    lines: list[str] = []
    here = [each for each in VARIANTS if file_name(each) in found]
    for (template, queries), group in groupby(here, key=lambda each: (each.template, each.queries)):
        each = list(group)
        tool = "ProVerif" if template.endswith(".pv.in") else "Spin"
        asked = [query for query in queries if not query.startswith("[")]
        lines += ["", f"**{template.removesuffix('.in')}**, by {tool}. Asked: {', '.join(asked)}.", ""]
        lines += ["| model | situation | attacked |", "|---|---|---|"]
        lines += [_row(one, found[file_name(one)][0]) for one in each if not one.spoils]
        if spoiled := [f"`{one.name}`" for one in each if one.spoils]:
            lines += ["", f"Worse, as they must be: {', '.join(spoiled)}."]
    total = sum(float(seconds) for _, seconds in found.values())
    return "\n".join([*lines[1:], "", f"{len(found)} models, {total:.0f} s of processor time.", ""])


def main() -> None:
    """Write every model into the folder named as argument, or print the page of its results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    folder: Path = options.folder
    if options.page:
        print(page((folder / "results.tsv").read_text(encoding="utf-8")), end="")
        return
    folder.mkdir(parents=True, exist_ok=True)
    for left in [*folder.glob("*.pv"), *folder.glob("*.pml")]:
        left.unlink()
    for name, text in models().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
