// SPDX-License-Identifier: Apache-2.0
#include "crypto/x25519.hpp"

#include "crypto/kdf.hpp"
#include "crypto/openssl_handles.hpp"

namespace pqcmav {

struct X25519::Key {
  EvpPkeyHandle pkey;  // OpenSSL wipes the scalar when it is freed
};

void X25519::KeyFree::operator()(Key* key) const noexcept { delete key; }

namespace {

Secret<32> fresh_scalar() {
  Secret<32> scalar;
  random_bytes(scalar.mut());
  return scalar;
}

}  // namespace

X25519::X25519() : X25519(fresh_scalar().view()) {}

X25519::X25519(std::span<const std::uint8_t, 32> scalar)
    : key_(new Key{
          EvpPkeyHandle(EVP_PKEY_new_raw_private_key_ex(nullptr, "X25519", nullptr, scalar.data(), scalar.size()))}) {
  std::size_t size = public_.size();
  if (!key_->pkey || EVP_PKEY_get_raw_public_key(key_->pkey.get(), public_.data(), &size) != 1 ||
      size != public_.size()) {
    throw openssl_error("make an X25519 key");
  }
}

bool X25519::derive(std::span<const std::uint8_t, 32> peer, Secret<32>& out) const {
  const EvpPkeyHandle theirs(EVP_PKEY_new_raw_public_key_ex(nullptr, "X25519", nullptr, peer.data(), peer.size()));
  const EvpPkeyCtxHandle ctx(EVP_PKEY_CTX_new_from_pkey(nullptr, key_->pkey.get(), nullptr));
  if (!theirs || !ctx || EVP_PKEY_derive_init(ctx.get()) != 1 ||
      EVP_PKEY_derive_set_peer_ex(ctx.get(), theirs.get(), 0) != 1) {
    throw openssl_error("set up X25519");
  }
  static constexpr ByteArray<32> kZero{};
  std::size_t size = kZero.size();
  // OpenSSL itself refuses an all-zero result (RFC 7748, section 6.1); the comparison keeps that true whatever the
  // provider.
  if (EVP_PKEY_derive(ctx.get(), out.mut().data(), &size) == 1 && size == kZero.size() &&
      !constant_time_equal(out.view(), kZero))
    return true;
  ERR_clear_error();
  wipe(out.mut());
  return false;
}

}  // namespace pqcmav
