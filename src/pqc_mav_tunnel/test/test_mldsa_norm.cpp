// SPDX-License-Identifier: Apache-2.0
#include "crypto/mldsa_norm.hpp"

#include <gtest/gtest.h>

#include "crypto/kem_sig.hpp"

namespace pqcmav {
namespace {

TEST(MldsaNorm, GoodSignaturesAreWithinIt) {
  for (const auto* token : {"mldsa44", "mldsa65", "mldsa87"}) {
    if (resolve(*find_sig(token)).empty()) GTEST_SKIP() << "no library here has it";
    const Sig sig(*find_sig(token));
    const auto pair = sig.keypair();
    for (int i = 0; i < 20; ++i)
      EXPECT_TRUE(mldsa_norm_good(token, sig.sign(pair.secret_key, as_bytes(std::to_string(i))))) << token;
  }
}

/// A signature whose z is zero but for one coefficient, packed as gamma1 less it.
Bytes with(std::size_t challenge, std::size_t rows, unsigned gamma_bits, std::size_t place, std::int32_t z) {
  const unsigned width = gamma_bits + 1;
  Bytes out(challenge + rows * 32 * width);
  for (std::size_t i = 0; i < rows * 256; ++i) {
    const auto packed = static_cast<std::uint32_t>((std::int32_t{1} << gamma_bits) - (i == place ? z : 0));
    for (unsigned bit = 0; bit < width; ++bit) {
      const auto at = i * width + bit;
      out[challenge + at / 8] |= static_cast<std::uint8_t>((packed >> bit & 1) << (at % 8));
    }
  }
  return out;
}

TEST(MldsaNorm, OneCoefficientAtTheBoundIsTooMuch) {
  const struct {
    const char* token;
    std::size_t challenge, rows;
    unsigned bits;
    std::int32_t bound;
  } sets[] = {{"mldsa44", 32, 4, 17, (1 << 17) - 78},
              {"mldsa65", 48, 5, 19, (1 << 19) - 196},
              {"mldsa87", 64, 7, 19, (1 << 19) - 120}};
  for (const auto& [token, challenge, rows, bits, bound] : sets) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{249}, rows * 256 - 1}) {
      for (const auto z : {bound - 1, 1 - bound})
        EXPECT_TRUE(mldsa_norm_good(token, with(challenge, rows, bits, place, z))) << token << ' ' << z;
      for (const auto z : {bound, -bound})
        EXPECT_FALSE(mldsa_norm_good(token, with(challenge, rows, bits, place, z))) << token << ' ' << z;
    }
    auto cut = with(challenge, rows, bits, 0, 0);
    cut.pop_back();
    EXPECT_FALSE(mldsa_norm_good(token, cut));
  }
}

TEST(MldsaNorm, HasNothingToSayOfOthers) { EXPECT_TRUE(mldsa_norm_good("falcon512", {})); }

}  // namespace
}  // namespace pqcmav
