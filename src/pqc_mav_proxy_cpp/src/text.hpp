// SPDX-License-Identifier: Apache-2.0
// Values as text, written as the Python proxy writes them: a reader of /diagnostics need not know which proxy wrote it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pqc_mav_proxy_cpp {

/// On one line: what is shown to a person has no line breaks in it.
std::string one_line(std::string_view text);
/// The shortest text that reads back as this number, always with a point or an exponent: "60.0", "0.1", "1e-05".
std::string number_text(double value);
/// With so many digits behind the point.
std::string fixed(double value, int digits);
std::string join(const std::vector<std::string>& texts, std::string_view separator);
/// How a suite is written in sentences for people; what this version does not know stays as it is.
std::string short_code(const std::string& suite);

}  // namespace pqc_mav_proxy_cpp
