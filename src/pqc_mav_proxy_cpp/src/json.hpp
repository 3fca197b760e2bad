// SPDX-License-Identifier: Apache-2.0
// A configuration as one JSON object, for ~/get_info.
#pragma once

#include <string>

#include "pqc_mav_tunnel/config.hpp"

namespace pqc_mav_proxy_cpp {

/// Keys in order; only ASCII comes out.
std::string to_json(const pqcmav::FlatConfig& config);

}  // namespace pqc_mav_proxy_cpp
