// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include <nlohmann/json.hpp>

#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

std::string written(const nlohmann::json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string written(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const auto& text : texts) items.push_back(written(nlohmann::json(text)));
  return std::string("[") + join(items, ", ") + "]";
}

}  // namespace

std::string to_json(const pqcmav::ConfigValue& value) {
  return std::visit([](const auto& each) { return written(each); }, value);
}

std::string to_json(const pqcmav::FlatConfig& config) {
  std::vector<std::string> items;
  for (const auto& [key, value] : config) items.push_back(written(nlohmann::json(key)) + ": " + to_json(value));
  return std::string("{") + join(items, ", ") + "}";
}

}  // namespace pqc_mav_proxy_cpp
