// SPDX-License-Identifier: Apache-2.0
#include "session/bundle.hpp"

#include <gtest/gtest.h>

#include <random>

#include "hex.hpp"

namespace pqcmav {
namespace {

Bytes bundle_of(const std::vector<Bytes>& datagrams) {
  Bytes out;
  for (const auto& each : datagrams) {
    std::uint8_t prefix[2] = {};
    write_bundle_prefix(each.size(), prefix);
    append(out, ByteView(prefix, bundle_prefix(each.size())));
    append(out, each);
  }
  return out;
}

/// nullopt when it is malformed.
std::optional<std::vector<Bytes>> parsed(Bytes content) {
  BundleParts parts;
  if (!parse_bundle(content, parts)) {
    EXPECT_EQ(parts.count, 0u);
    return std::nullopt;
  }
  std::vector<Bytes> out;
  for (std::size_t i = 0; i < parts.count; ++i) out.emplace_back(parts.items[i].begin(), parts.items[i].end());
  return out;
}

TEST(Bundle, HasTheWrittenForm) {
  EXPECT_EQ(test::hex(bundle_of({{}, {0xaa}, {0xbb, 0xcc}})), "0001aa02bbcc");
  EXPECT_EQ(test::hex(bundle_of({Bytes(127, 1)})).substr(0, 4), "7f01");
  EXPECT_EQ(test::hex(bundle_of({Bytes(128, 1)})).substr(0, 6), "808001");
  EXPECT_EQ(test::hex(bundle_of({Bytes(1432, 1)})).substr(0, 6), "859801");
}

TEST(Bundle, ComesBackAsItWas) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<Bytes> datagrams(1 + random() % kBundleMost);
    for (auto& each : datagrams) each = Bytes(random() % 300, static_cast<std::uint8_t>(random()));
    EXPECT_EQ(parsed(bundle_of(datagrams)), datagrams);
  }
  EXPECT_EQ(parsed(bundle_of({Bytes(kBundleLongest, 7)}))->front().size(), kBundleLongest);
}

TEST(Bundle, IsWholeOrMalformed) {
  EXPECT_FALSE(parsed({}));
  EXPECT_TRUE(parsed(Bytes(64, 0))) << "sixty-four empty ones";
  EXPECT_FALSE(parsed(Bytes(65, 0)));
  EXPECT_FALSE(parsed(test::unhex("80"))) << "half a length";
  auto wide = test::unhex("807f");
  wide.resize(2 + 127);
  EXPECT_FALSE(parsed(wide)) << "one byte would do";
  const auto good = bundle_of({Bytes(40, 1), Bytes(200, 2), Bytes(3, 3)});
  for (std::size_t size = 1; size < good.size(); ++size) {
    const bool between = size == 41 || size == 243;
    EXPECT_EQ(parsed(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))).has_value(), between)
        << size;
  }
}

}  // namespace
}  // namespace pqcmav
