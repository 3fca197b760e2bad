// SPDX-License-Identifier: Apache-2.0
// Per-packet authenticated encryption in place: AES-256-GCM and ChaCha20-Poly1305 through OpenSSL, both of
// Ascon native.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "bytes.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

/// One key in one direction, with its context set up once and reused for every packet. Not thread-safe.
/// The nonce is epoch || sequence (11 bytes, big-endian), docs/protocol.md section 5.
class Aead {
 public:
  virtual ~Aead() = default;
  Aead(const Aead&) = delete;
  Aead& operator=(const Aead&) = delete;

  /// Encrypts `data` in place and writes 16 tag bytes. False when the crypto library failed.
  virtual bool seal(std::uint8_t epoch, std::uint64_t sequence, ByteView aad, MutableBytes data,
                    std::span<std::uint8_t, 16> tag) noexcept = 0;
  enum class Open { ok, bad_tag, failed };
  /// Decrypts `data` in place; its content is undefined unless the result is ok.
  virtual Open open(std::uint8_t epoch, std::uint64_t sequence, ByteView aad, MutableBytes data,
                    std::span<const std::uint8_t, 16> tag) noexcept = 0;

 protected:
  Aead() = default;
};

/// `key` has 32 bytes; those of Ascon use the first 16. Throws TunnelError(crypto).
std::unique_ptr<Aead> make_aead(AeadId id, std::span<const std::uint8_t, 32> key);

/// The nonce of a packet: 12 bytes, and four zero bytes more which only Ascon uses.
ByteArray<16> packet_nonce(std::uint8_t epoch, std::uint64_t sequence) noexcept;

}  // namespace pqcmav
