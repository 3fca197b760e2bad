// SPDX-License-Identifier: Apache-2.0
#include "console/numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const auto size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  std::string out(buffer.data(), end);
  if (plain && out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string fixed(double value, int digits) {
  std::array<char, 64> buffer{};
  const auto size = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return {buffer.data(), std::min(static_cast<std::size_t>(size), buffer.size() - 1)};
}

std::string short_code(const std::string& suite) {
  const auto* known = suite.empty() ? nullptr : find_suite(suite);
  return known != nullptr ? known->short_code : suite;
}

}  // namespace pqcmav
