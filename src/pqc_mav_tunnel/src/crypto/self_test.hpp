// SPDX-License-Identifier: Apache-2.0
// The power-on self test, as FIPS 140-3 asks a module for: known answers of what needs no chance (SHA-256, HMAC, HKDF,
// X25519, AEADs, ML-KEM's key of a seed), and of each KEM and signature a key pair that does what it is for.
#pragma once

#include <set>
#include <string>

#include "crypto/aead_raw.hpp"
#include "crypto/provider.hpp"

namespace pqcmav {

/// What a configuration uses beside what all of them do. Rows of the table.
struct SelfTestScope {
  std::set<const KemInfo*> kems;
  std::set<const SigInfo*> sigs;
  std::set<const AeadInfo*> aeads;
  void add(const Suite& suite);
};

/// Tests all of it, and SHA-256, HMAC, HKDF and X25519, by the libraries that a tunnel of this choice uses; what none of
/// them has is passed over. Takes large stacks. Returns what passed and in which time, as a sentence. Throws
/// TunnelError(crypto) at the first that fails: algorithm, library and which step.
std::string self_test(const SelfTestScope& scope, ProviderChoice choice);

/// Its parts: "" or the step that went wrong.
std::string self_test_hashes();
std::string self_test(AeadId id, RawAead& cipher);  // under self_test_key()
std::string self_test(const KemInfo& info, const KemOps& kem);
std::string self_test(const SigInfo& info, const SigOps& sig);
ByteArray<32> self_test_key() noexcept;

}  // namespace pqcmav
