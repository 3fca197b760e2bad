// SPDX-License-Identifier: Apache-2.0
// Values as text, written as the Python proxy writes them: a reader of /diagnostics need not know which proxy wrote it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pqc_mav_proxy_cpp {

/// On one line: what is shown to a person has no line breaks in it.
std::string one_line(std::string_view text);
std::string join(const std::vector<std::string>& texts, std::string_view separator);
/// As Python writes JSON: in ASCII, with blanks behind commas and colons.
std::string python_json(const nlohmann::ordered_json& value);
/// As pqc_mav_common/key_values.py writes a value: a text as it is, unless it reads as JSON itself.
std::string key_value_text(const nlohmann::ordered_json& value);

}  // namespace pqc_mav_proxy_cpp
