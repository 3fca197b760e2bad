// SPDX-License-Identifier: Apache-2.0
// AES-256-GCM and ChaCha20-Poly1305: one EVP context per key, keyed once; a packet only sets the nonce.
#include <openssl/core_names.h>
#include <openssl/params.h>

#include <array>

#include "constants.hpp"
#include "crypto/aead_raw.hpp"
#include "crypto/openssl_handles.hpp"
#include "crypto/secret.hpp"

namespace pqcmav {
namespace {

EVP_CIPHER* fetch(const char* name) {
  EVP_CIPHER* cipher = EVP_CIPHER_fetch(nullptr, name, nullptr);
  if (cipher == nullptr) throw openssl_error("provide " + std::string(name));
  return cipher;
}

const EVP_CIPHER* cipher_of(AeadId id) {
  if (id == AeadId::aes256gcm) {
    static const EvpCipherHandle aes(fetch("AES-256-GCM"));
    return aes.get();
  }
  static const EvpCipherHandle chacha(fetch("ChaCha20-Poly1305"));
  return chacha.get();
}

class OpensslAead final : public RawAead {
 public:
  OpensslAead(AeadId id, std::span<const std::uint8_t, 32> key) : ctx_(EVP_CIPHER_CTX_new()) {
    if (!ctx_ || EVP_CipherInit_ex2(ctx_.get(), cipher_of(id), key.data(), nullptr, 1, nullptr) != 1)
      throw openssl_error("set up an AEAD key");
  }

  bool seal_raw(const std::uint8_t* nonce, ByteView aad, MutableBytes data,
                std::span<std::uint8_t, 16> tag) noexcept override {
    if (!fits(aad, data) || !run(1, nonce, aad, data)) return failed(data);
    int ignored = 0;
    if (EVP_EncryptFinal_ex(ctx_.get(), unused_.data(), &ignored) != 1) return failed(data);
    // The parameter goes to the provider as it is: EVP_CIPHER_CTX_ctrl would build it anew for each packet.
    tag_param_[0].data = tag.data();
    return EVP_CIPHER_CTX_get_params(ctx_.get(), tag_param_.data()) == 1 || failed(data);
  }

  Open open_raw(const std::uint8_t* nonce, ByteView aad, MutableBytes data,
                std::span<const std::uint8_t, 16> tag) noexcept override {
    if (!fits(aad, data) || !run(0, nonce, aad, data)) {
      failed(data);
      return Open::failed;
    }
    tag_param_[0].data = const_cast<std::uint8_t*>(tag.data());  // OpenSSL only reads a parameter that is being set
    if (EVP_CIPHER_CTX_set_params(ctx_.get(), tag_param_.data()) != 1) {
      failed(data);
      return Open::failed;
    }
    int ignored = 0;
    if (EVP_DecryptFinal_ex(ctx_.get(), unused_.data(), &ignored) == 1) return Open::ok;
    failed(data);
    return Open::bad_tag;
  }

 private:
  // OpenSSL counts in int; a datagram is far below that.
  static bool fits(ByteView aad, MutableBytes data) noexcept {
    return aad.size() <= kMaxDatagram && data.size() <= kMaxDatagram;
  }

  bool run(int encrypt, const std::uint8_t* nonce, ByteView aad, MutableBytes data) noexcept {
    auto* ctx = ctx_.get();
    int done = 0;
    if (EVP_CipherInit_ex2(ctx, nullptr, nullptr, nonce, encrypt, nullptr) != 1) return false;
    if (!aad.empty() && EVP_CipherUpdate(ctx, nullptr, &done, aad.data(), static_cast<int>(aad.size())) != 1)
      return false;
    return data.empty() || EVP_CipherUpdate(ctx, data.data(), &done, data.data(), static_cast<int>(data.size())) == 1;
  }

  /// Leaves neither plaintext that was not verified nor a stale entry in OpenSSL's error queue. Always false.
  static bool failed(MutableBytes data) noexcept {
    wipe(data);
    ERR_clear_error();
    return false;
  }

  EvpCipherCtxHandle ctx_;
  std::array<OSSL_PARAM, 2> tag_param_{OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, nullptr, kTagSize),
                                       OSSL_PARAM_construct_end()};
  std::array<std::uint8_t, 16> unused_{};  // neither cipher writes at the end, but the call wants somewhere to write
};

}  // namespace

std::unique_ptr<RawAead> make_openssl_aead(AeadId id, std::span<const std::uint8_t, 32> key) {
  return std::make_unique<OpensslAead>(id, key);
}

}  // namespace pqcmav
