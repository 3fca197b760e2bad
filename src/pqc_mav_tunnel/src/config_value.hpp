// SPDX-License-Identifier: Apache-2.0
// One value of a configuration against its key in the schema.
#pragma once

#include <string>

#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav {

/// The value in the schema's type (a whole number passes for a number), in range. Throws TunnelError(config_invalid), with
/// `shown` as the key's name.
ConfigValue checked_value(const ConfigKey& key, const std::string& shown, const ConfigValue& given);

}  // namespace pqcmav
