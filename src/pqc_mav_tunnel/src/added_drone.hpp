// SPDX-License-Identifier: Apache-2.0
// What may be asked for a drone that is added while a gcs runs: at most what the configuration gives it.
#pragma once

#include <string>

#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav {

/// The keys below drone.<id>. of a drone that is added, without that prefix: as `asked`, and as `file` has them for this
/// drone where nothing else is asked of the security. Who may use the control socket may shut a drone out, but not let one
/// in under weaker rules than the configuration's. Throws TunnelError for what is laxer.
FlatConfig added_settings(const FlatConfig& file, const std::string& id, FlatConfig asked);

}  // namespace pqcmav
