// SPDX-License-Identifier: Apache-2.0
// The AEADs by nonce instead of by packet number: what the implementations provide and what known-answer tests drive.
#pragma once

#include <memory>

#include "crypto/aead.hpp"

namespace pqcmav {

class RawAead : public Aead {
 public:
  /// `nonce` points to 16 bytes, of which the algorithm uses its own number (12 or 16).
  virtual bool seal_raw(const std::uint8_t* nonce, ByteView aad, MutableBytes data,
                        std::span<std::uint8_t, 16> tag) noexcept = 0;
  virtual Open open_raw(const std::uint8_t* nonce, ByteView aad, MutableBytes data,
                        std::span<const std::uint8_t, 16> tag) noexcept = 0;

  bool seal(std::uint8_t epoch, std::uint64_t sequence, ByteView aad, MutableBytes data,
            std::span<std::uint8_t, 16> tag) noexcept final {
    const auto nonce = packet_nonce(epoch, sequence);
    return seal_raw(nonce.data(), aad, data, tag);
  }
  Open open(std::uint8_t epoch, std::uint64_t sequence, ByteView aad, MutableBytes data,
            std::span<const std::uint8_t, 16> tag) noexcept final {
    const auto nonce = packet_nonce(epoch, sequence);
    return open_raw(nonce.data(), aad, data, tag);
  }
};

/// AES-256-GCM or ChaCha20-Poly1305 through OpenSSL.
std::unique_ptr<RawAead> make_openssl_aead(AeadId id, std::span<const std::uint8_t, 32> key);
std::unique_ptr<RawAead> make_raw_aead(AeadId id, std::span<const std::uint8_t, 32> key);

}  // namespace pqcmav
