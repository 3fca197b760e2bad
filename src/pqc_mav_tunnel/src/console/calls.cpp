// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/calls.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>

#include "console/host_info.hpp"
#include "console/views.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/host_config.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "pqc_mav_tunnel/version.hpp"

namespace pqcmav {
namespace {

using Texts = std::vector<std::string>;

std::string text(const Json& given, const char* name) { return given.at(name).get<std::string>(); }

Json suites(const Json& given) {
  static constexpr std::array<std::string_view, 5> views{"core", "extended", "2025", "standard", "all"};
  const auto view = std::ranges::find(views, text(given, "view"));
  if (view == views.end())
    throw TunnelError(Errc::config_invalid,
                      "The view is '" + text(given, "view") + "'; it must be core, extended, 2025, standard or all.");
  const bool only_available = given.at("only_available").get<bool>();
  auto out = Json::array();
  for (const auto* suite : suites_in(static_cast<SuiteView>(view - views.begin()), only_available))
    out.push_back(picture_of(*suite));
  return out;
}

Json algorithms(const Json&) {
  auto out = Json::array();
  for (const auto& check : preflight())
    out.push_back({{"kind", check.kind},
                   {"token", check.token},
                   {"display", check.display},
                   {"name", check.name},
                   {"by", check.by},
                   {"standard", check.standard},
                   {"edition", to_string(check.edition)},
                   {"available", check.available},
                   {"reason", check.reason}});
  return out;
}

Json described(const ConfigKey& key) {
  static constexpr const char* types[] = {"bool", "int", "float", "string", "string_list"};
  const auto limit = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  return {{"key", key.key},
          {"type", types[key.default_value.index()]},
          {"default", std::visit([](const auto& value) { return Json(value); }, key.default_value)},
          {"min", limit(key.min)},
          {"max", limit(key.max)},
          {"unit", key.unit},
          {"description", key.description},
          {"choices", key.choices},
          {"required", key.required},
          {"read_only", !key.live},
          {"fixed", is_fixed(key.key)}};
}

Json schema(const Json& given) {
  const auto role = text(given, "role");
  if (role != "drone" && role != "gcs")
    throw TunnelError(Errc::config_invalid, "The role is '" + role + "'; it must be drone or gcs.");
  auto out = Json::array();
  for (const auto& key : config_schema())
    if (role == "drone" ? key.drone : key.gcs) out.push_back(described(key));
  return out;
}

Json nested_schema(std::span<const ConfigKey> keys) {
  auto out = Json::array();
  for (const auto& key : keys) out.push_back(described(key));
  return out;
}

Json make_keys(const Json& given) {
  init_keys(text(given, "root"), given.at("drone_ids").get<Texts>(), given.at("sig_tokens").get<Texts>(),
            given.at("drone_signatures").get<bool>(), text(given, "gcs_id"), given.at("stations").get<Texts>());
  return {};
}

Json hand_out(const Json& given) {
  export_drone(text(given, "root"), text(given, "drone_id"), text(given, "target"));
  return {};
}

Json keys_of(const Json& given) {
  auto out = Json::array();
  for (const auto& key : list_keys(text(given, "folder")))
    out.push_back({{"kind", key.kind},
                   {"algorithm", key.algorithm},
                   {"owner", key.owner},
                   {"fingerprint", key.fingerprint},
                   {"path", key.path},
                   {"problem", key.problem}});
  return out;
}

struct Call {
  std::string_view name;
  Json (*function)(const Json& given);
};

constexpr Call kCalls[] = {
    {"suites", suites},
    {"find_suite", [](const Json& given) { return picture_of(require_suite(text(given, "name"))); }},
    {"closest_suites",
     [](const Json& given) { return Json(closest_suites(text(given, "text"), given.at("count").get<std::size_t>())); }},
    {"preflight", algorithms},
    {"engine_version", [](const Json&) { return Json(engine_version()); }},
    {"providers", [](const Json&) { return Json(providers_text()); }},
    {"liboqs_version", [](const Json&) { return Json(liboqs_version()); }},
    {"openssl_version", [](const Json&) { return Json(OpenSSL_version(OPENSSL_VERSION_STRING)); }},
    {"host_info", [](const Json&) { return host_info(); }},
    {"config_schema", schema},
    {"per_drone_schema", [](const Json&) { return nested_schema(drone_entry_schema()); }},
    {"per_path_schema", [](const Json&) { return nested_schema(path_entry_schema()); }},
    {"picture_schema", [](const Json&) { return picture_schema(); }},
    {"init_keys", make_keys},
    {"export_drone", hand_out},
    {"list_keys", keys_of},
};

}  // namespace

std::string call(std::string_view name, std::string_view arguments) {
  const auto* const found = std::ranges::find(kCalls, name, &Call::name);
  if (found == std::end(kCalls))
    throw TunnelError(Errc::config_invalid, "There is no call '" + std::string(name) + "'.");
  try {
    return line_of(found->function(Json::parse(arguments)));
  } catch (const Json::exception&) {
    throw TunnelError(Errc::config_invalid, "The arguments of the call '" + std::string(name) +
                                                "' are not those it takes, or are not valid text.");
  }
}

}  // namespace pqcmav
