# SPDX-License-Identifier: Apache-2.0
import yaml

from pqc_mav_common.parameter_file import WIDTH, documented, head
from pqc_mav_common.parameters import ParameterSpec

LONG = ParameterSpec("rate_hz", 4.0, "How often, " + "and again " * 20 + "at all.", 0.5, 50.0, unit="Hz")
NAMES = ParameterSpec("names", (), "Which names.")


def test_each_parameter_has_its_meaning_and_facts_before_it() -> None:
    lines = documented([LONG, NAMES], "  ", {"names": ["x"]})
    assert lines[-4:] == ["  # Which names.", "  # list of strings; default []", '  names: ["x"]', ""]
    assert "  # number; 0.5 to 50.0 [Hz]; default 4.0" in lines and all(len(line) <= WIDTH for line in lines)
    assert yaml.safe_load("\n".join(lines)) == {"rate_hz": 4.0, "names": ["x"]}


def test_the_head_names_the_option_in_both_spellings() -> None:
    text = "\n".join(head("Title.", "policy_config"))
    assert text.startswith("# Title.\n") and "--policy-config FILE" in text and "policy_config:=FILE" in text
    assert yaml.safe_load(text) is None
