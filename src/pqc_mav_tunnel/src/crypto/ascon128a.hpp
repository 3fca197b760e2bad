// SPDX-License-Identifier: Apache-2.0
// Ascon-128a, version 1.2 of the submission to NIST's lightweight competition (not the later Ascon-AEAD128 of SP
// 800-232): 128-bit key, nonce and tag, 128-bit rate, 12 rounds at both ends and 8 between blocks.
#pragma once

#include <cstdint>
#include <span>

#include "bytes.hpp"

namespace pqcmav {

/// One key. Holds nothing that changes: calls may run at the same time.
class Ascon128a {
 public:
  explicit Ascon128a(std::span<const std::uint8_t, 16> key) noexcept;
  ~Ascon128a();
  Ascon128a(const Ascon128a&) = delete;
  Ascon128a& operator=(const Ascon128a&) = delete;

  /// Encrypts `data` in place.
  void encrypt(std::span<const std::uint8_t, 16> nonce, ByteView aad, MutableBytes data,
               std::span<std::uint8_t, 16> tag) const noexcept;
  /// Decrypts `data` in place; false and `data` wiped when the tag does not verify. The comparison takes constant time.
  [[nodiscard]] bool decrypt(std::span<const std::uint8_t, 16> nonce, ByteView aad, MutableBytes data,
                             std::span<const std::uint8_t, 16> tag) const noexcept;

 private:
  std::uint64_t key_[2];
};

}  // namespace pqcmav
