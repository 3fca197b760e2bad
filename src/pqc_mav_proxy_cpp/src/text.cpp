// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "pqc_mav_tunnel/suites.hpp"

namespace pqc_mav_proxy_cpp {

std::string one_line(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\v\f";
  std::string out;
  for (std::size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const auto end = text.find_first_of(kSpace, at);
    if (!out.empty()) out += ' ';
    out += text.substr(at, end == std::string_view::npos ? end : end - at);
    at = end == std::string_view::npos ? end : text.find_first_not_of(kSpace, end);
  }
  return out;
}

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
  return {buffer.data(), static_cast<std::size_t>(size)};
}

std::string join(const std::vector<std::string>& texts, std::string_view separator) {
  std::string out;
  for (const auto& text : texts) {
    if (&text != &texts.front()) out += separator;
    out += text;
  }
  return out;
}

std::string short_code(const std::string& suite) {
  const auto* known = suite.empty() ? nullptr : pqcmav::find_suite(suite);
  return known ? known->short_code : suite;
}

}  // namespace pqc_mav_proxy_cpp
