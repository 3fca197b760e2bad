// SPDX-License-Identifier: Apache-2.0
#include "host_info.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace pqc_mav_proxy_cpp {
namespace {

std::string stripped(std::string_view text, std::string_view of) {
  const auto first = text.find_first_not_of(of);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(of) - first + 1));
}

/// What stands behind "key<separator>" in a file; "" when nothing does.
std::string value_of(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(separator);
    if (at == std::string::npos || stripped(std::string_view(line).substr(0, at), " \t") != key) continue;
    return stripped(stripped(std::string_view(line).substr(at + 1), " \t"), "\"");
  }
  return "";
}

std::string cpu_model() {
  for (const auto* key : {"model name", "Model"})
    if (const auto found = value_of("/proc/cpuinfo", key, ':'); !found.empty()) return found;
  // Arm boards name themselves here.
  std::ifstream file("/proc/device-tree/model");
  std::string model;
  std::getline(file, model, '\0');
  return stripped(model, " \n");
}

}  // namespace

std::string host_name() {
  std::array<char, 256> buffer{};
  return ::gethostname(buffer.data(), buffer.size() - 1) == 0 ? buffer.data() : "";
}

void describe_host(pqc_mav_interfaces::srv::GetInfo::Response& into) {
  utsname kernel{};
  (void)::uname(&kernel);
  into.host = host_name();
  into.os = value_of("/etc/os-release", "PRETTY_NAME", '=');
  into.kernel = kernel.release;
  into.machine = kernel.machine;
  into.cpu_model = cpu_model();
  into.cpu_count = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  into.ram_mib =
      static_cast<std::uint32_t>(std::strtoul(value_of("/proc/meminfo", "MemTotal", ':').c_str(), nullptr, 10) / 1024);
}

}  // namespace pqc_mav_proxy_cpp
