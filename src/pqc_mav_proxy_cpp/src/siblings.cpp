// SPDX-License-Identifier: Apache-2.0
#include "siblings.hpp"

#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include "socket_table.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

constexpr std::string_view kMavros = "mavros_node";

/// Whether the process was started with this entry in its environment; not where it may not be looked at.
bool has_variable(const std::string& process, const std::string& entry) {
  try {
    std::istringstream all(file_text(process + "/environ"));
    for (std::string each; std::getline(all, each, '\0');)
      if (each == entry) return true;
    return false;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace

std::vector<Sibling> siblings(const std::string& mark) {
  std::vector<Sibling> out;
  const auto wanted = std::string(kMark) + "=" + mark;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto number = entry.path().filename().string();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stol(number));
    std::string name;
    try {
      name = one_line(file_text(entry.path() / "comm"));
    } catch (const std::system_error&) {
      continue;  // ended meanwhile
    }
    const bool ours = pid == ::getpid() || (!mark.empty() && has_variable(entry.path(), wanted));
    if (ours || name == kMavros) out.push_back({pid, name, ours});
  }
  return out;
}

}  // namespace pqc_mav_proxy_cpp
