// SPDX-License-Identifier: Apache-2.0
#include "parameters.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <type_traits>

#include "failure.hpp"
#include "pqc_mav_tunnel/host_config.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

using pqcmav::ConfigValue;
using Strings = std::vector<std::string>;
using rclcpp::ParameterType;

// Parameters that ROS declares for every node.
constexpr std::string_view kRosOwn[] = {"use_sim_time", "start_type_description_service"};
constexpr std::string_view kRosOwnPrefixes[] = {"qos_overrides.", "/"};

bool is_list(ParameterType type) { return type >= ParameterType::PARAMETER_BYTE_ARRAY; }

bool is_ros_own(std::string_view name) {
  return std::ranges::find(kRosOwn, name) != std::end(kRosOwn) ||
         std::ranges::any_of(kRosOwnPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

bool is_empty(const rclcpp::ParameterValue& value) {
  return value.get_type() == ParameterType::PARAMETER_NOT_SET ||
         (is_list(value.get_type()) && rclcpp::to_string(value) == "[]");
}

rclcpp::ParameterValue parameter_value(const ConfigValue& value) {
  return std::visit([](const auto& each) { return rclcpp::ParameterValue(each); }, value);
}

ParameterSpec spec_of(const pqcmav::ConfigKey& key, const std::string& prefix = "") {
  return {prefix + std::string(key.key),
          key.default_value,
          std::string(key.description),
          key.min,
          key.max,
          {key.choices.begin(), key.choices.end()},
          std::string(key.unit),
          key.live,
          pqcmav::is_fixed(key.key)};
}

bool among(const ParameterSpec& spec, const std::string& item) {
  return spec.choices.empty() || std::ranges::find(spec.choices, item) != spec.choices.end();
}

/// As Python writes a value that is no list.
std::string as_python(const rclcpp::ParameterValue& value) {
  if (is_list(value.get_type()) && value.get_type() != ParameterType::PARAMETER_STRING_ARRAY) return "a list";
  auto text = python_json(json_of(config_value("", value)));
  std::ranges::replace(text, '"', '\'');
  return text;
}

struct Fits {
  const ParameterSpec& spec;
  bool operator()(bool) const { return true; }
  bool operator()(std::int64_t value) const { return (*this)(static_cast<double>(value)); }
  bool operator()(double value) const { return !spec.min || !spec.max || (*spec.min <= value && value <= *spec.max); }
  bool operator()(const std::string& value) const { return among(spec, value); }
  bool operator()(const Strings& value) const {
    return std::ranges::all_of(value, [&](const auto& item) { return among(spec, item); });
  }
};

}  // namespace

ParameterSpec autostart_spec() {
  return {kAutostart, true,  "Configure and activate at start; false leaves both to a lifecycle manager.",
          {},         {},    {},
          {},         false, true};
}

ParameterSpec tunnel_spec() {
  return {kTunnel,
          std::string(kInside),
          "Where the engine runs: inside this node, in the pqcmav-tunneld that was started with it (daemon), or in one "
          "that runs already (attach).",
          {},
          {},
          {kInside, kDaemon, "attach"},
          {},
          false,
          true};
}

std::vector<ParameterSpec> specs(pqcmav::Role role, const Strings& names) {
  const bool drone = role == pqcmav::Role::drone;
  std::vector<ParameterSpec> out;
  for (const auto& key : pqcmav::config_schema()) {
    if (!(drone ? key.drone : key.gcs)) continue;
    out.push_back(spec_of(key));
    if (key.key == "role") out.back().default_value = std::string(to_string(role));
  }
  std::set<std::string> seen;
  const std::string prefix = drone ? "path." : "drone.";
  for (const auto& name : names)
    if (seen.insert(name).second)
      for (const auto& key : drone ? pqcmav::path_entry_schema() : pqcmav::drone_entry_schema())
        out.push_back(spec_of(key, prefix + name + "."));
  return out;
}

ConfigValue config_value(const std::string& name, const rclcpp::ParameterValue& value) {
  switch (value.get_type()) {
    case ParameterType::PARAMETER_BOOL: return value.get<bool>();
    case ParameterType::PARAMETER_INTEGER: return value.get<std::int64_t>();
    case ParameterType::PARAMETER_DOUBLE: return value.get<double>();
    case ParameterType::PARAMETER_STRING: return value.get<std::string>();
    case ParameterType::PARAMETER_STRING_ARRAY: return value.get<Strings>();
    default: throw pqcmav::TunnelError(pqcmav::Errc::config_invalid, "'" + name + "' must be a list of strings.");
  }
}

nlohmann::ordered_json json_of(const ConfigValue& value) {
  return std::visit([](const auto& each) { return nlohmann::ordered_json(each); }, value);
}

Given plain_values(const Given& overrides) {
  Given out;
  for (const auto& [name, value] : overrides) {
    if (is_ros_own(name)) continue;
    if (is_empty(value)) {
      out.emplace(name, Strings{});
    } else if (value.get_type() == ParameterType::PARAMETER_STRING_ARRAY) {
      auto items = value.get<Strings>();
      std::erase(items, "");
      out.emplace(name, std::move(items));
    } else {
      out.emplace(name, value);
    }
  }
  return out;
}

Asked engine_config(const Given& given) {
  Asked out;
  for (const auto& [name, value] : given) {
    if (name == kAutostart || name == kTunnel) continue;
    try {
      out.config[name] = config_value(name, value);
    } catch (const pqcmav::TunnelError& error) {
      out.config.erase(name);
      if (!out.unfit) out.unfit = error;
    }
  }
  pqcmav::expand_paths(out.config);
  return out;
}

rclcpp::ParameterValue shown(const ParameterSpec& spec, const pqcmav::FlatConfig& config) {
  const auto found = config.find(spec.name);
  auto value = found == config.end() ? spec.default_value : found->second;
  // Several ground stations: the engine takes a list, too.
  if (const auto* list = std::get_if<std::vector<std::string>>(&value); list && spec.name == "peer")
    value = join(*list, ", ");
  if (std::holds_alternative<double>(spec.default_value))
    if (const auto* whole = std::get_if<std::int64_t>(&value)) value = static_cast<double>(*whole);
  const bool fits = value.index() == spec.default_value.index() && std::visit(Fits{spec}, value);
  return parameter_value(fits ? value : spec.default_value);
}

rcl_interfaces::msg::ParameterDescriptor descriptor(const ParameterSpec& spec) {
  rcl_interfaces::msg::ParameterDescriptor out;
  out.name = spec.name;
  out.description = spec.description + (spec.unit.empty() ? "" : " [" + spec.unit + "]");
  out.read_only = spec.fixed;
  if (!spec.choices.empty()) out.additional_constraints = "one of: " + join(spec.choices, ", ");
  if (!spec.min || !spec.max) return out;
  // A step of 0 means that there is none.
  if (std::holds_alternative<double>(spec.default_value)) {
    auto& range = out.floating_point_range.emplace_back();
    range.from_value = *spec.min;
    range.to_value = *spec.max;
  } else {
    auto& range = out.integer_range.emplace_back();
    range.from_value = static_cast<std::int64_t>(*spec.min);
    range.to_value = static_cast<std::int64_t>(*spec.max);
  }
  return out;
}

std::string refusal(const ParameterSpec& spec, const rclcpp::ParameterValue& value, const std::string& node) {
  const bool list = value.get_type() == ParameterType::PARAMETER_STRING_ARRAY;
  if (!list && value.get_type() != ParameterType::PARAMETER_STRING) return {};
  const auto items = list ? value.get<Strings>() : Strings{value.get<std::string>()};
  for (const auto& item : items)
    if (!among(spec, item))
      return "Parameter '" + spec.name + "' of " + node + (list ? " holds '" : " is '") + item +
             "'; it must be one of: " + join(spec.choices, ", ") + ".";
  return {};
}

bool autostart_of(const Given& given, const std::string& node) {
  const auto found = given.find(kAutostart);
  if (found == given.end()) return true;
  if (found->second.get_type() == ParameterType::PARAMETER_BOOL) return found->second.get<bool>();
  throw Failure("Parameter 'autostart' of " + node + " is " + as_python(found->second) + "; it must be true or false.");
}

std::string tunnel_of(const Given& given, const std::string& node) {
  const auto found = given.find(kTunnel);
  if (found == given.end()) return kInside;
  if (found->second.get_type() != ParameterType::PARAMETER_STRING)
    throw Failure("Parameter 'tunnel' of " + node + " is " + as_python(found->second) + "; it must be a string.");
  if (const auto said = refusal(tunnel_spec(), found->second, node); !said.empty()) throw Failure(said);
  return found->second.get<std::string>();
}

}  // namespace pqc_mav_proxy_cpp
