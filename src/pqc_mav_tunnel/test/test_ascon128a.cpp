// SPDX-License-Identifier: Apache-2.0
#include "crypto/ascon128a.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "crypto/kdf.hpp"
#include "hex.hpp"

namespace pqcmav {
namespace {

using test::hex;

ByteArray<16> counting() {
  ByteArray<16> out;
  std::iota(out.begin(), out.end(), std::uint8_t{0});
  return out;
}

Bytes counting(std::size_t size) {
  Bytes out(size);
  std::iota(out.begin(), out.end(), std::uint8_t{0});
  return out;
}

// The known answers of the submission: every message and associated data of 0-32 bytes 00, 01, 02, ...
constexpr std::size_t kLongest = 32;

// LWC_AEAD_KAT_128_128.txt of Ascon-128a v1.2 (NIST lightweight cryptography, final round), made anew byte for byte.
std::string regenerate_kat_file() {
  const auto key = counting(), nonce = counting();
  const Ascon128a cipher(key);
  std::string file;
  int count = 0;
  for (std::size_t message = 0; message <= kLongest; ++message) {
    for (std::size_t associated = 0; associated <= kLongest; ++associated) {
      const auto plain = counting(message), aad = counting(associated);
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

TEST(Ascon128a, RegeneratesTheOfficialKnownAnswerFile) {
  const auto file = regenerate_kat_file();
  EXPECT_EQ(file.size(), 260253u);
  EXPECT_NE(file.find("CT = 7A834E6F09210957067B10FD831F0078\n"), std::string::npos);
  EXPECT_EQ(hex(sha256({as_bytes(file)})), "d453a54fd663316a6223734013dcd2d732e2b1dee0c85391cf6f818000322fd9");
}

TEST(Ascon128a, DecryptsWhatItEncryptedAtEveryLength) {
  const auto key = counting(), nonce = counting();
  const Ascon128a cipher(key);
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

TEST(Ascon128a, RefusesEveryFlippedBitAndWipesTheData) {
  const auto key = counting();
  const Ascon128a cipher(key);
  const auto nonce = counting();
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
