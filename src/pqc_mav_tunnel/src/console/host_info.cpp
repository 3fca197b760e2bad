// SPDX-License-Identifier: Apache-2.0
#include "console/host_info.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace pqcmav {
namespace {

std::string stripped(std::string_view text, std::string_view of) {
  const auto first = text.find_first_not_of(of);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(of) - first + 1));
}

/// "" where it cannot be read.
std::string text_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string host_name() {
  std::array<char, 256> buffer{};
  return ::gethostname(buffer.data(), buffer.size() - 1) == 0 ? buffer.data() : "";
}

}  // namespace

std::string value_in(std::string_view text, std::string_view key, char separator) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto at = line.find(separator);
    if (at == std::string_view::npos || stripped(line.substr(0, at), " \t") != key) continue;
    return stripped(stripped(line.substr(at + 1), " \t"), "\"");
  }
  return "";
}

std::string cpu_model(std::string_view cpuinfo, std::string_view device_tree_model) {
  for (const auto* key : {"model name", "Model"})
    if (auto found = value_in(cpuinfo, key, ':'); !found.empty()) return found;
  return stripped(device_tree_model, std::string_view("\0\n ", 3));
}

nlohmann::ordered_json host_info() {
  utsname kernel{};
  (void)::uname(&kernel);
  const auto memory = value_in(text_of("/proc/meminfo"), "MemTotal", ':');
  return {{"host", host_name()},
          {"os", value_in(text_of("/etc/os-release"), "PRETTY_NAME", '=')},
          {"kernel", kernel.release},
          {"machine", kernel.machine},
          {"cpu_model", cpu_model(text_of("/proc/cpuinfo"), text_of("/proc/device-tree/model"))},
          {"cpu_count", static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN))},
          {"ram_mib", static_cast<std::uint32_t>(std::strtoul(memory.c_str(), nullptr, 10) / 1024)}};
}

}  // namespace pqcmav
