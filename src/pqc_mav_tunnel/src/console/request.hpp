// SPDX-License-Identifier: Apache-2.0
// What a request of the control socket may have in its fields, and the refusal of what it may not.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "picture/field.hpp"
#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav {

inline constexpr std::size_t kIdMost = 64, kTextMost = 255, kListMost = 64;

/// Thrown by what reads a request and by what carries it out; the answer has both.
struct Refused {
  std::string code, text;
};
[[noreturn]] void refuse(std::string code, std::string text);

/// A field's value. A text that is not there is "", a flag false, a number `otherwise`.
std::string text_in(const Json& request, const char* field);
double number_in(const Json& request, const char* field, double otherwise, double least, double most);
bool flag_in(const Json& request, const char* field);
/// What may come back in an answer: a whole number or a short text; null where there is none.
Json id_in(const Json& request);
/// True, false, a whole number, a text, or a list of texts; nothing for another value.
std::optional<ConfigValue> plain_value(const Json& value);
/// The keys below drone.<id>. of a request.
FlatConfig settings_in(const Json& request);

}  // namespace pqcmav
