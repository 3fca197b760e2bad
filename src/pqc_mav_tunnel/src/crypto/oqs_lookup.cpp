// SPDX-License-Identifier: Apache-2.0
#include "crypto/oqs_lookup.hpp"

#include <mutex>
#include <vector>

namespace pqcmav {
namespace {

struct Size {
  const char* what;
  std::size_t table, library;
};

/// "" when all sizes agree; else what differs.
std::string difference(std::initializer_list<Size> sizes) {
  for (const auto& size : sizes) {
    if (size.table != size.library) {
      return std::string("its ") + size.what + " has " + std::to_string(size.library) + " bytes there and " +
             std::to_string(size.table) + " in the suite table";
    }
  }
  return {};
}

std::string difference(const KemInfo& info, const OQS_KEM& kem) {
  return difference({{"public key", info.public_key, kem.length_public_key},
                     {"secret key", info.secret_key, kem.length_secret_key},
                     {"ciphertext", info.ciphertext, kem.length_ciphertext},
                     {"shared secret", info.shared_secret, kem.length_shared_secret}});
}

std::string difference(const SigInfo& info, const OQS_SIG& sig) {
  return difference({{"public key", info.public_key, sig.length_public_key},
                     {"secret key", info.secret_key, sig.length_secret_key},
                     {"signature", info.signature_max, sig.length_signature}});
}

bool enabled(const KemInfo&, const char* name) { return OQS_KEM_alg_is_enabled(name) == 1; }
bool enabled(const SigInfo&, const char* name) { return OQS_SIG_alg_is_enabled(name) == 1; }
OqsKemHandle open(const KemInfo&, const char* name) { return OqsKemHandle(OQS_KEM_new(name)); }
OqsSigHandle open(const SigInfo&, const char* name) { return OqsSigHandle(OQS_SIG_new(name)); }

template <typename Info>
Resolution look_up_any(const Info& info) {
  init_oqs();
  std::string names, mismatch;
  for (const auto candidate : info.oqs_names) {
    if (candidate.empty()) continue;
    const std::string name(candidate);
    names += (names.empty() ? "" : " or ") + name;
    if (!enabled(info, name.c_str())) continue;
    const auto algorithm = open(info, name.c_str());
    if (!algorithm) continue;
    const auto differs = difference(info, *algorithm);
    if (differs.empty()) return {candidate, {}};
    mismatch = name + " of liboqs " + OQS_version() + " is another version of the algorithm (" + differs +
               "); use liboqs 0.13.";
  }
  if (!mismatch.empty()) return {{}, mismatch};
  return {{},
          std::string("liboqs ") + OQS_version() + " was built without " + names +
              "; rebuild it with that algorithm turned on ('make setup' does so)."};
}

}  // namespace

void init_oqs() {
  static std::once_flag once;
  std::call_once(once, OQS_init);
}

Resolution look_up(const KemInfo& kem) { return look_up_any(kem); }
Resolution look_up(const SigInfo& sig) { return look_up_any(sig); }

}  // namespace pqcmav
