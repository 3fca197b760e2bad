// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/suites.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using Strings = std::vector<std::string>;

TEST(Suites, CountsPerLevel) {
  std::map<int, int> core, extended, all, standard;
  for (const auto& suite : all_suites()) {
    ++all[suite.level];
    if (suite.published) ++extended[suite.level];
    if (suite.core) ++core[suite.level];
    if (suite.standard()) ++standard[suite.level];
  }
  EXPECT_EQ(core, (std::map<int, int>{{1, 27}, {3, 18}, {5, 27}}));
  EXPECT_EQ(extended, (std::map<int, int>{{1, 48}, {3, 36}, {5, 48}}));
  EXPECT_EQ(all, (std::map<int, int>{{1, 84}, {3, 66}, {5, 84}}));
  EXPECT_EQ(standard, (std::map<int, int>{{1, 9}, {3, 9}, {5, 9}}));
  EXPECT_EQ(suites_in(SuiteView::core).size(), 72u);
  EXPECT_EQ(suites_in(SuiteView::extended).size(), 132u);
  EXPECT_EQ(suites_in(SuiteView::campaign_2025).size(), 30u);
  EXPECT_EQ(suites_in(SuiteView::standard).size(), 27u);
  EXPECT_EQ(suites_in(SuiteView::all).size(), all_suites().size());
}

TEST(Suites, NoneHasASupersededAlgorithmBesideALaterOne) {
  for (const auto& suite : all_suites()) {
    const std::set<Edition> editions{suite.kem->edition, suite.sig->edition, suite.aead->edition};
    EXPECT_FALSE(editions.contains(Edition::superseded) && editions.contains(Edition::later)) << suite.id;
    EXPECT_EQ(suite.published, !editions.contains(Edition::later)) << suite.id;
    EXPECT_TRUE(suite.published || !(suite.core || suite.campaign_2025)) << suite.id;
  }
}

TEST(Suites, KemAndSignatureHaveTheSameLevel) {
  for (const auto& suite : all_suites()) {
    EXPECT_EQ(suite.kem->level, suite.level) << suite.id;
    EXPECT_EQ(suite.sig->level, suite.level) << suite.id;
  }
}

TEST(Suites, EveryNameIsUnique) {
  std::set<std::string> ids, codes;
  std::set<std::array<std::uint8_t, 5>> wire;
  for (const auto& suite : all_suites()) {
    EXPECT_TRUE(ids.insert(suite.id).second) << suite.id;
    EXPECT_TRUE(codes.insert(suite.short_code).second) << suite.short_code;
    const auto w = suite.wire_ids();
    EXPECT_TRUE(wire.insert({w[0], w[1], w[2], w[3], static_cast<std::uint8_t>(suite.aead->id)}).second) << suite.id;
  }
  std::set<std::pair<int, int>> kem_ids, sig_ids;
  for (const auto& kem : kems()) EXPECT_TRUE(kem_ids.insert({kem.family_id, kem.param_id}).second) << kem.token;
  for (const auto& sig : sigs()) EXPECT_TRUE(sig_ids.insert({sig.family_id, sig.param_id}).second) << sig.token;
}

TEST(Suites, FixedOrder) {
  const auto all = all_suites();
  EXPECT_EQ(all.front().id, "cs-mlkem512-aesgcm-mldsa44");
  EXPECT_EQ(all.back().id, "cs-hqc5-asconaead128-slhdsa256f");
  const auto rank = [](const Suite& suite) {
    return std::tuple(suite.level, suite.kem - kems().data(), suite.sig - sigs().data(), suite.aead - aeads().data());
  };
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, rank));
}

TEST(Suites, CannotBeChanged) {
  static_assert(std::is_same_v<decltype(all_suites()), std::span<const Suite>>);
  static_assert(std::is_same_v<decltype(kems()), std::span<const KemInfo>>);
  // A view, too: the objects are those of the table.
  static_assert(std::is_same_v<decltype(suites_in(SuiteView::core))::value_type, const Suite*>);
  for (const auto* suite : suites_in(SuiteView::core)) EXPECT_EQ(suite, find_suite(suite->id));
}

TEST(Suites, WireNumbersOfTheProtocol) {
  using Ids = std::array<std::uint8_t, 4>;
  const std::pair<const char*, Ids> expected[] = {
      {"cs-mlkem512-aesgcm-mldsa44", {1, 1, 1, 1}},
      {"cs-mlkem768-aesgcm-mldsa65", {1, 2, 1, 2}},
      {"cs-mlkem1024-aesgcm-mldsa87", {1, 3, 1, 3}},
      {"cs-hqc128-aesgcm-falcon512", {2, 1, 2, 1}},
      {"cs-hqc256-aesgcm-falcon1024", {2, 3, 2, 2}},
      {"cs-hqc192-aesgcm-sphincs192s", {2, 2, 3, 2}},
      {"cs-classicmceliece348864-aesgcm-sphincs128s", {3, 1, 3, 1}},
      {"cs-classicmceliece460896-aesgcm-sphincs192fsha2", {3, 2, 3, 5}},
      {"cs-classicmceliece8192128-aesgcm-sphincs256s", {3, 3, 3, 3}},
      {"cs-frodokem640aes-aesgcm-sphincs128fsha2", {4, 1, 3, 4}},
      {"cs-frodokem976aes-aesgcm-mldsa65", {4, 2, 1, 2}},
      {"cs-frodokem1344aes-aesgcm-sphincs256fsha2", {4, 3, 3, 6}},
  };
  for (const auto& [id, ids] : expected) {
    ASSERT_NE(find_suite(id), nullptr) << id;
    EXPECT_EQ(find_suite(id)->wire_ids(), ids) << id;
  }
}

// The thirty suites measured in October 2025, with the short codes used in its figures.
const std::pair<const char*, const char*> kCampaign[] = {
    {"cs-classicmceliece348864-aesgcm-sphincs128fsha2", "MC-348-AG-SP-128f"},
    {"cs-classicmceliece348864-chacha20poly1305-sphincs128fsha2", "MC-348-CP-SP-128f"},
    {"cs-classicmceliece460896-aesgcm-mldsa65", "MC-460-AG-MD-65"},
    {"cs-classicmceliece460896-chacha20poly1305-mldsa65", "MC-460-CP-MD-65"},
    {"cs-classicmceliece8192128-aesgcm-sphincs256fsha2", "MC-8192-AG-SP-256f"},
    {"cs-classicmceliece8192128-chacha20poly1305-sphincs256fsha2", "MC-8192-CP-SP-256f"},
    {"cs-frodokem640aes-aesgcm-mldsa44", "FR-640A-AG-MD-44"},
    {"cs-frodokem640aes-chacha20poly1305-mldsa44", "FR-640A-CP-MD-44"},
    {"cs-frodokem976aes-aesgcm-mldsa65", "FR-976A-AG-MD-65"},
    {"cs-frodokem976aes-chacha20poly1305-mldsa65", "FR-976A-CP-MD-65"},
    {"cs-hqc128-aesgcm-falcon512", "HQC-128-AG-FA-512"},
    {"cs-hqc128-chacha20poly1305-falcon512", "HQC-128-CP-FA-512"},
    {"cs-hqc192-aesgcm-mldsa65", "HQC-192-AG-MD-65"},
    {"cs-hqc192-chacha20poly1305-mldsa65", "HQC-192-CP-MD-65"},
    {"cs-hqc256-aesgcm-mldsa87", "HQC-256-AG-MD-87"},
    {"cs-hqc256-chacha20poly1305-mldsa87", "HQC-256-CP-MD-87"},
    {"cs-mlkem1024-aesgcm-falcon1024", "ML-1024-AG-FA-1024"},
    {"cs-mlkem1024-aesgcm-mldsa87", "ML-1024-AG-MD-87"},
    {"cs-mlkem1024-aesgcm-sphincs256fsha2", "ML-1024-AG-SP-256f"},
    {"cs-mlkem1024-chacha20poly1305-falcon1024", "ML-1024-CP-FA-1024"},
    {"cs-mlkem1024-chacha20poly1305-mldsa87", "ML-1024-CP-MD-87"},
    {"cs-mlkem1024-chacha20poly1305-sphincs256fsha2", "ML-1024-CP-SP-256f"},
    {"cs-mlkem512-aesgcm-falcon512", "ML-512-AG-FA-512"},
    {"cs-mlkem512-aesgcm-mldsa44", "ML-512-AG-MD-44"},
    {"cs-mlkem512-aesgcm-sphincs128fsha2", "ML-512-AG-SP-128f"},
    {"cs-mlkem512-chacha20poly1305-falcon512", "ML-512-CP-FA-512"},
    {"cs-mlkem512-chacha20poly1305-mldsa44", "ML-512-CP-MD-44"},
    {"cs-mlkem512-chacha20poly1305-sphincs128fsha2", "ML-512-CP-SP-128f"},
    {"cs-mlkem768-aesgcm-mldsa65", "ML-768-AG-MD-65"},
    {"cs-mlkem768-chacha20poly1305-mldsa65", "ML-768-CP-MD-65"},
};

TEST(Suites, CampaignViewIsTheMeasuredThirty) {
  std::map<std::string, std::string> expected(std::begin(kCampaign), std::end(kCampaign)), actual;
  ASSERT_EQ(expected.size(), 30u);
  for (const auto* suite : suites_in(SuiteView::campaign_2025)) actual[suite->id] = suite->short_code;
  EXPECT_EQ(actual, expected);
}

TEST(Suites, FoundByIdOrShortCodeWithoutRegardToCase) {
  for (const auto& suite : all_suites()) {
    auto upper = suite.id, code = suite.short_code;
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    std::ranges::transform(code, code.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_EQ(find_suite(suite.id), &suite);
    EXPECT_EQ(find_suite(upper), &suite);
    EXPECT_EQ(find_suite(suite.short_code), &suite);
    EXPECT_EQ(find_suite(code), &suite);
  }
  for (const auto& text :
       {std::string(), std::string("cs-mlkem768-aesgcm"), std::string("cs-mlkem768-aesgcm-mldsa65 "),
        std::string("cs-mlkem768-aesgcm-mldsa44"), std::string(1'000'000, 'x'), std::string("ml-768-ag-md-65\0", 16)}) {
    EXPECT_EQ(find_suite(text), nullptr);
  }
  ASSERT_NE(find_suite(kDefaultSuite), nullptr);
  EXPECT_TRUE(find_suite(kDefaultSuite)->core);
}

TEST(Suites, ClosestMatches) {
  EXPECT_EQ(closest_suites("cs-mlkem768-aesgcm-mldsa66").front(), "cs-mlkem768-aesgcm-mldsa65");
  EXPECT_EQ(closest_suites("ml-768-as-md65").front(), "cs-mlkem768-ascon128a-mldsa65");
  EXPECT_EQ(closest_suites("CS-HQC128-AESGCM-FALCON51").front(), "cs-hqc128-aesgcm-falcon512");
  EXPECT_EQ(closest_suites("Falcon", 1000).size(), 36u);
  EXPECT_EQ(closest_suites("mlkem", 2).size(), 2u);
}

TEST(Suites, APartOfANameSuggestsThoseThatHaveIt) {
  for (const auto* text : {"ML-768", "ML-KEM-768", "mlkem768", "cs-mlkem768"}) {
    const auto found = closest_suites(text);
    EXPECT_EQ(found.size(), 3u) << text;
    for (const auto& id : found) EXPECT_TRUE(id.starts_with("cs-mlkem768-")) << text << " suggests " << id;
  }
}

TEST(Suites, NonsenseSuggestsNothing) {
  for (const std::string text : {"RSA", "x", "", "---", "none", "cs-nonsense", "ECDSA-256"}) {
    EXPECT_TRUE(closest_suites(text).empty()) << text;
  }
  EXPECT_TRUE(closest_suites(std::string(1'000'000, 'x')).empty());
  test::expect_error(Errc::suite_unknown, {"There is no suite \"RSA\"; 'pqcmav suites' lists all."},
                     [] { require_suite("RSA"); });
}

TEST(Suites, UnknownSuiteNamesTheClosest) {
  test::expect_error(Errc::suite_unknown, {"\"cs-mlkem768-aesgcm-mldsa56\"", "cs-mlkem768-aesgcm-mldsa65"},
                     [] { require_suite("cs-mlkem768-aesgcm-mldsa56"); });
  test::expect_error(Errc::suite_unknown, {"\"a\\nb\\x1b\""}, [] { require_suite("a\nb\x1b"); });
  EXPECT_EQ(&require_suite("ML-768-AG-MD-65"), find_suite(kDefaultSuite));
}

TEST(Suites, SizesOfTheStandards) {
  // Public keys and signatures as published with the registry; FIPS 203 and 204 for ML-KEM and ML-DSA.
  const std::map<std::string_view, std::size_t> public_keys{{"mlkem512", 800},
                                                            {"mlkem768", 1184},
                                                            {"mlkem1024", 1568},
                                                            {"hqc128", 2249},
                                                            {"hqc192", 4522},
                                                            {"hqc256", 7245},
                                                            {"classicmceliece348864", 261120},
                                                            {"classicmceliece460896", 524160},
                                                            {"classicmceliece8192128", 1357824}};
  for (const auto& [token, size] : public_keys) EXPECT_EQ(find_kem(token)->public_key, size) << token;
  const std::map<std::string_view, std::size_t> signatures{
      {"mldsa44", 2420},          {"mldsa65", 3309},          {"mldsa87", 4627},
      {"sphincs128s", 7856},      {"sphincs192s", 16224},     {"sphincs256s", 29792},
      {"sphincs128fsha2", 17088}, {"sphincs192fsha2", 35664}, {"sphincs256fsha2", 49856}};
  for (const auto& [token, size] : signatures) EXPECT_EQ(find_sig(token)->signature_max, size) << token;
  for (const auto& aead : aeads()) {
    EXPECT_EQ(aead.tag, 16u);
    const bool ascon = aead.id == AeadId::ascon128a || aead.id == AeadId::ascon_aead128;
    EXPECT_EQ(aead.key, ascon ? 16u : 32u);
    EXPECT_EQ(aead.nonce, ascon ? 16u : 12u);
  }
}

TEST(Suites, TokensAreExact) {
  EXPECT_EQ(find_kem("mlkem768")->display, "ML-KEM-768");
  EXPECT_EQ(find_sig("falcon512")->display, "Falcon-512");
  for (const auto* token : {"", "MLKEM768", "mlkem", "mlkem7680"}) EXPECT_EQ(find_kem(token), nullptr) << token;
  for (const auto* token : {"", "Falcon512", "falcon", "mlkem768"}) EXPECT_EQ(find_sig(token), nullptr) << token;
}

}  // namespace
}  // namespace pqcmav
