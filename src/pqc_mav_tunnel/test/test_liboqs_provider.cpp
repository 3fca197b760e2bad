// SPDX-License-Identifier: Apache-2.0
// Rows that the liboqs of this process lacks, or has otherwise.
#include <gtest/gtest.h>
#include <openssl/rand.h>

#include <algorithm>

#include "crypto/kem_sig.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using test::expect_error;

constexpr auto kLiboqs = ProviderChoice::liboqs;

std::string lack(const auto& info) { return liboqs_provider().look_up(info).lack; }
std::string name(const auto& info) { return liboqs_provider().look_up(info).name; }

TEST(LiboqsProvider, AllPublishedSuitesAreAvailableWithTheLibraryThisProjectBuilds) {
  if (liboqs_version() != "0.13.0") GTEST_SKIP() << "this is liboqs " << liboqs_version();
  for (const auto& suite : all_suites()) {
    if (!suite.published) continue;
    EXPECT_TRUE(availability(suite).available) << suite.id << ": " << availability(suite).reason;
  }
}

TEST(LiboqsProvider, WhatItLacksItSays) {
  KemInfo info = *find_kem("mlkem768");
  info.oqs_names = {"No-Such-KEM-2", "No-Such-KEM-1"};
  EXPECT_EQ(name(info), "");
  EXPECT_TRUE(lack(info).ends_with("was built without No-Such-KEM-2 or No-Such-KEM-1")) << lack(info);
  expect_error(Errc::suite_unavailable, {"ML-KEM-768 cannot be used", "No-Such-KEM-1"},
               [&] { const Kem kem(info, kLiboqs); });
  SigInfo sig = *find_sig("mldsa65");
  sig.oqs_names = {"No-Such-SIG"};
  expect_error(Errc::suite_unavailable, {"No-Such-SIG"}, [&] { const Sig made(sig, kLiboqs); });
}

TEST(LiboqsProvider, AnotherVersionOfAnAlgorithmIsNotUsed) {
  KemInfo info = *find_kem("mlkem768");
  info.ciphertext += 1;
  expect_error(Errc::suite_unavailable, {"ciphertext has 1088 bytes there and 1089"},
               [&] { const Kem kem(info, kLiboqs); });
  SigInfo sig = *find_sig("mldsa65");
  sig.public_key = 1;
  expect_error(Errc::suite_unavailable, {"public key has 1952 bytes there and 1"},
               [&] { const Sig made(sig, kLiboqs); });
}

TEST(LiboqsProvider, AnOlderNameIsTakenIfTheNewerIsMissingOrAnotherVersion) {
  KemInfo info = *find_kem("mlkem768");
  info.oqs_names = {"No-Such-KEM", "ML-KEM-768"};
  EXPECT_EQ(name(info), "ML-KEM-768");
  info.oqs_names = {"ML-KEM-1024", "ML-KEM-768"};
  EXPECT_EQ(name(info), "ML-KEM-768");
}

// OpenSSL's lock for it is one for all threads: an idle thread that makes keys would hold up handshakes.
TEST(LiboqsProvider, RandomBytesComeFromTheKernelAndNotFromOpenSsl) {
  static int asked = 0;
  const auto count = [](unsigned char* out, int size) { return std::fill_n(out, size, ++asked), 1; };
  const RAND_METHOD method{nullptr, count, nullptr, nullptr, count, [] { return 1; }};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // that is how to ask
  ASSERT_EQ(RAND_set_rand_method(&method), 1);
  const auto pair = Kem(*find_kem("mlkem768"), kLiboqs).keypair();
  const auto key = Sig(*find_sig("mldsa65"), kLiboqs).keypair();
  EXPECT_EQ(RAND_set_rand_method(nullptr), 1);
#pragma GCC diagnostic pop
  EXPECT_EQ(asked, 0);
  const auto first = pair.public_key, second = Kem(*find_kem("mlkem768"), kLiboqs).keypair().public_key;
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace pqcmav
