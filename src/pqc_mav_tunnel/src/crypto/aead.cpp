// SPDX-License-Identifier: Apache-2.0
#include "crypto/aead.hpp"

#include "crypto/aead_raw.hpp"
#include "crypto/ascon.hpp"

namespace pqcmav {
namespace {

template <typename Cipher>
class AsconAead final : public RawAead {
 public:
  explicit AsconAead(std::span<const std::uint8_t, 16> key) noexcept : cipher_(key) {}

  bool seal_raw(const std::uint8_t* nonce, ByteView aad, MutableBytes data,
                std::span<std::uint8_t, 16> tag) noexcept override {
    cipher_.encrypt(std::span<const std::uint8_t, 16>(nonce, 16), aad, data, tag);
    return true;
  }
  Open open_raw(const std::uint8_t* nonce, ByteView aad, MutableBytes data,
                std::span<const std::uint8_t, 16> tag) noexcept override {
    return cipher_.decrypt(std::span<const std::uint8_t, 16>(nonce, 16), aad, data, tag) ? Open::ok : Open::bad_tag;
  }

 private:
  Cipher cipher_;
};

}  // namespace

ByteArray<16> packet_nonce(std::uint8_t epoch, std::uint64_t sequence) noexcept {
  // The sequence as 11 bytes has three zeros in front. Whole words, because bytes that are read back as words stall the
  // processor.
  ByteArray<16> nonce;
  store_be(nonce.data(), std::uint64_t{epoch} << 56 | sequence >> 32);
  store_be(nonce.data() + 8, sequence << 32);
  return nonce;
}

std::unique_ptr<RawAead> make_raw_aead(AeadId id, std::span<const std::uint8_t, 32> key) {
  if (id == AeadId::ascon128a) return std::make_unique<AsconAead<Ascon128a>>(key.first<16>());
  if (id == AeadId::ascon_aead128) return std::make_unique<AsconAead<AsconAead128>>(key.first<16>());
  return make_openssl_aead(id, key);
}

std::unique_ptr<Aead> make_aead(AeadId id, std::span<const std::uint8_t, 32> key) { return make_raw_aead(id, key); }

}  // namespace pqcmav
