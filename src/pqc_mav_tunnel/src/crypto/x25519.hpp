// SPDX-License-Identifier: Apache-2.0
// X25519 (RFC 7748) through OpenSSL.
#pragma once

#include <memory>

#include "bytes.hpp"
#include "crypto/secret.hpp"

namespace pqcmav {

/// An ephemeral X25519 key pair; the secret half is wiped with the object.
class X25519 {
 public:
  X25519();                                                   // fresh
  explicit X25519(std::span<const std::uint8_t, 32> scalar);  // for test vectors
  [[nodiscard]] const ByteArray<32>& public_key() const noexcept { return public_; }
  /// The shared secret, or false when the result is all zero (a low-order peer key), which must be refused.
  [[nodiscard]] bool derive(std::span<const std::uint8_t, 32> peer, Secret<32>& out) const;

 private:
  // OpenSSL's key object: it keeps the scalar with its public half, so that deriving does not compute the latter again.
  struct Key;
  struct KeyFree {
    void operator()(Key* key) const noexcept;
  };
  std::unique_ptr<Key, KeyFree> key_;
  ByteArray<32> public_{};
};

}  // namespace pqcmav
