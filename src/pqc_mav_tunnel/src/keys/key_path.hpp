// SPDX-License-Identifier: Apache-2.0
// Who could put another file in the place of a key: the owners and modes of everything on the way to it, as OpenSSH's
// StrictModes checks them.
#pragma once

#include <filesystem>

namespace pqcmav {

/// Follows `path` from the root as the kernel does, links included. Everything on the way must belong to root or to
/// the user this process runs as, and no folder may be writable by others, unless it is sticky (as /tmp), where only
/// the owner of an entry can replace it. Stops without complaint at what does not exist. Throws
/// TunnelError(key_permissions).
void check_key_path(const std::filesystem::path& path);

}  // namespace pqcmav
