// SPDX-License-Identifier: Apache-2.0
#include "config_value.hpp"

#include <algorithm>
#include <iomanip>
#include <optional>
#include <sstream>

#include "constants.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

const char* type_name(const ConfigValue& value) {
  static constexpr const char* names[] = {"true or false", "a whole number", "a number", "a string",
                                          "a list of strings"};
  return names[value.index()];
}

std::string number(double value) {
  std::ostringstream out;
  out << std::setprecision(15) << value;  // whole numbers in full
  return out.str();
}

/// What was given, as an answer to "must be ...".
std::string shown_value(const ConfigValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) {
    const auto text = number(*real);
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
  }
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + text->substr(0, 40) + "'";
  return "a list";
}

}  // namespace

ConfigValue checked_value(const ConfigKey& key, const std::string& shown, const ConfigValue& given) {
  ConfigValue value = given;
  if (const auto* word = std::get_if<std::string>(&given); word != nullptr && key.key == "shape_kbit") {
    if (*word == "auto") value = std::int64_t{kShapeAuto};
    if (*word == "off") value = std::int64_t{0};
  }
  if (std::holds_alternative<double>(key.default_value) && std::holds_alternative<std::int64_t>(value))
    value = static_cast<double>(std::get<std::int64_t>(value));
  if (value.index() != key.default_value.index())
    throw TunnelError(Errc::config_invalid,
                      "'" + shown + "' must be " + type_name(key.default_value) + ", not " + shown_value(given) + ".");
  std::optional<double> numeric;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) numeric = static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) numeric = *real;
  if (numeric && !(*numeric >= key.min.value_or(*numeric) && *numeric <= key.max.value_or(*numeric))) {
    throw TunnelError(Errc::config_invalid, "'" + shown + "' is " + number(*numeric) + "; it must be between " +
                                                number(*key.min) + " and " + number(*key.max) +
                                                (key.unit.empty() ? "" : " " + std::string(key.unit)) + ".");
  }
  if (!key.choices.empty()) {
    const auto& text = std::get<std::string>(value);
    if (std::find(key.choices.begin(), key.choices.end(), text) == key.choices.end())
      throw TunnelError(Errc::config_invalid,
                        "'" + shown + "' is '" + text + "'; it must be one of: " + listed(key.choices) + ".");
  }
  return value;
}

}  // namespace pqcmav
