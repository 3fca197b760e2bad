// SPDX-License-Identifier: Apache-2.0
#include "crypto/kem_sig.hpp"

#include "crypto/mldsa_norm.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

void check_size(std::string_view algorithm, const char* what, std::size_t got, std::size_t wanted) {
  if (got == wanted) return;
  throw TunnelError(Errc::crypto, "A " + std::string(algorithm) + " " + what + " has " + std::to_string(wanted) +
                                      " bytes, but " + std::to_string(got) + " were given.");
}

}  // namespace

/// A row of the table and the library's own of it.
template <typename Info, typename Ops>
struct Opened {
  Info info;
  const Provider* provider;
  std::unique_ptr<Ops> ops;

  Opened(const Info& row, ProviderChoice choice) : info(row) {
    const auto found = find_provider(info, choice);
    if (found.provider == nullptr)
      throw TunnelError(Errc::suite_unavailable, std::string(info.display) + " cannot be used here: " + found.reason);
    provider = found.provider;
    ops = provider->open(info, found.name);
    if (!ops)
      throw TunnelError(Errc::crypto,
                        provider->title() + " could not set up " + std::string(info.display) + ": out of memory.");
  }

  void check(bool done, const char* what) const {
    if (!done)
      throw TunnelError(Errc::crypto, provider->title() + " failed at " + std::string(info.display) + " " + what + ".");
  }

  [[nodiscard]] KemKeyPair keypair() const {
    KemKeyPair out{Bytes(info.public_key), SecretBytes(info.secret_key)};
    check(ops->keypair(out.public_key, out.secret_key.mut()), "key generation");
    return out;
  }
};

struct Kem::Impl : Opened<KemInfo, KemOps> {
  using Opened::Opened;
};

Kem::Kem(const KemInfo& info, ProviderChoice choice) : impl_(new Impl(info, choice)) {}
Kem::~Kem() = default;
KemKeyPair Kem::keypair() const { return impl_->keypair(); }

Bytes Kem::encapsulate(ByteView public_key, SecretBytes& shared) const {
  const auto& info = impl_->info;
  check_size(info.display, "public key", public_key.size(), info.public_key);
  Bytes ciphertext(info.ciphertext);
  SecretBytes secret(info.shared_secret);
  impl_->check(impl_->ops->encapsulate(public_key, ciphertext, secret.mut()), "encapsulation");
  shared = std::move(secret);
  return ciphertext;
}

SecretBytes Kem::decapsulate(const SecretBytes& secret_key, ByteView ciphertext) const {
  const auto& info = impl_->info;
  check_size(info.display, "secret key", secret_key.size(), info.secret_key);
  check_size(info.display, "ciphertext", ciphertext.size(), info.ciphertext);
  SecretBytes secret(info.shared_secret);
  impl_->check(impl_->ops->decapsulate(secret_key.view(), ciphertext, secret.mut()), "decapsulation");
  return secret;
}

struct Sig::Impl : Opened<SigInfo, SigOps> {
  using Opened::Opened;
};

Sig::Sig(const SigInfo& info, ProviderChoice choice) : impl_(new Impl(info, choice)) {}
Sig::~Sig() = default;
KemKeyPair Sig::keypair() const { return impl_->keypair(); }

Bytes Sig::sign(const SecretBytes& secret_key, ByteView message) const {
  const auto& info = impl_->info;
  check_size(info.display, "secret key", secret_key.size(), info.secret_key);
  Bytes signature(info.signature_max);
  std::size_t size = signature.size();
  impl_->check(impl_->ops->sign(secret_key.view(), message, signature, size) && size <= signature.size(), "signing");
  signature.resize(size);
  return signature;
}

bool Sig::verify(ByteView public_key, ByteView message, ByteView signature) const noexcept {
  const auto& info = impl_->info;
  // Falcon's signatures vary in length; the library checks the exact form of each.
  if (public_key.size() != info.public_key || signature.empty() || signature.size() > info.signature_max) return false;
  return mldsa_norm_good(info.token, signature) && impl_->ops->verify(public_key, message, signature);
}

}  // namespace pqcmav
