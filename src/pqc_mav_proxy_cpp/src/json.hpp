// SPDX-License-Identifier: Apache-2.0
// A configuration as one JSON object, for ~/get_info, and its values.
#pragma once

#include <string>

#include "pqc_mav_tunnel/config.hpp"

namespace pqc_mav_proxy_cpp {

// Only ASCII comes out.
std::string to_json(const pqcmav::ConfigValue& value);
/// Keys in order.
std::string to_json(const pqcmav::FlatConfig& config);

}  // namespace pqc_mav_proxy_cpp
