// SPDX-License-Identifier: Apache-2.0
// KEMs and signatures, computed by the first of the chosen libraries that has them, with sizes checked on every call.
#pragma once

#include <memory>

#include "bytes.hpp"
#include "crypto/provider.hpp"
#include "crypto/secret.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

struct KemKeyPair {
  Bytes public_key;
  SecretBytes secret_key;
};

/// Throws TunnelError(suite_unavailable) when no library here has it, TunnelError(crypto) when a call fails or a size is
/// wrong. A ciphertext that was tampered with decapsulates to another secret, except with HQC, which throws. Different
/// objects may be used by different threads. Classic McEliece works on the stack: key generation took 1.3 MiB with
/// liboqs 0.13 and AVX2, its portable code takes several; give such threads 16 MiB.
class Kem {
 public:
  explicit Kem(const KemInfo& info, ProviderChoice choice = provider_choice());
  ~Kem();
  Kem(const Kem&) = delete;
  Kem& operator=(const Kem&) = delete;
  [[nodiscard]] KemKeyPair keypair() const;
  /// Returns the ciphertext; `shared` gets the shared secret.
  [[nodiscard]] Bytes encapsulate(ByteView public_key, SecretBytes& shared) const;
  [[nodiscard]] SecretBytes decapsulate(const SecretBytes& secret_key, ByteView ciphertext) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Sig {
 public:
  explicit Sig(const SigInfo& info, ProviderChoice choice = provider_choice());
  ~Sig();
  Sig(const Sig&) = delete;
  Sig& operator=(const Sig&) = delete;
  [[nodiscard]] KemKeyPair keypair() const;
  [[nodiscard]] Bytes sign(const SecretBytes& secret_key, ByteView message) const;
  [[nodiscard]] bool verify(ByteView public_key, ByteView message, ByteView signature) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pqcmav
