// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <system_error>
#include <utility>

namespace pqcmav {
namespace {

constexpr char32_t kNoCharacter = 0xffffffff;

/// The character at the beginning of `text`, and how many bytes it has; kNoCharacter and 1 where that is no UTF-8.
std::pair<char32_t, std::size_t> first_character(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || size > text.size()) return {kNoCharacter, 1};
  char32_t out = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {kNoCharacter, 1};
    out = (out << 6) | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = out >= 0xd800 && out <= 0xdfff;
  if (out < least[size] || out > 0x10ffff || surrogate) return {kNoCharacter, 1};
  return {out, size};
}

/// Would a terminal or a log do more with it than show it?
bool acts(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return c == kNoCharacter || c < 0x20 || within(0x7f, 0x9f) || within(0x2028, 0x202e) || within(0x2066, 0x2069) ||
         c == 0x061c || within(0x200e, 0x200f);
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto replace = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, replace});
    }
  }
  return row.back();
}

Strings closest_text(std::string_view text, const Strings& known, std::size_t count) {
  text = text.substr(0, 256);  // a name is never longer; keeps the cost of nonsense bounded
  std::vector<std::pair<std::size_t, const std::string*>> ranked;
  for (const auto& each : known) {
    const auto distance = edit_distance(text, each);
    if (distance * 10 <= std::max(text.size(), each.size()) * 6) ranked.emplace_back(distance, &each);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Strings out;
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) out.push_back(*ranked[i].second);
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [character, size] = first_character(text);
    const auto bytes = text.substr(0, size);
    text.remove_prefix(size);
    if (!acts(character)) {
      out += bytes;
    } else if (character == '\n' || character == '\r' || character == '\t') {
      out += character == '\n' ? "\\n" : character == '\r' ? "\\r" : "\\t";
    } else {
      for (const auto& each : as_bytes(bytes)) out += "\\x" + to_hex({&each, 1});
    }
  }
  return out;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string to_hex(ByteView bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const auto byte : bytes) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::string system_reason(int code) { return std::generic_category().message(code); }

std::string environment(const char* name) {
  const auto* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace pqcmav
