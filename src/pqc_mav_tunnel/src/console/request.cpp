// SPDX-License-Identifier: Apache-2.0
#include "console/request.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace pqcmav {
namespace {

bool is_text(const Json& value) { return value.is_string() && value.get_ref<const std::string&>().size() <= kTextMost; }

}  // namespace

void refuse(std::string code, std::string text) { throw Refused{std::move(code), std::move(text)}; }

std::string text_in(const Json& request, const char* field) {
  const auto it = request.find(field);
  if (it == request.end()) return {};
  if (!it->is_string() || it->get_ref<const std::string&>().size() > kTextMost)
    refuse("bad_request", std::string("'") + field + "' must be a text of at most 255 bytes.");
  return it->get<std::string>();
}

double number_in(const Json& request, const char* field, double otherwise, double least, double most) {
  const auto it = request.find(field);
  if (it == request.end()) return otherwise;
  const double value = it->is_number() ? it->get<double>() : std::nan("");
  if (!(value >= least && value <= most))
    refuse("bad_request", std::string("'") + field + "' must be a number from " + Json(least).dump() + " to " +
                              Json(most).dump() + ".");
  return value;
}

bool flag_in(const Json& request, const char* field) {
  const auto it = request.find(field);
  if (it == request.end()) return false;
  if (!it->is_boolean()) refuse("bad_request", std::string("'") + field + "' must be true or false.");
  return it->get<bool>();
}

Json id_in(const Json& request) {
  const auto it = request.find("id");
  if (it == request.end() || it->is_null()) return nullptr;
  if (it->is_number_integer() || (it->is_string() && it->get_ref<const std::string&>().size() <= kIdMost)) return *it;
  refuse("bad_request", "'id' must be a whole number or a text of at most 64 bytes.");
}

std::optional<ConfigValue> plain_value(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX))
    return value.get<std::int64_t>();
  if (is_text(value)) return value.get<std::string>();
  if (value.is_array() && value.size() <= kListMost && std::all_of(value.begin(), value.end(), is_text))
    return value.get<std::vector<std::string>>();
  return std::nullopt;
}

FlatConfig settings_in(const Json& request) {
  FlatConfig out;
  const auto it = request.find("settings");
  if (it == request.end()) return out;
  if (!it->is_object()) refuse("bad_request", "'settings' must be an object of keys and values.");
  for (const auto& [key, value] : it->items()) {
    auto setting = plain_value(value);
    if (!setting)
      refuse("bad_request", "'" + key.substr(0, kIdMost) +
                                "' in 'settings' must be true, false, a whole number, a text of at most 255 bytes or "
                                "a list of texts.");
    out[key] = *std::move(setting);
  }
  return out;
}

}  // namespace pqcmav
