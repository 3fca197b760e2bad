// SPDX-License-Identifier: Apache-2.0
#include "added_drone.hpp"

#include <algorithm>
#include <vector>

#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {
namespace {

constexpr const char* kSuites = "allowed_suites";
constexpr const char* kSignature = "require_signature";

[[noreturn]] void refuse(const std::string& id, const std::string& what) {
  throw TunnelError(Errc::config_invalid,
                    "Drone '" + id + "': " + what +
                        ". What is added while the gcs runs is never laxer than its configuration file: change that, "
                        "and reload, or remove the drone if it is there.");
}

std::vector<std::string> texts_in(const FlatConfig& values, const std::string& key) {
  const auto it = values.find(key);
  const auto* list = it == values.end() ? nullptr : std::get_if<std::vector<std::string>>(&it->second);
  return list == nullptr ? std::vector<std::string>{} : *list;
}

void check_suites(const FlatConfig& file, const std::string& id, const std::vector<std::string>& asked) {
  auto allowed = texts_in(file, "drone." + id + "." + kSuites);
  if (allowed.empty()) allowed = texts_in(file, kSuites);
  if (allowed.empty()) return;  // the gcs takes all
  for (const auto& name : asked) {
    const auto* suite = &require_suite(name);
    if (std::ranges::none_of(allowed, [&](const auto& each) { return find_suite(each) == suite; }))
      refuse(id, "the suite " + suite->id + " is not among those that the configuration allows it");
  }
}

}  // namespace

FlatConfig added_settings(const FlatConfig& file, const std::string& id, FlatConfig asked) {
  for (const auto* key : {kSuites, kSignature}) {
    const auto own = file.find("drone." + id + "." + key);
    if (own != file.end() && (!asked.contains(key) || (key == kSuites && texts_in(asked, key).empty())))
      asked[key] = own->second;
  }
  check_suites(file, id, texts_in(asked, kSuites));
  if (const auto it = asked.find(kSignature); it != asked.end() && it->second == ConfigValue(false)) {
    const auto own = file.find("drone." + id + "." + kSignature);
    if (own == file.end() || own->second != ConfigValue(false))
      refuse(id, "'require_signature: false' would let it in unsigned");
  }
  return asked;
}

}  // namespace pqcmav
