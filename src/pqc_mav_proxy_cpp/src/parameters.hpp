// SPDX-License-Identifier: Apache-2.0
// ROS parameters from the engine's configuration schema. The engine alone judges values: what the user gave goes to it
// unchanged, and its sentence is the one the user reads. The parameters declared here show the result; what is set
// later counts from the next configure on, shape_kbit and station at once.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <rcl_interfaces/msg/parameter_descriptor.hpp>
#include <rclcpp/parameter_value.hpp>
#include <string>
#include <variant>
#include <vector>

#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqc_mav_proxy_cpp {

using Given = std::map<std::string, rclcpp::ParameterValue>;

/// One parameter: name, default, bounds and meaning.
struct ParameterSpec {
  std::string name;
  pqcmav::ConfigValue default_value;
  std::string description;
  std::optional<double> min = {}, max = {};  // inclusive
  std::vector<std::string> choices = {};     // valid values, of a list the valid items
  std::string unit = {};
  bool live = false;   // counts at once in an engine that runs
  bool fixed = false;  // cannot be set later
};

/// The node's own: the engine does not know them.
inline constexpr const char *kAutostart = "autostart", *kTunnel = "tunnel", *kInside = "inside", *kDaemon = "daemon";
ParameterSpec autostart_spec();
ParameterSpec tunnel_spec();

/// All of a role; a gcs has some for every drone it serves, a drone named twice only once.
std::vector<ParameterSpec> specs(pqcmav::Role role, const std::vector<std::string>& names);

/// What the user gave, without ROS' own parameters, and empty lists as empty lists of strings: YAML does not tell of
/// what an empty list is, and an empty string in a list is how others write one.
Given plain_values(const Given& overrides);

/// A parameter's value as a configuration has it. Throws TunnelError for a type that no key has.
pqcmav::ConfigValue config_value(const std::string& name, const rclcpp::ParameterValue& value);

nlohmann::ordered_json json_of(const pqcmav::ConfigValue& value);

/// What the user gave as the engine takes it.
struct Asked {
  pqcmav::FlatConfig config;
  std::optional<pqcmav::TunnelError> unfit;  // a value of a type that no key has
};
/// Unchanged, except that `~` in paths becomes the home folder.
Asked engine_config(const Given& given);

/// What a key was given; something else if it was given nothing or a value of another type.
template <typename Value>
Value value_or(const pqcmav::FlatConfig& config, const std::string& key, Value otherwise) {
  const auto found = config.find(key);
  const auto* value = found == config.end() ? nullptr : std::get_if<Value>(&found->second);
  return value ? *value : otherwise;
}

/// The value to declare. One that does not fit is declared as the default; the engine then refuses it.
rclcpp::ParameterValue shown(const ParameterSpec& spec, const pqcmav::FlatConfig& config);
rcl_interfaces::msg::ParameterDescriptor descriptor(const ParameterSpec& spec);

/// Why a value cannot be set, which ROS itself does not see: it knows types and bounds, not choices. Empty: it can be.
std::string refusal(const ParameterSpec& spec, const rclcpp::ParameterValue& value, const std::string& node);

/// Throws Failure for a value that is no switch.
bool autostart_of(const Given& given, const std::string& node);

/// Where the engine is: "inside" this node, or in another process. Throws Failure for anything else.
std::string tunnel_of(const Given& given, const std::string& node);

}  // namespace pqc_mav_proxy_cpp
