// SPDX-License-Identifier: Apache-2.0
// Facts about this machine for `~/get_info`, read from the kernel's files. Nothing secret is among them.
#pragma once

#include <pqc_mav_interfaces/srv/get_info.hpp>
#include <string>

namespace pqc_mav_proxy_cpp {

std::string host_name();
/// Fills the fields that describe the machine; no Python runs here, so its version stays empty.
void describe_host(pqc_mav_interfaces::srv::GetInfo::Response& into);

}  // namespace pqc_mav_proxy_cpp
