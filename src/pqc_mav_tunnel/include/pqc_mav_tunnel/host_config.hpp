// SPDX-License-Identifier: Apache-2.0
// What each host of an engine does with a configuration that a user wrote.
#pragma once

#include <string>
#include <string_view>

#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav {

/// Whether a key, of a drone or not, is for the start alone: what names the ends and protects the link, and where
/// plaintext may go. Whoever reaches the ROS graph can end the tunnel, but must not be able to open it.
bool is_fixed(std::string_view key) noexcept;

/// In the keys that are paths, `~` and `~user` at the beginning become that user's home folder, and double and closing
/// slashes go. A user who does not exist leaves it as it is.
void expand_paths(FlatConfig& config);

}  // namespace pqcmav
