// SPDX-License-Identifier: Apache-2.0
// Numbers and names as sentences for people have them.
#pragma once

#include <string>

namespace pqcmav {

/// The shortest text that reads back as this number, always with a point or an exponent, as Python writes it: "60.0",
/// "0.1", "1e-05".
std::string number_text(double value);
/// With so many digits behind the point.
std::string fixed(double value, int digits);
/// How a suite is written; what this version does not know stays as it is.
std::string short_code(const std::string& suite);

}  // namespace pqcmav
