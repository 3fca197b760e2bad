// Long-term keys on disk. Secrets are files of mode 0600; made by init_keys, so are all others, in folders of mode 0700. Refused when read: a secret that
// group or others can read, and any key that they can write or whose folder they can write to. Links are followed; what they lead to is checked.
//   <gcs folder>/psk/<drone_id>.key   <gcs folder>/sig/<sig token>.key, .pub   <gcs folder>/drones/<drone_id>/<sig token>.pub
//   <drone folder>/psk.key   <drone folder>/gcs/<sig token>.pub   <drone folder>/sig/<sig token>.key, .pub
// Every file is text: a line "pqcmav-key 1", lines "kind: psk|sig-secret|sig-public", "algorithm: <token or psk>", "owner: <gcs or drone id>", then base64.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crypto/secret.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

bool valid_drone_id(std::string_view id) noexcept;

/// Reads, with all checks; throws TunnelError (key_missing, key_permissions, key_format) naming file and remedy.
Psk load_psk(const std::filesystem::path& file);
SecretBytes load_sig_secret(const std::filesystem::path& file, const SigInfo& sig);
Bytes load_sig_public(const std::filesystem::path& file, const SigInfo& sig);

/// First 16 bytes of SHA-256 over lp(kind) || lp(algorithm) || lp(public key), as hex in groups of 4 with blanks between. For a PSK the last field
/// is HKDF-Expand(PSK, "PQMAV/2 fingerprint", 32).
std::string fingerprint_public(const SigInfo& sig, ByteView public_key);
std::string fingerprint_psk(const Psk& psk);

/// The keys of a drone, from its folder. Public keys of the gcs are read when first asked for, and kept (copies share them; any thread may ask).
/// With a `drone_id`, files made for another drone are refused.
class DroneKeys {
 public:
  explicit DroneKeys(std::filesystem::path folder, std::string drone_id = {});
  [[nodiscard]] Psk psk() const;
  [[nodiscard]] Bytes gcs_public(const SigInfo& sig) const;
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
  [[nodiscard]] std::optional<Bytes> drone_public(std::string_view drone_id, const SigInfo& sig) const;  // nullopt: no such file

 private:
  std::filesystem::path folder_;
};

struct KeyEntry {
  std::string kind, algorithm, owner, fingerprint, path;  // never the key itself
  std::string problem;                                    // "" or a sentence
};

/// Makes gcs signing keys for every available algorithm (or `sig_tokens`) and a PSK per drone under `<root>/gcs`, and the drones' folders
/// `<root>/drones/<id>`; with `drone_signatures` also a key pair per drone. Existing files are kept (never overwritten): what one side has and the other
/// lacks is copied, halves that contradict each other are an error. Each file is written to a temporary name and renamed. Throws TunnelError
/// (config_invalid for an id or token, suite_unavailable, io, and all of the loaders); what was written whole until then stays.
void init_keys(const std::filesystem::path& root, const std::vector<std::string>& drone_ids, const std::vector<std::string>& sig_tokens = {},
               bool drone_signatures = false);
/// Copies one drone's folder (PSK, gcs public keys, own key pairs) to `target`, which must not exist; all of it or nothing.
void export_drone(const std::filesystem::path& root, std::string_view drone_id, const std::filesystem::path& target);
/// What is there (at most 10,000 files, any depth), with fingerprints and problems, by path. Throws TunnelError(key_missing) when there is no such folder.
std::vector<KeyEntry> list_keys(const std::filesystem::path& folder);

}  // namespace pqcmav
