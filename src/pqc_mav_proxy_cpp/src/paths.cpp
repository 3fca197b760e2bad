// SPDX-License-Identifier: Apache-2.0
#include "paths.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace pqc_mav_proxy_cpp {
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

}  // namespace

std::string expand_user(const std::string& path) {
  if (path.empty()) return path;
  if (path.front() != '~') return normal(path);
  const auto end = std::min(path.find('/'), path.size());
  const auto home = home_of(path.substr(1, end - 1));
  return normal(home.empty() ? path : home + path.substr(end));
}

}  // namespace pqc_mav_proxy_cpp
