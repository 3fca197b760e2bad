// SPDX-License-Identifier: Apache-2.0
#include "keys/restart_key_file.hpp"

#include "crypto/kdf.hpp"
#include "keys/key_file.hpp"

namespace pqcmav {

namespace fs = std::filesystem;

namespace {

Secret<kRestartKeySize> load(const fs::path& file) {
  const auto content = read_key_file(file, {KeyKind::restart, kRestartAlgorithm, kRestartKeySize, kGcsOwner});
  return Secret<kRestartKeySize>(content.key.view().first<kRestartKeySize>());
}

}  // namespace

Secret<kRestartKeySize> load_or_make_restart_key(const fs::path& gcs_keys_folder) {
  const auto file = gcs_keys_folder / kRestartKeyFile;
  if (key_file_exists(file)) return load(file);
  KeyFile fresh{KeyKind::restart, std::string(kRestartAlgorithm), std::string(kGcsOwner), SecretBytes(kRestartKeySize)};
  random_bytes(fresh.key.mut());
  try {
    write_key_file(file, fresh);
  } catch (const TunnelError&) {
    if (!key_file_exists(file)) throw;  // otherwise another process was first: its key is the one
  }
  return load(file);
}

}  // namespace pqcmav
