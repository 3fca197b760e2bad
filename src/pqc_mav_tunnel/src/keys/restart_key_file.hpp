// SPDX-License-Identifier: Apache-2.0
// The restart key of a ground station on disk (docs/protocol.md section 9).
#pragma once

#include <filesystem>

#include "constants.hpp"
#include "crypto/secret.hpp"

namespace pqcmav {

inline constexpr const char* kRestartKeyFile = "restart.key";

/// `<folder>/restart.key`; made, with mode 0600, where there is none. Throws TunnelError: key_permissions where others
/// could read or replace it, key_format, io where it cannot be made.
Secret<kRestartKeySize> load_or_make_restart_key(const std::filesystem::path& gcs_keys_folder);

}  // namespace pqcmav
