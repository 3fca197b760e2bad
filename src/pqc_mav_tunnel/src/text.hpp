// SPDX-License-Identifier: Apache-2.0
// Small helpers for the sentences people read.
#pragma once

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bytes.hpp"

namespace pqcmav {

using Strings = std::vector<std::string>;

/// Levenshtein distance, without regard to ASCII case.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// Up to `count` of `known` in order of distance to `text`; far-off ones (distance above 60 % of the longer length) are
/// left out.
Strings closest_text(std::string_view text, const Strings& known, std::size_t count);

/// A text that may come from anywhere, fit for a line of a log or a terminal: control characters, line and paragraph
/// separators, marks that turn the direction of what follows, and bytes that are no UTF-8 are written out (\n, \x1b). One
/// line stays one, whoever chose the text.
std::string one_line(std::string_view text);

/// In small letters; ASCII alone, so the locale has no say.
std::string lowered(std::string_view text);

/// Two digits for each byte, without anything between.
std::string to_hex(ByteView bytes);

/// With commas between; `name` is what is shown of each.
template <typename All, typename Name = std::identity>
std::string listed(const All& all, const Name& name = {}) {
  std::string out;
  for (const auto& each : all) out.append(out.empty() ? "" : ", ").append(std::invoke(name, each));
  return out;
}

/// What a value is called in a table of all names of its enumeration, whose first is 0; `otherwise` for any other value.
template <auto Last, std::size_t Size>
constexpr std::string_view name_in(const std::string_view (&names)[Size], decltype(Last) value,
                                   std::string_view otherwise) noexcept {
  static_assert(Size == static_cast<std::size_t>(Last) + 1);
  const auto place = static_cast<std::size_t>(value);
  return place < Size ? names[place] : otherwise;
}

/// A number that is all of a text.
template <typename Number>
std::optional<Number> number_of(std::string_view text) noexcept {
  Number out{};
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && at == end ? std::optional(out) : std::nullopt;
}

/// What the system says of an errno value.
std::string system_reason(int code);
/// An environment variable; "" where it is not set.
std::string environment(const char* name);

}  // namespace pqcmav
