// SPDX-License-Identifier: Apache-2.0
#include "crypto/oqs.hpp"

#include "crypto/oqs_lookup.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

template <typename Info>
std::string require(const Info& info) {
  const auto name = resolve(info);
  if (name.empty())
    throw TunnelError(Errc::suite_unavailable,
                      std::string(info.display) + " cannot be used here: " + look_up(info).reason);
  return std::string(name);
}

void check_size(std::string_view algorithm, const char* what, std::size_t got, std::size_t wanted) {
  if (got == wanted) return;
  throw TunnelError(Errc::crypto, "A " + std::string(algorithm) + " " + what + " has " + std::to_string(wanted) +
                                      " bytes, but " + std::to_string(got) + " were given.");
}

void check_status(std::string_view algorithm, const char* what, OQS_STATUS status) {
  if (status != OQS_SUCCESS)
    throw TunnelError(Errc::crypto, "liboqs failed at " + std::string(algorithm) + " " + what + ".");
}

}  // namespace

struct Kem::Impl {
  const KemInfo info;
  OqsKemHandle kem;
};

Kem::Kem(const KemInfo& info) : impl_(new Impl{info, OqsKemHandle(OQS_KEM_new(require(info).c_str()))}) {
  if (!impl_->kem)
    throw TunnelError(Errc::crypto, "liboqs could not set up " + std::string(info.display) + ": out of memory.");
}

Kem::~Kem() = default;

KemKeyPair Kem::keypair() const {
  const auto& info = impl_->info;
  KemKeyPair out{Bytes(info.public_key), SecretBytes(info.secret_key)};
  check_status(info.display, "key generation",
               OQS_KEM_keypair(impl_->kem.get(), out.public_key.data(), out.secret_key.mut().data()));
  return out;
}

Bytes Kem::encapsulate(ByteView public_key, SecretBytes& shared) const {
  const auto& info = impl_->info;
  check_size(info.display, "public key", public_key.size(), info.public_key);
  Bytes ciphertext(info.ciphertext);
  SecretBytes secret(info.shared_secret);
  check_status(info.display, "encapsulation",
               OQS_KEM_encaps(impl_->kem.get(), ciphertext.data(), secret.mut().data(), public_key.data()));
  shared = std::move(secret);
  return ciphertext;
}

SecretBytes Kem::decapsulate(const SecretBytes& secret_key, ByteView ciphertext) const {
  const auto& info = impl_->info;
  check_size(info.display, "secret key", secret_key.size(), info.secret_key);
  check_size(info.display, "ciphertext", ciphertext.size(), info.ciphertext);
  SecretBytes secret(info.shared_secret);
  check_status(info.display, "decapsulation",
               OQS_KEM_decaps(impl_->kem.get(), secret.mut().data(), ciphertext.data(), secret_key.view().data()));
  return secret;
}

struct Sig::Impl {
  const SigInfo info;
  OqsSigHandle sig;
};

Sig::Sig(const SigInfo& info) : impl_(new Impl{info, OqsSigHandle(OQS_SIG_new(require(info).c_str()))}) {
  if (!impl_->sig)
    throw TunnelError(Errc::crypto, "liboqs could not set up " + std::string(info.display) + ": out of memory.");
}

Sig::~Sig() = default;

KemKeyPair Sig::keypair() const {
  const auto& info = impl_->info;
  KemKeyPair out{Bytes(info.public_key), SecretBytes(info.secret_key)};
  check_status(info.display, "key generation",
               OQS_SIG_keypair(impl_->sig.get(), out.public_key.data(), out.secret_key.mut().data()));
  return out;
}

Bytes Sig::sign(const SecretBytes& secret_key, ByteView message) const {
  const auto& info = impl_->info;
  check_size(info.display, "secret key", secret_key.size(), info.secret_key);
  Bytes signature(info.signature_max);
  std::size_t size = signature.size();
  check_status(info.display, "signing",
               OQS_SIG_sign(impl_->sig.get(), signature.data(), &size, message.data(), message.size(),
                            secret_key.view().data()));
  if (size > signature.size())
    throw TunnelError(Errc::crypto,
                      "liboqs returned a " + std::string(info.display) + " signature longer than it may be.");
  signature.resize(size);
  return signature;
}

bool Sig::verify(ByteView public_key, ByteView message, ByteView signature) const noexcept {
  const auto& info = impl_->info;
  // Falcon's signatures vary in length; the library checks the exact form of each.
  if (public_key.size() != info.public_key || signature.empty() || signature.size() > info.signature_max) return false;
  return OQS_SIG_verify(impl_->sig.get(), message.data(), message.size(), signature.data(), signature.size(),
                        public_key.data()) == OQS_SUCCESS;
}

}  // namespace pqcmav
