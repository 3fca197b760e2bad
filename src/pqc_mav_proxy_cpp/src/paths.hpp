// SPDX-License-Identifier: Apache-2.0
// Paths as a user writes them.
#pragma once

#include <string>

namespace pqc_mav_proxy_cpp {

/// With `~` and `~user` at the beginning replaced by that user's home folder, and without double and closing slashes.
/// A user who does not exist leaves it as it is.
std::string expand_user(const std::string& path);

}  // namespace pqc_mav_proxy_cpp
