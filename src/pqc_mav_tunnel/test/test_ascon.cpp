// SPDX-License-Identifier: Apache-2.0
#include "crypto/ascon.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "crypto/kdf.hpp"
#include "hex.hpp"

namespace pqcmav {
namespace {

using test::hex;

ByteArray<16> counting16(std::uint8_t from = 0) {
  ByteArray<16> out;
  std::iota(out.begin(), out.end(), from);
  return out;
}

Bytes counting(std::size_t size, std::uint8_t from = 0) {
  Bytes out(size);
  std::iota(out.begin(), out.end(), from);
  return out;
}

/// Where the bytes of a published file begin, and what is published: a file of every message and associated data of
/// 0-32 bytes that count up.
template <typename Cipher>
struct Published;
// LWC_AEAD_KAT_128_128.txt of Ascon-128a v1.2 (NIST lightweight cryptography, final round).
template <>
struct Published<Ascon128a> {
  static constexpr std::uint8_t nonce = 0, message = 0, associated = 0;
  static constexpr auto empty = "CT = 7A834E6F09210957067B10FD831F0078\n";
  static constexpr auto sha256 = "d453a54fd663316a6223734013dcd2d732e2b1dee0c85391cf6f818000322fd9";
};
// The file of that name of SP 800-232's Ascon-AEAD128, in the reference code of Ascon's authors (ascon-c,
// crypto_aead/asconaead128).
template <>
struct Published<AsconAead128> {
  static constexpr std::uint8_t nonce = 0x10, message = 0x20, associated = 0x30;
  static constexpr auto empty = "CT = 4F9C278211BEC9316BF68F46EE8B2EC6\n";
  static constexpr auto sha256 = "bbbc34692fe05e5fda0a3b025585622ab3e3747495e5e3655b29aae8c2a4bd33";
};

/// The file made anew, byte for byte.
template <typename Cipher>
std::string regenerate_kat_file() {
  using From = Published<Cipher>;
  constexpr std::size_t longest = 32;
  const auto key = counting16(), nonce = counting16(From::nonce);
  const Cipher cipher(key);
  std::string file;
  int count = 0;
  for (std::size_t message = 0; message <= longest; ++message) {
    for (std::size_t associated = 0; associated <= longest; ++associated) {
      const auto plain = counting(message, From::message), aad = counting(associated, From::associated);
      Bytes data = plain;
      ByteArray<16> tag;
      cipher.encrypt(nonce, aad, data, tag);
      data.insert(data.end(), tag.begin(), tag.end());
      file += "Count = " + std::to_string(++count) + "\nKey = " + hex(key, true) + "\nNonce = " + hex(nonce, true) +
              "\nPT = " + hex(plain, true) + "\nAD = " + hex(aad, true) + "\nCT = " + hex(data, true) + "\n\n";
    }
  }
  return file;
}

template <typename Cipher>
class EachAscon : public testing::Test {};
using Editions = testing::Types<Ascon128a, AsconAead128>;
TYPED_TEST_SUITE(EachAscon, Editions);

TYPED_TEST(EachAscon, RegeneratesThePublishedKnownAnswerFile) {
  const auto file = regenerate_kat_file<TypeParam>();
  EXPECT_EQ(file.size(), 260253u);
  EXPECT_NE(file.find(Published<TypeParam>::empty), std::string::npos);
  EXPECT_EQ(hex(sha256({as_bytes(file)})), Published<TypeParam>::sha256);
}

TYPED_TEST(EachAscon, DecryptsWhatItEncryptedAtEveryLength) {
  const auto key = counting16(), nonce = counting16();
  const TypeParam cipher(key);
  for (std::size_t size = 0; size <= 80; ++size) {
    for (const std::size_t associated : {0, 1, 7, 8, 9, 15, 16, 17, 22, 31, 32, 33}) {
      const auto plain = counting(size), aad = counting(associated);
      Bytes data = plain;
      ByteArray<16> tag;
      cipher.encrypt(nonce, aad, data, tag);
      ASSERT_TRUE(cipher.decrypt(nonce, aad, data, tag)) << size << "/" << associated;
      ASSERT_EQ(data, plain) << size << "/" << associated;
    }
  }
}

TYPED_TEST(EachAscon, RefusesEveryFlippedBitAndWipesTheData) {
  const auto key = counting16();
  const TypeParam cipher(key);
  const auto nonce = counting16();
  auto aad = counting(22);
  Bytes sealed = counting(37);
  ByteArray<16> tag;
  cipher.encrypt(nonce, aad, sealed, tag);
  const auto refused = [&](ByteView nonce_in, ByteView aad_in, ByteView data_in, ByteView tag_in) {
    Bytes data(data_in.begin(), data_in.end());
    const bool opened = cipher.decrypt(nonce_in.first<16>(), aad_in, data, tag_in.first<16>());
    return !opened && data == Bytes(data.size(), 0);
  };
  const auto each_bit = [&](MutableBytes field, const char* name) {
    for (std::size_t bit = 0; bit < 8 * field.size(); ++bit) {
      field[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
      EXPECT_TRUE(refused(nonce, aad, sealed, tag)) << name << " bit " << bit;
      field[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    }
  };
  each_bit(aad, "aad");
  each_bit(sealed, "data");
  each_bit(tag, "tag");
  auto other_nonce = nonce;
  for (auto& byte : other_nonce) {
    byte ^= 1;
    EXPECT_TRUE(refused(other_nonce, aad, sealed, tag));
    byte ^= 1;
  }
  EXPECT_TRUE(refused(nonce, ByteView(aad).first(21), sealed, tag));
  EXPECT_TRUE(refused(nonce, aad, ByteView(sealed).first(36), tag));
  EXPECT_FALSE(refused(nonce, aad, sealed, tag)) << "the unchanged packet must open";
}

}  // namespace
}  // namespace pqcmav
