// SPDX-License-Identifier: Apache-2.0
// What a user gave the node and set since, and both read again while the engine runs.
#include <utility>

#include "command_line.hpp"
#include "proxy_node.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {

/// `names`: the drones of a gcs, the paths of a drone.
void ProxyNode::declare(const std::vector<std::string>& names) {
  const auto add = [this](const ParameterSpec& spec, const rclcpp::ParameterValue& value) {
    declare_parameter(spec.name, value, descriptor(spec), true);
    specs_.emplace(spec.name, spec);
  };
  add(autostart_spec(), rclcpp::ParameterValue(autostart_));
  if (tunnel_ != kInside) add(tunnel_spec(), rclcpp::ParameterValue(tunnel_));
  for (const auto& spec : specs(role_ == "gcs" ? pqcmav::Role::gcs : pqcmav::Role::drone, names))
    add(spec, shown(spec, asked_.config));
}

void ProxyNode::take_settings() {
  judging_ = add_on_set_parameters_callback([this](const std::vector<rclcpp::Parameter>& parameters) {
    rcl_interfaces::msg::SetParametersResult out;
    for (const auto& each : parameters)
      if (const auto spec = specs_.find(each.get_name()); spec != specs_.end() && out.reason.empty())
        out.reason = refusal(spec->second, each.get_parameter_value(), get_name());
    out.successful = out.reason.empty();
    return out;
  });
  keeping_ = add_post_set_parameters_callback([this](const std::vector<rclcpp::Parameter>& parameters) {
    for (const auto& each : parameters) {
      if (!specs_.contains(each.get_name())) continue;
      std::string shown;
      for (const auto& [name, value] : plain_values({{each.get_name(), each.get_parameter_value()}})) {
        shown = python_json(json_of(config_value(name, value)));
        const std::lock_guard lock(mutex_);
        changed_.insert_or_assign(name, value);
      }
      RCLCPP_INFO(get_logger(), "'%s' is set to %s; it counts from %s on.", each.get_name().c_str(), shown.c_str(),
                  take_live(each) ? "now" : "the next configure");
    }
  });
}

bool ProxyNode::take_live(const rclcpp::Parameter& parameter) {
  const auto host = running_host();
  if (!host || !specs_.at(parameter.get_name()).live) return false;
  const auto value = json_of(config_value(parameter.get_name(), parameter.get_parameter_value()));
  try {
    return host->ask("set", {{"key", parameter.get_name()}, {"value", value}})["now"].get<bool>();
  } catch (const Refusal& refusal) {
    RCLCPP_ERROR(get_logger(), "%s", refusal.what());
    return false;
  }
}

void ProxyNode::take_live() {
  const auto changed = [this] {
    const std::lock_guard lock(mutex_);
    return changed_;
  }();
  for (const auto& [name, value] : changed) (void)take_live(rclcpp::Parameter(name, value));
}

Given ProxyNode::wanted() const {
  auto out = given_;
  for (const auto& [name, value] : changed_) out.insert_or_assign(name, value);
  return out;
}

void ProxyNode::reload() {
  const auto host = running_host();
  if (!host) {
    RCLCPP_WARN(get_logger(), "Not reloaded: the node is not active; its next configure reads the files.");
    return;
  }
  try {
    (void)host->ask("reload");
  } catch (const Refusal& refusal) {
    RCLCPP_ERROR(get_logger(), "Not reloaded: %s", one_line(refusal.what()).c_str());
  }
}

Given ProxyNode::read_files() const {
  Given read;
  for (const auto& each : given_by(own_arguments(), get_fully_qualified_name()))
    read.insert_or_assign(each.get_name(), each.get_parameter_value());
  for (const auto& [name, value] : loaded_with_) read.insert_or_assign(name, value);
  return plain_values(read);
}

pqcmav::EngineConfig ProxyNode::read_again() {
  Given read;
  try {
    read = read_files();
  } catch (const Failure& failure) {
    throw pqcmav::TunnelError(pqcmav::Errc::config_invalid, failure.what());
  }
  auto fresh = read;
  {
    const std::lock_guard lock(mutex_);
    read_ = std::move(read);
    for (const auto& [name, value] : changed_)
      if (!specs_.at(name).live) fresh.insert_or_assign(name, value);  // the others count already
  }
  const auto asked = engine_config(fresh);
  if (asked.unfit) throw *asked.unfit;
  return pqcmav::EngineConfig::from_flat(asked.config);
}

void ProxyNode::taken() {
  const std::lock_guard lock(mutex_);
  given_ = std::move(read_);
  asked_ = engine_config(wanted());
}

}  // namespace pqc_mav_proxy_cpp
