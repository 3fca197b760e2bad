// SPDX-License-Identifier: Apache-2.0
#include "crypto/mldsa_norm.hpp"

#include <cstdint>

namespace pqcmav {
namespace {

/// FIPS 204, table 1: bytes of c~, rows of z, bits of gamma1 without its own, beta = tau * eta.
struct MldsaSet {
  std::string_view token;
  std::size_t challenge, rows;
  unsigned gamma_bits;
  std::int32_t beta;
};
constexpr MldsaSet kMldsaSets[] = {
    {"mldsa44", 32, 4, 17, 78}, {"mldsa65", 48, 5, 19, 196}, {"mldsa87", 64, 7, 19, 120}};

}  // namespace

bool mldsa_norm_good(std::string_view token, ByteView signature) noexcept {
  for (const auto& set : kMldsaSets) {
    if (set.token != token) continue;
    const std::int32_t gamma = std::int32_t{1} << set.gamma_bits;
    const unsigned width = set.gamma_bits + 1;
    const std::size_t count = set.rows * 256;
    if (signature.size() < set.challenge + count * width / 8) return false;
    const auto* next = signature.data() + set.challenge;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (std::size_t i = 0; i < count; ++i) {  // BitUnpack (algorithm 19): gamma1 less a number of `width` bits
      while (held < width) {
        bits |= std::uint32_t{*next++} << held;
        held += 8;
      }
      const auto z = gamma - static_cast<std::int32_t>(bits & ((std::uint32_t{1} << width) - 1));
      bits >>= width;
      held -= width;
      if (z >= gamma - set.beta || z <= set.beta - gamma) return false;
    }
  }
  return true;
}

}  // namespace pqcmav
