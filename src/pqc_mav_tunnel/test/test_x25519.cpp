// SPDX-License-Identifier: Apache-2.0
#include "crypto/x25519.hpp"

#include <gtest/gtest.h>

#include "hex.hpp"

namespace pqcmav {
namespace {

using test::hex;
using test::unhex_array;

std::string shared(const X25519& own, std::string_view peer) {
  Secret<32> out;
  return own.derive(unhex_array<32>(peer), out) ? hex(out.view()) : "refused";
}

TEST(X25519, Rfc7748Section52) {
  const X25519 first(unhex_array<32>("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"));
  EXPECT_EQ(shared(first, "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"),
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
  const X25519 second(unhex_array<32>("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d"));
  EXPECT_EQ(shared(second, "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493"),
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957");
}

TEST(X25519, Rfc7748Section52Iterated) {
  auto k = unhex_array<32>("0900000000000000000000000000000000000000000000000000000000000000"), u = k;
  for (int i = 1; i <= 1000; ++i) {
    Secret<32> out;
    ASSERT_TRUE(X25519(k).derive(u, out));
    u = k;
    std::copy(out.view().begin(), out.view().end(), k.begin());
    if (i == 1) {
      EXPECT_EQ(hex(k), "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079");
    }
  }
  EXPECT_EQ(hex(k), "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
}

TEST(X25519, Rfc7748Section61) {
  const X25519 alice(unhex_array<32>("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"));
  const X25519 bob(unhex_array<32>("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"));
  EXPECT_EQ(hex(alice.public_key()), "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
  EXPECT_EQ(hex(bob.public_key()), "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
  EXPECT_EQ(shared(alice, hex(bob.public_key())), "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
  EXPECT_EQ(shared(bob, hex(alice.public_key())), "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
}

TEST(X25519, FreshKeysAgreeAndDiffer) {
  const X25519 one, two, three;
  EXPECT_NE(one.public_key(), two.public_key());
  EXPECT_EQ(shared(one, hex(two.public_key())), shared(two, hex(one.public_key())));
  EXPECT_NE(shared(one, hex(two.public_key())), shared(one, hex(three.public_key())));
}

TEST(X25519, RefusesPeersOfLowOrder) {
  // The points of small order on the curve and its twist (RFC 7748, section 7), some also in a form not reduced modulo
  // p.
  const X25519 own;
  for (const auto* peer : {"0000000000000000000000000000000000000000000000000000000000000000",
                           "0100000000000000000000000000000000000000000000000000000000000000",
                           "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                           "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
                           "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                           "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                           "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"}) {
    Secret<32> out(unhex_array<32>("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"));
    EXPECT_FALSE(own.derive(unhex_array<32>(peer), out)) << peer;
    EXPECT_EQ(hex(out.view()), std::string(64, '0')) << "a refused result must not linger";
  }
}

TEST(X25519, AKeyCanBeMovedAndUsedAgain) {
  X25519 first(unhex_array<32>("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"));
  const X25519 moved = std::move(first);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(shared(moved, "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"),
              "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
  }
}

}  // namespace
}  // namespace pqcmav
