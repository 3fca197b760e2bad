// SPDX-License-Identifier: Apache-2.0
// The long-term keys of one end, read from its folder (layout: pqc_mav_tunnel/keystore.hpp).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.hpp"
#include "constants.hpp"
#include "crypto/secret.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

/// Reads, with all checks; throws TunnelError (key_missing, key_permissions, key_format) naming file and remedy.
Psk load_psk(const std::filesystem::path& file);
SecretBytes load_sig_secret(const std::filesystem::path& file, const SigInfo& sig);
Bytes load_sig_public(const std::filesystem::path& file, const SigInfo& sig);

/// First 16 bytes of SHA-256 over lp(kind) || lp(algorithm) || lp(public key), as hex in groups of 4 with blanks
/// between. For a PSK or a restart key the last field is HKDF-Expand(key, "PQMAV fingerprint", 32).
std::string fingerprint_public(const SigInfo& sig, ByteView public_key);
std::string fingerprint_psk(const Psk& psk);
std::string fingerprint_restart(const Secret<kRestartKeySize>& key);

/// The keys of a drone, from its folder. Public keys of the gcs are read when first asked for, and kept (copies share
/// them; any thread may ask). With a `drone_id`, files made for another drone are refused.
class DroneKeys {
 public:
  explicit DroneKeys(std::filesystem::path folder, std::string drone_id = {});
  [[nodiscard]] Psk psk() const;
  /// Of the ground station with this id, from `gcs/<gcs_id>/`, or where there is no such folder from `gcs/`.
  [[nodiscard]] Bytes gcs_public(const SigInfo& sig, std::string_view gcs_id = kDefaultGcsId) const;
  /// Has that station a folder of its own?
  [[nodiscard]] bool has_own_folder(std::string_view gcs_id) const;
  [[nodiscard]] std::optional<SecretBytes> own_secret(const SigInfo& sig) const;  // nullopt: no such file

 private:
  struct Cache;
  std::filesystem::path folder_;
  std::string drone_id_;
  std::shared_ptr<Cache> cache_;
};

/// The keys of a gcs. Reading happens on call; callers keep what they need.
class GcsKeys {
 public:
  explicit GcsKeys(std::filesystem::path folder);
  [[nodiscard]] Psk psk(std::string_view drone_id) const;
  [[nodiscard]] std::vector<std::string> drone_ids() const;  // those with a PSK, sorted
  [[nodiscard]] SecretBytes sig_secret(const SigInfo& sig) const;
  /// Is there such a file, good or not? Throws TunnelError(key_missing) where that cannot be examined.
  [[nodiscard]] bool has_sig_secret(const SigInfo& sig) const;
  [[nodiscard]] std::optional<Bytes> drone_public(std::string_view drone_id,
                                                  const SigInfo& sig) const;  // nullopt: no such file

 private:
  std::filesystem::path folder_;
};

}  // namespace pqcmav
