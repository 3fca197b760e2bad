# SPDX-License-Identifier: Apache-2.0
"""Colours of the report: one name per meaning, a value for light and one for dark paper, safe for colour-blind readers.

Matplotlib draws with the light values; the SVG then names them as CSS variables, so that the page decides. The hues are
those of Okabe and Ito. The documents paint ML-KEM and Baseline blue, HQC and XGBoost orange, McEliece and TST red; the
same order is kept with hues that differ in lightness too.
"""

#: name -> (light, dark). Every light value is unique, because the SVG is translated by value.
COLOURS: dict[str, tuple[str, str]] = {
    "ink": ("#1b1f24", "#e8eaed"),
    "muted": ("#59626d", "#a9b1bb"),
    "grid": ("#dfe3e8", "#383e46"),
    "paper": ("#ffffff", "#15181c"),
    "blue": ("#0072b2", "#56b4e9"),
    "orange": ("#e69f00", "#f2b632"),
    "vermillion": ("#d55e00", "#ff8a45"),
    "green": ("#009e73", "#2fc79b"),
    "purple": ("#aa4499", "#d68fc6"),
    "sky": ("#88bbdd", "#2f6f96"),
    "wash": ("#f3f5f8", "#1e2227"),
}

FAMILY = {"ML-KEM": "blue", "HQC": "orange", "Classic-McEliece": "vermillion", "FrodoKEM": "green"}
SIG_FAMILY = {"ML-DSA": "blue", "Falcon": "green", "SPHINCS+": "vermillion"}
SCENARIO = {"baseline": "blue", "xgboost": "orange", "tst": "vermillion"}
LEVEL = {1: "sky", 3: "blue", 5: "purple"}

#: Second sign beside colour, for charts of points.
FAMILY_MARKER = {"ML-KEM": "o", "HQC": "s", "Classic-McEliece": "^", "FrodoKEM": "D"}
SCENARIO_MARKER = {"baseline": "o", "xgboost": "s", "tst": "^"}

#: Hatches tell bars of one group apart without colour.
SCENARIO_HATCH = {"baseline": "", "xgboost": "///", "tst": "xxx"}


def light(name: str) -> str:
    """The colour to draw with."""
    return COLOURS[name][0]


def family(name: str) -> str:
    """Colour of a KEM family; purple for one the palette does not know."""
    return light(FAMILY.get(name, "purple"))


def sig_family(name: str) -> str:
    """Colour of a signature family."""
    return light(SIG_FAMILY.get(name, "purple"))


def scenario(name: str) -> str:
    """Colour of a scenario."""
    return light(SCENARIO.get(name, "purple"))


def level(number: int) -> str:
    """Colour of a NIST level."""
    return light(LEVEL.get(number, "green"))


def css(dark: bool) -> str:
    """The variables' declarations for one kind of paper."""
    return "".join(f"--{name}:{pair[dark]};" for name, pair in COLOURS.items())
