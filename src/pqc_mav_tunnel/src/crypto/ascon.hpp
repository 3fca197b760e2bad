// SPDX-License-Identifier: Apache-2.0
// The two editions of Ascon's authenticated encryption with 128-bit key, nonce, tag and rate, 12 rounds at both ends
// and 8 between blocks. They share the permutation and differ in byte order and constants.
#pragma once

#include <cstdint>
#include <span>

#include "bytes.hpp"

namespace pqcmav {

struct AsconV12;       // version 1.2, as submitted to NIST's lightweight competition
struct AsconSp800232;  // the standard, NIST SP 800-232 (2025)

/// One key. Holds nothing that changes: calls may run at the same time.
template <typename Edition>
class Ascon {
 public:
  explicit Ascon(std::span<const std::uint8_t, 16> key) noexcept;
  ~Ascon();
  Ascon(const Ascon&) = delete;
  Ascon& operator=(const Ascon&) = delete;

  /// Encrypts `data` in place.
  void encrypt(std::span<const std::uint8_t, 16> nonce, ByteView aad, MutableBytes data,
               std::span<std::uint8_t, 16> tag) const noexcept;
  /// Decrypts `data` in place; false and `data` wiped when the tag does not verify. The comparison takes constant time.
  [[nodiscard]] bool decrypt(std::span<const std::uint8_t, 16> nonce, ByteView aad, MutableBytes data,
                             std::span<const std::uint8_t, 16> tag) const noexcept;

 private:
  std::uint64_t key_[2];
};

using Ascon128a = Ascon<AsconV12>;
using AsconAead128 = Ascon<AsconSp800232>;
extern template class Ascon<AsconV12>;
extern template class Ascon<AsconSp800232>;

}  // namespace pqcmav
