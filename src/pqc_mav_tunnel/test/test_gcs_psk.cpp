// SPDX-License-Identifier: Apache-2.0
#include "keys/gcs_psk.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "crypto/kdf.hpp"
#include "hex.hpp"

namespace pqcmav {
namespace {

Psk filled(std::uint8_t value) {
  ByteArray<32> bytes;
  bytes.fill(value);
  return Psk(std::span<const std::uint8_t, 32>(bytes));
}

TEST(GcsPsk, IsOneBlockOfHkdfExpandOverLabelAndId) {
  // HKDF-Expand of 32 bytes is HMAC(key, info || 1) (RFC 5869 section 2.3).
  for (const std::string id : {"gcs", "north", "a", "0123456789abcdef0123456789abcdef"}) {
    const auto expected = hmac_sha256(filled(7).view(), {as_bytes("PQMAV/3 gcs" + id), Bytes{1}});
    EXPECT_EQ(test::hex(psk_of_gcs(filled(7), id).view()), test::hex(expected)) << id;
  }
}

TEST(GcsPsk, StationsAndDronesHaveDifferentOnes) {
  std::set<std::string> seen;
  for (const std::uint8_t drone : {1, 2, 3}) {
    seen.insert(test::hex(filled(drone).view()));
    for (const std::string_view id : {"gcs", "gcs1", "gcs-", "north", "south", "g"})
      EXPECT_TRUE(seen.insert(test::hex(psk_of_gcs(filled(drone), id).view())).second) << id;
  }
  EXPECT_EQ(seen.size(), 3u * 7u) << "nor is one of them the drone's own";
}

TEST(GcsPsk, IsTheSameEachTime) {
  EXPECT_EQ(test::hex(psk_of_gcs(filled(1), "gcs").view()), test::hex(psk_of_gcs(filled(1), "gcs").view()));
}

}  // namespace
}  // namespace pqcmav
