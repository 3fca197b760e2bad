// SPDX-License-Identifier: Apache-2.0
#include "keys/key_folders.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "constants.hpp"
#include "crypto/kdf.hpp"
#include "keys/key_file.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "text.hpp"

namespace pqcmav {

namespace fs = std::filesystem;

namespace {

std::string named(const SigInfo& sig, const char* extension) { return std::string(sig.token) + extension; }

Psk read_psk(const fs::path& file, std::string_view owner) {
  const auto content = read_key_file(file, {KeyKind::psk, kPskAlgorithm, kPskSize, owner});
  return Psk(content.key.view().first<kPskSize>());
}

SecretBytes read_secret(const fs::path& file, const SigInfo& sig, std::string_view owner) {
  return read_key_file(file, {KeyKind::sig_secret, sig.token, sig.secret_key, owner}).key;
}

Bytes read_public(const fs::path& file, const SigInfo& sig, std::string_view owner) {
  const auto content = read_key_file(file, {KeyKind::sig_public, sig.token, sig.public_key, owner});
  return {content.key.view().begin(), content.key.view().end()};
}

/// An id becomes part of a path only after this.
void require_id(std::string_view id) {
  if (!valid_drone_id(id))
    throw TunnelError(
        Errc::key_missing,
        "The drone id asked for is not valid (1-32 characters of a-z 0-9 _ -), so there can be no key for it.");
}

std::string fingerprint(KeyKind kind, std::string_view algorithm, ByteView key) {
  Bytes input;
  append_lp(input, as_bytes(to_string(kind)));
  append_lp(input, as_bytes(algorithm));
  append_lp(input, key);
  const auto hash = sha256({input});
  std::string out;
  for (std::size_t i = 0; i < 16; i += 2) out.append(i > 0 ? " " : "").append(to_hex(ByteView(hash).subspan(i, 2)));
  return out;
}

/// Through a one-way step, so that a secret is no closer for its fingerprint.
std::string fingerprint_secret(KeyKind kind, std::string_view algorithm, const Secret<32>& key) {
  ByteArray<32> derived;
  hkdf_expand(key.view(), as_bytes("PQMAV fingerprint"), derived);
  return fingerprint(kind, algorithm, derived);
}

}  // namespace

Psk load_psk(const fs::path& file) { return read_psk(file, {}); }
SecretBytes load_sig_secret(const fs::path& file, const SigInfo& sig) { return read_secret(file, sig, {}); }
Bytes load_sig_public(const fs::path& file, const SigInfo& sig) { return read_public(file, sig, {}); }

std::string fingerprint_public(const SigInfo& sig, ByteView public_key) {
  return fingerprint(KeyKind::sig_public, sig.token, public_key);
}

std::string fingerprint_psk(const Psk& psk) { return fingerprint_secret(KeyKind::psk, kPskAlgorithm, psk); }

std::string fingerprint_restart(const Secret<kRestartKeySize>& key) {
  return fingerprint_secret(KeyKind::restart, kRestartAlgorithm, key);
}

struct DroneKeys::Cache {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string_view>, Bytes>
      gcs_public;  // by station, and token of the suite table, which outlives it
};

DroneKeys::DroneKeys(fs::path folder, std::string drone_id)
    : folder_(std::move(folder)), drone_id_(std::move(drone_id)), cache_(std::make_shared<Cache>()) {}

Psk DroneKeys::psk() const { return read_psk(folder_ / "psk.key", drone_id_); }

bool DroneKeys::has_own_folder(std::string_view gcs_id) const {
  std::error_code error;
  return valid_drone_id(gcs_id) && fs::is_directory(folder_ / "gcs" / std::string(gcs_id), error);
}

Bytes DroneKeys::gcs_public(const SigInfo& sig, std::string_view gcs_id) const {
  const auto folder = has_own_folder(gcs_id) ? folder_ / "gcs" / std::string(gcs_id) : folder_ / "gcs";
  const std::lock_guard lock(cache_->mutex);
  const std::pair key{std::string(gcs_id), sig.token};
  const auto known = cache_->gcs_public.find(key);
  if (known != cache_->gcs_public.end()) return known->second;
  return cache_->gcs_public.emplace(key, read_public(folder / named(sig, ".pub"), sig, kGcsOwner)).first->second;
}

std::optional<SecretBytes> DroneKeys::own_secret(const SigInfo& sig) const {
  const auto file = folder_ / "sig" / named(sig, ".key");
  if (!key_file_exists(file)) return std::nullopt;
  return read_secret(file, sig, drone_id_);
}

GcsKeys::GcsKeys(fs::path folder) : folder_(std::move(folder)) {}

Psk GcsKeys::psk(std::string_view drone_id) const {
  require_id(drone_id);
  return read_psk(folder_ / "psk" / (std::string(drone_id) + ".key"), drone_id);
}

std::vector<std::string> GcsKeys::drone_ids() const {
  const auto folder = folder_ / "psk";
  std::error_code error;
  std::vector<std::string> out;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const auto& file = entry->path();
    if (file.extension() == ".key" && valid_drone_id(file.stem().string())) out.push_back(file.stem().string());
  }
  if (error) {
    throw TunnelError(Errc::key_missing,
                      "The key folder " + folder.string() + " cannot be read (" + error.message() +
                          "); make keys with 'pqcmav keys init drone1', or check its path and owner.");
  }
  std::ranges::sort(out);
  return out;
}

SecretBytes GcsKeys::sig_secret(const SigInfo& sig) const {
  return read_secret(folder_ / "sig" / named(sig, ".key"), sig, kGcsOwner);
}

bool GcsKeys::has_sig_secret(const SigInfo& sig) const { return key_file_exists(folder_ / "sig" / named(sig, ".key")); }

std::optional<Bytes> GcsKeys::drone_public(std::string_view drone_id, const SigInfo& sig) const {
  require_id(drone_id);
  const auto file = folder_ / "drones" / std::string(drone_id) / named(sig, ".pub");
  if (!key_file_exists(file)) return std::nullopt;
  return read_public(file, sig, drone_id);
}

}  // namespace pqcmav
