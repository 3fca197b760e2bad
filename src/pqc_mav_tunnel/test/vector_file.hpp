// SPDX-License-Identifier: Apache-2.0
// Reads the files of pqc_mav_wirespec/test/vectors; their form is described in the README there.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hex.hpp"

namespace pqcmav::test {

/// The value of a base64 text with its padding. Throws std::invalid_argument for any other text.
inline Bytes unbase64(std::string_view text) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto end = std::min(text.find('='), text.size());
  if (text.size() % 4 != 0 || text.size() - end > 2) throw std::invalid_argument("not base64");
  Bytes out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text.substr(0, end)) {
    const auto digit = kDigits.find(c);
    if (digit == std::string_view::npos) throw std::invalid_argument("not a base64 digit");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((held += 6) >= 8) out.push_back(static_cast<std::uint8_t>(bits >> (held -= 8)));
  }
  return out;
}

class VectorSection {
 public:
  std::map<std::string, std::string> values;

  [[nodiscard]] bool has(const std::string& key) const { return values.count(key) > 0; }
  [[nodiscard]] const std::string& text(const std::string& key) const {
    const auto found = values.find(key);
    if (found == values.end()) throw std::out_of_range("the vector has no " + key);
    return found->second;
  }
  /// A value of bytes: hex, or base64 where it is long.
  [[nodiscard]] Bytes bytes(const std::string& key) const {
    static constexpr std::string_view kBase64 = "base64:";
    const std::string_view value = text(key);
    return value.starts_with(kBase64) ? unbase64(value.substr(kBase64.size())) : unhex(value);
  }
  template <std::size_t N>
  [[nodiscard]] ByteArray<N> array(const std::string& key) const {
    return unhex_array<N>(text(key));
  }
  [[nodiscard]] std::uint64_t number(const std::string& key) const { return std::stoull(text(key)); }
};

/// The sections of one file, in order.
using VectorFile = std::vector<std::pair<std::string, VectorSection>>;

inline VectorFile read_vectors(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  VectorFile out;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.front() == '[' && line.back() == ']') {
      out.emplace_back(line.substr(1, line.size() - 2), VectorSection());
      continue;
    }
    const auto equals = line.find('=');
    if (equals == std::string::npos || out.empty())
      throw std::runtime_error("not a vector line: " + line.substr(0, 60));
    const auto begin = std::min(line.size(), equals + 2);
    out.back().second.values[line.substr(0, line.find_last_not_of(' ', equals - 1) + 1)] = line.substr(begin);
  }
  return out;
}

inline const VectorSection& section(const VectorFile& file, std::string_view name) {
  for (const auto& [found, content] : file) {
    if (found == name) return content;
  }
  throw std::out_of_range("the vector has no section " + std::string(name));
}

}  // namespace pqcmav::test
