// SPDX-License-Identifier: Apache-2.0
#include "line/cobs.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "hex.hpp"

namespace pqcmav {
namespace {

using test::unhex;

Bytes encoded(ByteView in) {
  Bytes out(cobs_most(in.size()));
  out.resize(cobs_encode(in, out));
  return out;
}

std::optional<Bytes> decoded(Bytes bytes) {
  const auto size = cobs_decode(bytes);
  if (!size) return std::nullopt;
  bytes.resize(*size);
  return bytes;
}

Bytes from_to(int first, int last) {
  Bytes out(static_cast<std::size_t>(last - first + 1));
  std::iota(out.begin(), out.end(), static_cast<std::uint8_t>(first));
  return out;
}

TEST(Cobs, TheExamplesOfItsAuthors) {
  EXPECT_EQ(encoded({}), unhex("01"));
  EXPECT_EQ(encoded(unhex("00")), unhex("0101"));
  EXPECT_EQ(encoded(unhex("0000")), unhex("010101"));
  EXPECT_EQ(encoded(unhex("11220033")), unhex("0311220233"));
  EXPECT_EQ(encoded(unhex("11000000")), unhex("0211010101"));
  auto full = from_to(1, 254);
  auto expected = full;
  expected.insert(expected.begin(), 0xff);
  expected.push_back(1);
  EXPECT_EQ(encoded(full), expected);
  full.push_back(0xff);
  expected.back() = 2;
  expected.push_back(0xff);
  EXPECT_EQ(encoded(full), expected);
}

TEST(Cobs, AnyBytesComeBackAndCostWhatIsSaid) {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 1200; size += 1 + size / 40) {
    for (const unsigned zeros : {0u, 1u, 2u, 100u}) {  // one in so many
      Bytes in(size);
      for (auto& byte : in)
        byte = zeros != 0 && random() % zeros == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(1 + random() % 255);
      const auto out = encoded(in);
      ASSERT_LE(out.size(), cobs_most(size));
      ASSERT_EQ(std::count(out.begin(), out.end(), 0), 0);
      ASSERT_EQ(decoded(out), in);
    }
  }
  EXPECT_EQ(encoded(Bytes(1000, 7)).size(), cobs_most(1000));
}

TEST(Cobs, WhatIsNoneIsRefused) {
  EXPECT_FALSE(decoded({}));
  EXPECT_FALSE(decoded(unhex("00")));
  EXPECT_FALSE(decoded(unhex("0311")));      // a run over the end
  EXPECT_FALSE(decoded(unhex("03110002")));  // a zero inside
  EXPECT_FALSE(decoded(unhex("ff0102")));
  EXPECT_EQ(decoded(unhex("0311220233")), unhex("11220033"));
}

}  // namespace
}  // namespace pqcmav
