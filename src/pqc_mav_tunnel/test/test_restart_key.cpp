// SPDX-License-Identifier: Apache-2.0
#include "handshake/restart_key.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "crypto/kdf.hpp"
#include "hex.hpp"

namespace pqcmav {
namespace {

using test::hex;
using Proof = RestartKey::Proof;

constexpr ByteArray<16> kDrone{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7};
constexpr std::uint32_t kIssued = 57000;

RestartKey counting_restart_key() {
  Secret<32> key;
  std::iota(key.mut().begin(), key.mut().end(), std::uint8_t{0});
  return RestartKey(std::move(key));
}
RestartKey random_key() {
  Secret<32> key;
  random_bytes(key.mut());
  return RestartKey(std::move(key));
}

/// What a drone puts together from TLV 33.
struct Hello {
  Bytes prefix, proof;
};
Hello hello_with(const RestartKey::Return& granted, std::string_view start = "M1 up to here") {
  Hello out;
  out.prefix.reserve(64);
  out.proof.reserve(64);
  append(out.prefix, as_bytes(start));
  append(out.proof, return_proof_prefix(granted.serial, granted.address_tag));
  append(out.prefix, out.proof);
  append(out.proof, return_mac(granted.return_key, out.prefix));
  return out;
}

// The expected bytes were computed from the design page with another HMAC.
TEST(RestartKey, TheBytesAreTheDocumentedOnes) {
  const auto key = counting_restart_key();
  EXPECT_EQ(hex(key.token({0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7})), "68480ce9d753f1006bf0005b023e7798");
  const auto granted = key.make_return("alpha", kDrone, kIssued);
  EXPECT_EQ(granted.serial, kIssued);
  EXPECT_EQ(hex(granted.address_tag), "19b86b6d6d105996");
  EXPECT_EQ(hex(granted.return_key.view()), "5c69fb9be11b791661ae9e2dd966ba0d735e2c1c1323b421283b326fb1a7fd7d");
  EXPECT_EQ(hex(hello_with(granted).proof),
            "0000dea8"
            "19b86b6d6d105996"
            "6bcf2941fb71f2bd6ab4f7eda09cdc08");
}

TEST(RestartKey, ATokenBelongsToOneSessionAndKey) {
  const auto key = random_key(), other = random_key();
  EXPECT_EQ(key.token({1}), key.token({1}));
  EXPECT_NE(key.token({1}), key.token({2}));
  EXPECT_NE(key.token({1}), other.token({1}));
}

TEST(ReturnProof, ShowsTheDroneAndFromTheSameAddressThatToo) {
  const auto key = random_key();
  const auto hello = hello_with(key.make_return("alpha", kDrone, kIssued));
  EXPECT_EQ(key.check(hello.proof, "alpha", kDrone, hello.prefix, kIssued), Proof::drone_and_address);
  for (std::size_t i = 0; i < kDrone.size(); ++i) {
    auto moved = kDrone;
    moved[i] ^= 0x80;
    EXPECT_EQ(key.check(hello.proof, "alpha", moved, hello.prefix, kIssued), Proof::drone) << i;
  }
}

TEST(ReturnProof, IsBadForAnotherDroneKeyOrM1) {
  const auto key = random_key();
  const auto hello = hello_with(key.make_return("alpha", kDrone, kIssued));
  EXPECT_EQ(key.check(hello.proof, "bravo", kDrone, hello.prefix, kIssued), Proof::bad);
  EXPECT_EQ(random_key().check(hello.proof, "alpha", kDrone, hello.prefix, kIssued), Proof::bad);
  auto other_m1 = hello.prefix;
  other_m1[0] ^= 1;
  EXPECT_EQ(key.check(hello.proof, "alpha", kDrone, other_m1, kIssued), Proof::bad);
}

TEST(ReturnProof, EveryBitAndTheLengthCount) {
  const auto key = random_key();
  const auto hello = hello_with(key.make_return("alpha", kDrone, kIssued));
  ASSERT_EQ(hello.proof.size(), 28u);
  for (std::size_t bit = 0; bit < 8 * hello.proof.size(); ++bit) {
    auto bent = hello.proof;
    bent[bit / 8] = static_cast<std::uint8_t>(bent[bit / 8] ^ 1 << bit % 8);
    EXPECT_EQ(key.check(bent, "alpha", kDrone, hello.prefix, kIssued), Proof::bad) << bit;
    // Also where M1 has the same bit bent.
    auto prefix = hello.prefix;
    std::copy_n(bent.begin(), kReturnProofPrefix, prefix.end() - kReturnProofPrefix);
    EXPECT_EQ(key.check(bent, "alpha", kDrone, prefix, kIssued), Proof::bad) << bit;
  }
  for (std::size_t size = 0; size < hello.proof.size(); ++size)
    EXPECT_EQ(key.check(ByteView(hello.proof).first(size), "alpha", kDrone, hello.prefix, kIssued), Proof::bad);
  auto longer = hello.proof;
  longer.push_back(0);
  EXPECT_EQ(key.check(longer, "alpha", kDrone, hello.prefix, kIssued), Proof::bad);
  EXPECT_EQ(key.check(hello.proof, "alpha", kDrone, {}, kIssued), Proof::bad);
}

TEST(ReturnProof, IsGoodWithinAWeekInEitherDirection) {
  const auto key = random_key();
  const auto check = [&](std::uint32_t serial, std::uint32_t now) {
    const auto hello = hello_with(key.make_return("alpha", kDrone, serial));
    return key.check(hello.proof, "alpha", kDrone, hello.prefix, now);
  };
  EXPECT_EQ(check(kIssued, kIssued + 168), Proof::drone_and_address);
  EXPECT_EQ(check(kIssued, kIssued + 169), Proof::bad);
  EXPECT_EQ(check(kIssued, kIssued - 168), Proof::drone_and_address);
  EXPECT_EQ(check(kIssued, kIssued - 169), Proof::bad);
  EXPECT_EQ(check(0, 0), Proof::drone_and_address);  // a clock that was never set
  EXPECT_EQ(check(0xffffffff, 0), Proof::bad);
  EXPECT_EQ(check(0, 0xffffffff), Proof::bad);
}

TEST(ReturnProof, TheSerialCountsHoursSince2020) {
  EXPECT_EQ(serial_at(1'577'836'800), 0u);
  EXPECT_EQ(serial_at(1'577'836'800 + 3599), 0u);
  EXPECT_EQ(serial_at(1'577'836'800 + 3600), 1u);
  EXPECT_EQ(serial_at(1'577'836'799), 0u);
  EXPECT_EQ(serial_at(0), 0u);
  EXPECT_EQ(serial_at(-5), 0u);
  EXPECT_EQ(serial_at(std::numeric_limits<std::int64_t>::max()), 0u);
  EXPECT_GT(serial_now(), 52'000u);  // 2025-12
}

}  // namespace
}  // namespace pqcmav
