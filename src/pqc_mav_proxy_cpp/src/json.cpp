// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

constexpr std::uint32_t kUnknown = 0xfffd;

/// The character that begins at `at`, which moves behind it; a byte that is no UTF-8 becomes the replacement character.
std::uint32_t next_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto first = byte(at++);
  if (first < 0x80) return first;
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  if (more == 0 || at + static_cast<std::size_t>(more) > text.size()) return kUnknown;
  auto out = static_cast<std::uint32_t>(first & (0x3f >> more));
  for (int i = 0; i < more; ++i) {
    if ((byte(at) & 0xc0) != 0x80) return kUnknown;
    out = out << 6 | (byte(at++) & 0x3f);
  }
  return out;
}

std::string escaped(std::uint32_t unit) {
  std::array<char, 8> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "\\u%04x", unit & 0xffff);
  return buffer.data();
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto code = next_character(text, at);
    if (code == '"' || code == '\\')
      out += {'\\', static_cast<char>(code)};
    else if (code == '\n')
      out += "\\n";
    else if (code == '\t')
      out += "\\t";
    else if (code >= 0x20 && code < 0x7f)
      out += static_cast<char>(code);
    else if (code > 0xffff)
      out += escaped(0xd800 + ((code - 0x10000) >> 10)) + escaped(0xdc00 + ((code - 0x10000) & 0x3ff));
    else
      out += escaped(code);
  }
  return out + "\"";
}

struct Writer {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(const std::string& value) const { return in_quotes(value); }
  std::string operator()(const std::vector<std::string>& value) const {
    std::vector<std::string> items;
    for (const auto& item : value) items.push_back(in_quotes(item));
    return std::string("[") + join(items, ", ") + "]";
  }
};

}  // namespace

std::string to_json(const pqcmav::ConfigValue& value) { return std::visit(Writer{}, value); }

std::string to_json(const pqcmav::FlatConfig& config) {
  std::vector<std::string> items;
  for (const auto& [key, value] : config) items.push_back(in_quotes(key) + ": " + to_json(value));
  return std::string("{") + join(items, ", ") + "}";
}

}  // namespace pqc_mav_proxy_cpp
