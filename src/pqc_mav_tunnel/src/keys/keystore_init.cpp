// SPDX-License-Identifier: Apache-2.0
// Making keys and handing a drone its own. Layout: keystore.hpp.
#include <algorithm>

#include "constants.hpp"
#include "crypto/kdf.hpp"
#include "crypto/kem_sig.hpp"
#include "keys/gcs_psk.hpp"
#include "keys/key_file.hpp"
#include "keys/key_path.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "text.hpp"

namespace pqcmav {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void contradiction(const fs::path& first, const fs::path& second) {
  throw TunnelError(Errc::key_format,
                    "The key files " + first.string() + " and " + second.string() +
                        " should hold the same key but differ; remove the wrong one and run this again.");
}

void check_id(const std::string& id) {
  if (!valid_drone_id(id))
    throw TunnelError(Errc::config_invalid,
                      "A drone id has 1-32 characters of a-z 0-9 _ -; \"" + id.substr(0, kNameMax) + "\" does not.");
  if (id == kGcsOwner)
    throw TunnelError(Errc::config_invalid,
                      "The id \"gcs\" stands for the ground station; give the drone another one.");
}

std::vector<const SigInfo*> chosen_algorithms(const std::vector<std::string>& tokens) {
  std::vector<const SigInfo*> out;
  for (const auto& token : tokens) {
    const SigInfo* sig = find_sig(token);
    if (sig == nullptr)
      throw TunnelError(Errc::config_invalid, "There is no signature algorithm \"" + token.substr(0, kNameMax) +
                                                  "\"; there are " + listed(sigs(), &SigInfo::token) + ".");
    const Sig available(*sig);  // throws, with the reason, where no library here has it
    if (std::ranges::find(out, sig) == out.end()) out.push_back(sig);
  }
  if (!tokens.empty()) return out;
  for (const auto& sig : sigs()) {
    if (!resolve(sig).empty()) out.push_back(&sig);
  }
  return out;
}

void put(KeyBatch& batch, const fs::path& file, const KeyFile& content) {
  make_key_folder(file.parent_path());
  batch.add(file, content);
}

/// The same key in two places: what one lacks is copied from the other.
void share(KeyBatch& batch, const fs::path& first, const fs::path& second, const KeyWanted& wanted) {
  const bool in_first = batch.exists(first), in_second = batch.exists(second);
  if (!in_first && !in_second) return;
  const auto content = batch.read(in_first ? first : second, wanted);
  if (in_first && in_second && !constant_time_equal(content.key.view(), batch.read(second, wanted).key.view()))
    contradiction(first, second);
  if (!in_first) put(batch, first, content);
  if (!in_second) put(batch, second, content);
}

/// A pair `<token>.key`, `<token>.pub` in `folder`, kept when it is there.
void make_pair(KeyBatch& batch, const fs::path& folder, const SigInfo& sig, std::string_view owner) {
  const auto secret = folder / (std::string(sig.token) + ".key"), open = folder / (std::string(sig.token) + ".pub");
  const KeyWanted secret_wanted{KeyKind::sig_secret, sig.token, sig.secret_key, owner},
      open_wanted{KeyKind::sig_public, sig.token, sig.public_key, owner};
  const bool has_secret = batch.exists(secret), has_open = batch.exists(open);
  if (has_secret != has_open) {
    const auto& [there, missing] = has_secret ? std::pair(secret, open) : std::pair(open, secret);
    throw TunnelError(Errc::key_missing,
                      "The key file " + there.string() + " is there but its other half " + missing.string() +
                          " is not; restore it, or remove the first as well to have a new pair made.");
  }
  if (has_secret) {
    (void)batch.read(secret, secret_wanted);
    (void)batch.read(open, open_wanted);
    return;
  }
  auto pair = Sig(sig).keypair();
  const std::string token(sig.token), of(owner);
  put(batch, open, {KeyKind::sig_public, token, of, SecretBytes(pair.public_key)});
  put(batch, secret, {KeyKind::sig_secret, token, of, std::move(pair.secret_key)});
}

SecretBytes random_psk() {
  SecretBytes psk(kPskSize);
  random_bytes(psk.mut());
  return psk;
}

/// The drone's PSK, and what the gcs of this name holds of it. A gcs that has its own where the drone's folder is gone
/// serves a drone that lives elsewhere: nothing to do.
void share_psk(KeyBatch& batch, const fs::path& drone_file, const fs::path& gcs_file, const std::string& id,
               std::string_view gcs_id) {
  const KeyWanted wanted{KeyKind::psk, kPskAlgorithm, kPskSize, id};
  const bool at_drone = batch.exists(drone_file), at_gcs = batch.exists(gcs_file);
  if (at_gcs && !at_drone) {
    (void)batch.read(gcs_file, wanted);
    return;
  }
  auto own = at_drone ? batch.read(drone_file, wanted).key : random_psk();
  auto derived = psk_of_gcs(Psk(own.view().first<kPskSize>()), gcs_id);
  if (at_gcs && !constant_time_equal(batch.read(gcs_file, wanted).key.view(), derived.view()))
    throw TunnelError(Errc::key_format, "The PSK " + gcs_file.string() + " does not belong to " + drone_file.string() +
                                            " and the ground station '" + std::string(gcs_id) +
                                            "'; remove the wrong one and run this again.");
  const auto file_of = [&](ByteView key) {
    return KeyFile{KeyKind::psk, std::string(kPskAlgorithm), id, SecretBytes(key)};
  };
  if (!at_drone) put(batch, drone_file, file_of(own.view()));
  if (!at_gcs) put(batch, gcs_file, file_of(derived.view()));
}

/// A ground station's folder, and where below `gcs` its drones keep its public keys.
struct StationFolder {
  std::string gcs_id;
  fs::path folder, at_drone;
};

void add_drone(KeyBatch& batch, const fs::path& root, const std::string& id,
               const std::vector<const SigInfo*>& algorithms, bool with_signatures, const StationFolder& station) {
  const auto &gcs = station.folder, drone = root / "drones" / id;
  share_psk(batch, drone / "psk.key", gcs / "psk" / (id + ".key"), id, station.gcs_id);
  for (const SigInfo* sig : algorithms) {
    const auto open = std::string(sig->token) + ".pub";
    share(batch, gcs / "sig" / open, drone / "gcs" / station.at_drone / open,
          {KeyKind::sig_public, sig->token, sig->public_key, kGcsOwner});
    if (!with_signatures) continue;
    const auto known_to_gcs = gcs / "drones" / id / open;
    // A key the gcs knows and that is not in the drone's folder here lives on the drone already: a new one would lock
    // that drone out.
    if (batch.exists(known_to_gcs) && !batch.exists(drone / "sig" / open)) continue;
    make_pair(batch, drone / "sig", *sig, id);
    share(batch, drone / "sig" / open, known_to_gcs, {KeyKind::sig_public, sig->token, sig->public_key, id});
  }
}

/// Removes a half-made folder.
class FolderRemover {
 public:
  explicit FolderRemover(fs::path folder) : folder_(std::move(folder)) {}
  FolderRemover(const FolderRemover&) = delete;
  FolderRemover& operator=(const FolderRemover&) = delete;
  ~FolderRemover() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  void release() noexcept { folder_.clear(); }

 private:
  fs::path folder_;
};

/// Whose public keys a drone's folder has: "" stands for those right in it.
std::vector<fs::path> stations_in(const fs::path& folder) {
  std::vector<fs::path> out = {{}};
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->is_directory(error) && valid_drone_id(entry->path().filename().string()))
      out.push_back(entry->path().filename());
  return out;
}

/// Copies the key when it is there, with all checks of reading.
void copy_if_present(KeyBatch& batch, const fs::path& from, const fs::path& to, const KeyWanted& wanted) {
  if (key_file_exists(from)) put(batch, to, read_key_file(from, wanted));
}

}  // namespace

bool valid_drone_id(std::string_view id) noexcept {
  return !id.empty() && id.size() <= kDroneIdMax && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

void init_keys(const fs::path& root, const std::vector<std::string>& drone_ids,
               const std::vector<std::string>& sig_tokens, bool drone_signatures, const std::string& gcs_id,
               const std::vector<std::string>& stations) {
  std::vector<StationFolder> folders;
  for (const auto& station : stations) folders.push_back({station, root / "stations" / station, station});
  if (stations.empty()) folders.push_back({gcs_id, root / "gcs", {}});
  for (const auto& each : folders)
    if (!valid_drone_id(each.gcs_id))
      throw TunnelError(Errc::config_invalid, "A gcs id has 1-32 characters of a-z 0-9 _ -.");
  std::ranges::for_each(drone_ids, check_id);
  const auto algorithms = chosen_algorithms(sig_tokens);
  check_key_path(root);
  remove_left_over(root);
  KeyBatch batch;
  for (const auto& each : folders) {
    make_key_folder(each.folder / "psk");  // there even before the first drone, so that a gcs without drones starts
    for (const SigInfo* sig : algorithms) make_pair(batch, each.folder / "sig", *sig, kGcsOwner);
    for (const auto& id : drone_ids) add_drone(batch, root, id, algorithms, drone_signatures, each);
  }
  batch.commit();
}

void export_drone(const fs::path& root, std::string_view drone_id, const fs::path& target) {
  const std::string id(drone_id);
  check_id(id);
  const auto source = root / "drones" / id;
  // A trailing slash would make the last name empty.
  const auto to = fs::absolute(target / "").lexically_normal().parent_path();
  if (key_file_exists(to))
    throw TunnelError(Errc::io, to.string() + " already exists and is not replaced; give a new path.");
  check_key_path(to.parent_path());
  const auto temporary = temporary_beside(to);
  FolderRemover remover(temporary);
  KeyBatch batch;
  put(batch, temporary / "psk.key", read_key_file(source / "psk.key", {KeyKind::psk, kPskAlgorithm, kPskSize, id}));
  const auto stations = stations_in(source / "gcs");
  for (const auto& sig : sigs()) {
    const std::string token(sig.token);
    for (const auto& station : stations)
      copy_if_present(batch, source / "gcs" / station / (token + ".pub"),
                      temporary / "gcs" / station / (token + ".pub"),
                      {KeyKind::sig_public, sig.token, sig.public_key, kGcsOwner});
    copy_if_present(batch, source / "sig" / (token + ".pub"), temporary / "sig" / (token + ".pub"),
                    {KeyKind::sig_public, sig.token, sig.public_key, id});
    copy_if_present(batch, source / "sig" / (token + ".key"), temporary / "sig" / (token + ".key"),
                    {KeyKind::sig_secret, sig.token, sig.secret_key, id});
  }
  batch.commit();
  rename_new(temporary, to);
  remover.release();
}

}  // namespace pqcmav
