// SPDX-License-Identifier: Apache-2.0
// Long-term keys on disk: making, exporting and listing them.
//
//   <gcs folder>/psk/<drone_id>.key  <gcs folder>/sig/<sig token>.key, .pub  <gcs folder>/drones/<drone_id>/<token>.pub
//   <gcs folder>/restart.key: made by the gcs itself; one per running instance, never to be copied to another one
//   <drone folder>/psk.key           <drone folder>/gcs/<sig token>.pub      <drone folder>/sig/<sig token>.key, .pub
//
// With several ground stations each has a folder of its own, and no key is in two of them:
//   <root>/stations/<gcs_id>/: a gcs folder as above      <drone folder>/gcs/<gcs_id>/<sig token>.pub
//
// Secret keys are files of mode 0600; init_keys makes all others so too, in folders of mode 0700. Reading refuses a
// secret that group or others can read, and any key that they can write or whose folder they can write to. Links are
// followed, and their target is checked.
//
// Every file is text: a line "pqcmav-key 1", lines "kind: psk|sig-secret|sig-public|restart|return", "algorithm: <token,
// psk, restart or return>" and "owner: <gcs or drone id>", then base64.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pqcmav {

bool valid_drone_id(std::string_view id) noexcept;

struct KeyEntry {
  std::string kind, algorithm, owner, fingerprint, path;  // never the key itself
  std::string problem;                                    // "" or a sentence
};

/// Makes gcs signing keys for every available algorithm (or `sig_tokens`) and a PSK per drone under `<root>/gcs` (derived
/// from the drone's own one for the ground station of this id), and the drones' folders `<root>/drones/<id>`; with
/// `drone_signatures` also a key pair per drone. Existing files are kept (never overwritten): what one side has and the
/// other lacks is copied, halves that contradict each other are an error. All files are written to temporary names,
/// synced together and renamed: each is whole or absent whatever happens. With `stations`, the same for each of these
/// ground stations in `<root>/stations/<gcs_id>` in place of `<root>/gcs`. Throws TunnelError (config_invalid for an id
/// or token, suite_unavailable, io, and all of the loaders), and then no key was made.
void init_keys(const std::filesystem::path& root, const std::vector<std::string>& drone_ids,
               const std::vector<std::string>& sig_tokens = {}, bool drone_signatures = false,
               const std::string& gcs_id = "gcs", const std::vector<std::string>& stations = {});
/// Copies one drone's folder (PSK, gcs public keys, its own key pairs) to `target`, which must not exist; all of it or
/// nothing.
void export_drone(const std::filesystem::path& root, std::string_view drone_id, const std::filesystem::path& target);
/// The key files below a folder, at any depth but not in its `fleet`, with fingerprints and problems, sorted by path. If
/// there are more than `most`, a last entry says so. Throws TunnelError(key_missing) when there is no such folder.
std::vector<KeyEntry> list_keys(const std::filesystem::path& folder, std::size_t most = 10'000);

}  // namespace pqcmav
