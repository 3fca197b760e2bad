// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/host_config.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>

namespace pqcmav {
namespace {

/// "" when there is none.
std::string home_of(const std::string& user) {
  if (user.empty())
    if (const auto* home = std::getenv("HOME"); home && *home) return home;
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (user.empty())
    (void)getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found);
  else
    (void)getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
  return found ? found->pw_dir : "";
}

/// Without empty parts and ".".
std::string normal(const std::string& path) {
  std::string out;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto part = path.substr(at, end - at);
    if (!part.empty() && part != ".") out += (out.empty() && path.front() != '/' ? "" : "/") + part;
    at = end + 1;
  }
  return out.empty() ? (path.front() == '/' ? "/" : ".") : out;
}

std::string expanded(const std::string& path) {
  if (path.empty()) return path;
  if (path.front() != '~') return normal(path);
  const auto end = std::min(path.find('/'), path.size());
  const auto home = home_of(path.substr(1, end - 1));
  return normal(home.empty() ? path : home + path.substr(end));
}

}  // namespace

bool is_fixed(std::string_view key) noexcept {
  static constexpr std::string_view names[] = {"role",
                                               "drones",
                                               "drone_id",
                                               "gcs_id",
                                               "keys",
                                               "state_dir",
                                               "allow_pure",
                                               "hybrid",
                                               "sign",
                                               "allowed_suites",
                                               "plain",
                                               "plain_bind",
                                               "plain_peer",
                                               "plain_tap",
                                               "require_signature",
                                               "plain_endpoints",
                                               "plain_allow_remote",
                                               "plain_tap_requests",
                                               "control_socket",
                                               "control_socket_group",
                                               "control_socket_mode"};
  return std::ranges::find(names, key) != std::end(names);
}

void expand_paths(FlatConfig& config) {
  for (const char* key : {"control_socket", "keys", "state_dir"})
    if (const auto entry = config.find(key); entry != config.end())
      if (auto* path = std::get_if<std::string>(&entry->second)) *path = expanded(*path);
}

}  // namespace pqcmav
