// SPDX-License-Identifier: Apache-2.0
// Facts about this machine, read from the kernel's files. Nothing secret is among them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace pqcmav {

/// As `~/get_info` calls them: host, os, kernel, machine, cpu_model, cpu_count, ram_mib.
nlohmann::ordered_json host_info();

/// What stands behind "key<separator>" in a text of lines; "" when nothing does.
std::string value_in(std::string_view text, std::string_view key, char separator);
/// Name of the processor in the text of /proc/cpuinfo; on Arm boards, which have none there, the board's model.
std::string cpu_model(std::string_view cpuinfo, std::string_view device_tree_model);

}  // namespace pqcmav
