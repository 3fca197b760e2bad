// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "constants.hpp"
#include "keys/key_file.hpp"
#include "keys/key_folders.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/keystore.hpp"

namespace pqcmav {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFleet = "fleet";  // below a root: an operator's book, whose keys have a format of their own

std::size_t proper_size(const KeyFile& content) {
  if (content.kind == KeyKind::psk) return kPskSize;
  if (content.kind == KeyKind::restart) return kRestartKeySize;
  const SigInfo& sig = *find_sig(content.algorithm);
  return content.kind == KeyKind::sig_secret ? sig.secret_key : sig.public_key;
}

/// A secret is known by the fingerprint of its public half.
std::string fingerprint_of(const KeyFile& content, const fs::path& file) {
  if (content.kind == KeyKind::psk) return fingerprint_psk(Psk(content.key.view().first<kPskSize>()));
  if (content.kind == KeyKind::restart)
    return fingerprint_restart(Secret<kRestartKeySize>(content.key.view().first<kRestartKeySize>()));
  const SigInfo& sig = *find_sig(content.algorithm);
  if (content.kind == KeyKind::sig_public) return fingerprint_public(sig, content.key.view());
  auto other = file;
  return fingerprint_public(sig, read_key_file(other.replace_extension(".pub"),
                                               {KeyKind::sig_public, sig.token, sig.public_key, content.owner})
                                     .key.view());
}

KeyEntry describe(const fs::path& file) {
  KeyEntry out;
  out.path = file.string();
  try {
    const auto content = read_key_file(file, file.extension() == ".key");
    out.kind = to_string(content.kind);
    out.algorithm = content.algorithm;
    out.owner = content.owner;
    if (content.kind == KeyKind::return_grant) return out;  // no key of anybody's, and another one tomorrow
    (void)read_key_file(file, {content.kind, content.algorithm, proper_size(content), content.owner});
    if ((file.extension() == ".pub") != (content.kind == KeyKind::sig_public)) {
      throw TunnelError(Errc::key_format, "The key file " + out.path + " holds a key of kind " + out.kind +
                                              ", which does not match its name; put the right file there.");
    }
    out.fingerprint = fingerprint_of(content, file);
  } catch (const TunnelError& error) {
    out.problem = error.what();
  }
  return out;
}

}  // namespace

std::vector<KeyEntry> list_keys(const fs::path& folder, std::size_t most) {
  std::error_code error;
  std::vector<fs::path> files;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator() && files.size() <= most; entry.increment(error)) {
    if (entry.depth() == 0 && entry->path().filename() == kFleet) entry.disable_recursion_pending();
    const auto extension = entry->path().extension();
    if (extension == ".key" || extension == ".pub") files.push_back(entry->path());
  }
  if (error) {
    throw TunnelError(Errc::key_missing,
                      "The key folder " + folder.string() + " cannot be read (" + error.message() +
                          "); make keys with 'pqcmav keys init drone1', or check its path and owner.");
  }
  const bool more = files.size() > most;
  if (more) files.pop_back();
  std::ranges::sort(files);
  std::vector<KeyEntry> out;
  out.reserve(files.size() + 1);
  std::ranges::transform(files, std::back_inserter(out), describe);
  if (more) {
    KeyEntry rest;
    rest.path = folder.string();
    rest.problem = "The key folder " + rest.path + " holds more than " + std::to_string(most) +
                   " keys: not all are listed here; name a folder below it.";
    out.push_back(std::move(rest));
  }
  return out;
}

}  // namespace pqcmav
