// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <rcl/arguments.h>
#include <rcl/error_handling.h>
#include <rcl/remap.h>
#include <rcl_yaml_param_parser/parser.h>
#include <rcutils/types/string_array.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <rclcpp/contexts/default_context.hpp>
#include <rclcpp/parameter_map.hpp>

#include "failure.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

constexpr std::uintmax_t kMaxBytes = 1 << 20;
constexpr const char* kBlock = "ros__parameters";

bool has_block(const YAML::Node& node) {
  if (!node.IsMap()) return false;
  for (const auto& item : node)
    if (item.first.Scalar() == kBlock ? item.second.IsMap() : has_block(item.second)) return true;
  return false;
}

void check_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Failure("Cannot read the configuration file " + path + ": " + std::strerror(errno) + ".");
  std::error_code ignored;
  if (const auto size = std::filesystem::file_size(path, ignored); !ignored && size > kMaxBytes)
    throw Failure(path + " is larger than " + std::to_string(kMaxBytes) + " bytes; no configuration file is.");
  YAML::Node content;
  try {
    content = YAML::Load(file);
  } catch (const YAML::Exception& error) {
    const auto line = error.mark.is_null() ? "" : ", line " + std::to_string(error.mark.line + 1);
    throw Failure(path + line + ": not valid YAML: " + error.msg + ".");
  }
  if (!content.IsMap())
    throw Failure(path + ": expected '/**: NODE: " + kBlock + ": ...'; the files in config/ show it.");
  if (!has_block(content))
    throw Failure(path + ": has no '" + kBlock + ":' block for a node; the files in config/ show it.");
}

/// The text that an rcl function gave out, which is freed; "" for none.
std::string taken(char* text, const rcl_allocator_t& allocator) {
  const std::string out = text ? text : "";
  allocator.deallocate(text, allocator.state);
  return out;
}

/// The parser leaves an empty list without a type, which rclcpp refuses.
void type_empty_lists(rcl_params_t& params, rcl_allocator_t& allocator) {
  for (std::size_t node = 0; node < params.num_nodes; ++node) {
    const auto& block = params.params[node];
    for (std::size_t i = 0; i < block.num_params; ++i) {
      auto& value = block.parameter_values[i];
      if (value.bool_value || value.integer_value || value.double_value || value.string_value ||
          value.byte_array_value || value.bool_array_value || value.integer_array_value || value.double_array_value ||
          value.string_array_value)
        continue;
      value.string_array_value =
          static_cast<rcutils_string_array_t*>(allocator.allocate(sizeof(rcutils_string_array_t), allocator.state));
      *value.string_array_value = rcutils_get_zero_initialized_string_array();
      if (rcutils_string_array_init(value.string_array_value, 0, &allocator) != RCUTILS_RET_OK)
        throw Failure("No memory for a parameter.", ExitCode::failed);
    }
  }
}

std::vector<rclcpp::Parameter> all_of(const rcl_arguments_t& arguments, const std::string& full_name,
                                      rcl_allocator_t& allocator) {
  rcl_params_t* raw = nullptr;
  if (rcl_arguments_get_param_overrides(&arguments, &raw) != RCL_RET_OK)
    throw Failure("The parameters of the command line could not be read.", ExitCode::failed);
  if (!raw) return {};
  const std::unique_ptr<rcl_params_t, decltype(&rcl_yaml_node_struct_fini)> params(raw, &rcl_yaml_node_struct_fini);
  type_empty_lists(*params, allocator);
  std::vector<rclcpp::Parameter> out;
  for (const auto& [of, values] : rclcpp::parameter_map_from(params.get(), full_name.c_str()))
    out.insert(out.end(), values.begin(), values.end());
  return out;
}

}  // namespace

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> out;
  for (std::string each; std::getline(file, each, '\0');) out.push_back(each);
  return out;
}

std::vector<std::string> named_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i)
    if (arguments[i] == "--params-file") out.push_back(std::filesystem::absolute(arguments[i + 1]).string());
  return out;
}

std::vector<rclcpp::Parameter> given_by(const std::vector<std::string>& arguments, const std::string& full_name) {
  check_parameter_files(arguments);
  std::vector<const char*> texts;
  for (const auto& each : arguments) texts.push_back(each.c_str());
  auto allocator = rcl_get_default_allocator();
  auto parsed = rcl_get_zero_initialized_arguments();
  if (rcl_parse_arguments(static_cast<int>(texts.size()), texts.data(), allocator, &parsed) != RCL_RET_OK) {
    const std::string why = rcl_get_error_string().str;
    rcl_reset_error();
    throw Failure("The configuration could not be read again: " + one_line(why));
  }
  const std::unique_ptr<rcl_arguments_t, rcl_ret_t (*)(rcl_arguments_t*)> freed(&parsed, &rcl_arguments_fini);
  return all_of(parsed, full_name, allocator);
}

void check_parameter_files(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i)
    if (arguments[i] == "--params-file") check_file(arguments[i + 1]);
}

rclcpp::NodeOptions options_of(const std::vector<std::string>& arguments, const std::string& node) {
  auto allocator = rcl_get_default_allocator();
  const auto& global = rclcpp::contexts::get_global_default_context()->get_rcl_context()->global_arguments;
  char *name = nullptr, *space = nullptr;
  if (rcl_remap_node_name(nullptr, &global, node.c_str(), allocator, &name) != RCL_RET_OK ||
      rcl_remap_node_namespace(nullptr, &global, node.c_str(), allocator, &space) != RCL_RET_OK)
    throw Failure("The name of the node could not be made out.", ExitCode::failed);
  const auto renamed = taken(name, allocator);
  const auto within = taken(space, allocator);
  const auto full_name = (within == "/" ? "" : within) + "/" + (renamed.empty() ? node : renamed);

  const auto overrides = all_of(global, full_name, allocator);
  std::vector<std::string> others;  // all but the parameters, which rclcpp would read again
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i] == "--params-file" || arguments[i] == "-p" || arguments[i] == "--param")
      ++i;
    else
      others.push_back(arguments[i]);
  return rclcpp::NodeOptions().use_global_arguments(false).arguments(others).parameter_overrides(overrides);
}

}  // namespace pqc_mav_proxy_cpp
