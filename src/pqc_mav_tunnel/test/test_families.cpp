// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/families.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

TEST(Families, AreWhatAlgorithmsRestOn) {
  const auto lattices = Families::named("Lattices"), codes = Families::named("codes"),
             hashes = Families::named("hashes");
  for (const auto& each : all_suites()) {
    const auto kem = each.kem->family, sig = each.sig->family;
    EXPECT_EQ(lattices.has(each), kem == "ML-KEM" || kem == "FrodoKEM" || sig == "ML-DSA" || sig == "Falcon")
        << each.id;
    EXPECT_EQ(codes.has(each), kem == "HQC" || kem == "Classic-McEliece") << each.id;
    EXPECT_EQ(hashes.has(each), sig == "SPHINCS+" || sig == "SLH-DSA") << each.id;
  }
  EXPECT_TRUE(lattices.leaves_a_suite());
  EXPECT_FALSE(Families::of({"lattices", "codes"}).leaves_a_suite()) << "no KEM";
  EXPECT_FALSE(Families::of({"lattices", "hashes"}).leaves_a_suite()) << "no signature";
  EXPECT_FALSE(Families().has(*find_suite(kDefaultSuite)));
}

TEST(Families, AreLevelsToo) {
  const auto below_three = Families::named("Level1"), below_five = Families::of({"level1", "level3"});
  for (const auto& each : all_suites()) {
    EXPECT_EQ(below_three.has(each), each.level == 1) << each.id;
    EXPECT_EQ(below_five.has(each), each.level != 5) << each.id;
  }
  EXPECT_TRUE(below_five.leaves_a_suite());
  EXPECT_FALSE(Families::of({"level1", "level3", "lattices", "codes"}).leaves_a_suite());
  EXPECT_EQ(successors(*find_suite("ML-512-AG-MD-44"), 1, below_three).front()->short_code, "ML-768-AG-MD-65");
}

/// docs/protocol.md section 4.
TEST(Families, HaveTheirBitsOnTheWire) {
  EXPECT_EQ(Families::named("ml-kem").bits(), 0x0001);
  EXPECT_EQ(Families::named("HQC").bits(), 0x0012) << "both submissions";
  EXPECT_EQ(Families::named("Classic-McEliece").bits(), 0x0004);
  EXPECT_EQ(Families::named("FrodoKEM").bits(), 0x0008);
  EXPECT_EQ(Families::named("ML-DSA").bits(), 0x0100);
  EXPECT_EQ(Families::named("Falcon").bits(), 0x0200);
  EXPECT_EQ(Families::named("SPHINCS+").bits(), 0x0400);
  EXPECT_EQ(Families::named("SLH-DSA").bits(), 0x0800);
  EXPECT_EQ(Families::named("level1").bits(), 0x4000);
  EXPECT_EQ(Families::named("level3").bits(), 0x8000);
}

TEST(Families, AreToldInTheFewestNames) {
  EXPECT_EQ(Families().text(), "");
  EXPECT_EQ(Families::named("lattices").text(), "lattices");
  EXPECT_EQ(Families::of({"hqc", "lattices"}).text(), "lattices, HQC");
  EXPECT_EQ(Families::of({"ml-kem", "frodokem", "ml-dsa", "falcon"}).text(), "lattices");
  EXPECT_EQ(Families::of({"falcon"}).text(), "Falcon");
  EXPECT_EQ(Families::of({"level3", "falcon", "level1"}).text(), "Falcon, level1, level3");
  EXPECT_EQ(Families(0x30E0).text(), "") << "families that this program does not know";
}

TEST(Families, OneThatDoesNotExistIsRefusedWithThoseThatDo) {
  try {
    (void)Families::named("lettuce");
    FAIL();
  } catch (const TunnelError& error) {
    EXPECT_EQ(error.code(), Errc::config_invalid);
    const std::string text = error.what();
    EXPECT_NE(text.find("'lettuce'"), std::string::npos) << text;
    for (const auto* name : {"lattices", "codes", "hashes", "ML-KEM", "Falcon", "level1"})
      EXPECT_NE(text.find(name), std::string::npos) << text;
  }
}

TEST(Successors, KeepLevelAndCipherAndAreShort) {
  const auto& from = *find_suite("ML-768-CP-MD-65");
  const auto found = successors(from, 3, Families::named("lattices"));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front()->short_code, "HQC-3-CP-SL-192s");
  for (const auto* each : found) {
    EXPECT_GE(each->level, 3);
    EXPECT_FALSE(Families::named("lattices").has(*each)) << each->id;
  }
  const auto bytes = [](const Suite* each) {
    return each->kem->public_key + each->kem->ciphertext + each->sig->signature_max;
  };
  const auto ends = std::ranges::find_if(found, [&](const auto* each) {
    return each->level != 3 || each->aead != from.aead || each->kem->edition == Edition::superseded ||
           each->sig->edition == Edition::superseded;
  });
  EXPECT_GT(ends - found.begin(), 2);
  EXPECT_TRUE(std::is_sorted(found.begin(), ends, [&](auto* a, auto* b) { return bytes(a) < bytes(b); }));
}

TEST(Successors, GoUpAndNeverBelowTheLowest) {
  const auto& from = *find_suite("ML-768-AG-MD-65");
  std::vector<int> levels;
  for (const auto* each : successors(from, 3, Families::named("Falcon")))
    if (levels.empty() || levels.back() != each->level) levels.push_back(each->level);
  EXPECT_EQ(levels, (std::vector<int>{3, 5}));
  EXPECT_EQ(successors(*find_suite("ML-512-AG-FA-512"), 1, Families::named("Falcon")).front()->short_code,
            "ML-512-AG-MD-44");
  EXPECT_TRUE(successors(from, 1, Families::of({"lattices", "codes"})).empty());
}

}  // namespace
}  // namespace pqcmav
