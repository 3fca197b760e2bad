// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the table by every library of this process, and the libraries among each other.
#include "crypto/kem_sig.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <tuple>

#include "crypto/kdf.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using test::expect_error;

/// A row of the table, and the library asked for.
template <typename Info>
using Case = std::tuple<const Info*, const Provider*>;

template <typename Info>
std::string test_name(const testing::TestParamInfo<Case<Info>>& info) {
  return std::string(std::get<0>(info.param)->token) + "_by_" + std::string(std::get<1>(info.param)->name());
}

template <typename Info>
auto every(std::span<const Info> table) {
  std::vector<const Info*> rows;
  for (const auto& row : table) rows.push_back(&row);
  return testing::Combine(testing::ValuesIn(rows), testing::ValuesIn(providers().begin(), providers().end()));
}

ProviderChoice choice_of(const Provider& provider) { return provider_choice_of(provider.name()).value(); }

/// The libraries that have the row.
template <typename Info>
std::vector<ProviderChoice> who_have(const Info& info) {
  std::vector<ProviderChoice> out;
  for (const auto* provider : providers())
    if (!provider->look_up(info).name.empty()) out.push_back(choice_of(*provider));
  return out;
}

class EachKem : public testing::TestWithParam<Case<KemInfo>> {};

TEST_P(EachKem, BothEndsGetTheSameSecretAndGarbageAnother) {
  const auto& info = *std::get<0>(GetParam());
  const auto& provider = *std::get<1>(GetParam());
  if (const auto found = provider.look_up(info); found.name.empty()) GTEST_SKIP() << found.lack;
  const Kem kem(info, choice_of(provider));
  const auto pair = kem.keypair();
  ASSERT_EQ(pair.public_key.size(), info.public_key);
  ASSERT_EQ(pair.secret_key.size(), info.secret_key);
  SecretBytes shared;
  auto ciphertext = kem.encapsulate(pair.public_key, shared);
  ASSERT_EQ(ciphertext.size(), info.ciphertext);
  ASSERT_EQ(shared.size(), info.shared_secret);
  EXPECT_TRUE(constant_time_equal(kem.decapsulate(pair.secret_key, ciphertext).view(), shared.view()));

  SecretBytes second;
  (void)kem.encapsulate(pair.public_key, second);
  EXPECT_FALSE(constant_time_equal(second.view(), shared.view())) << "two encapsulations must differ";

  ciphertext[ciphertext.size() / 2] ^= 1;
  try {
    EXPECT_FALSE(constant_time_equal(kem.decapsulate(pair.secret_key, ciphertext).view(), shared.view()));
  } catch (const TunnelError& error) {
    EXPECT_EQ(error.code(), Errc::crypto);
    EXPECT_EQ(info.family, "HQC") << "the others reject implicitly, by another secret";
  }
}

TEST_P(EachKem, RefusesWrongSizes) {
  const auto& info = *std::get<0>(GetParam());
  const auto& provider = *std::get<1>(GetParam());
  if (const auto found = provider.look_up(info); found.name.empty()) GTEST_SKIP() << found.lack;
  const Kem kem(info, choice_of(provider));
  SecretBytes shared;
  for (const std::size_t size : {std::size_t{0}, info.public_key - 1, info.public_key + 1}) {
    expect_error(Errc::crypto, {std::string(info.display), "public key"},
                 [&] { (void)kem.encapsulate(Bytes(size), shared); });
  }
  EXPECT_TRUE(shared.empty());
  for (const std::size_t size : {std::size_t{0}, info.ciphertext - 1, info.ciphertext + 1}) {
    expect_error(Errc::crypto, {"ciphertext"},
                 [&] { (void)kem.decapsulate(SecretBytes(info.secret_key), Bytes(size)); });
  }
  expect_error(Errc::crypto, {"secret key"},
               [&] { (void)kem.decapsulate(SecretBytes(info.secret_key - 1), Bytes(info.ciphertext)); });
}

INSTANTIATE_TEST_SUITE_P(Table, EachKem, every(kems()), test_name<KemInfo>);

class EachSig : public testing::TestWithParam<Case<SigInfo>> {};

TEST_P(EachSig, VerifiesItsOwnSignatureAndNothingElse) {
  const auto& info = *std::get<0>(GetParam());
  const auto& provider = *std::get<1>(GetParam());
  if (const auto found = provider.look_up(info); found.name.empty()) GTEST_SKIP() << found.lack;
  const Sig sig(info, choice_of(provider));
  const auto pair = sig.keypair(), other = sig.keypair();
  ASSERT_EQ(pair.public_key.size(), info.public_key);
  ASSERT_EQ(pair.secret_key.size(), info.secret_key);
  const auto message = as_bytes("PQMAV/3 server hello");
  const auto signature = sig.sign(pair.secret_key, message);
  ASSERT_LE(signature.size(), info.signature_max);
  ASSERT_GT(signature.size(), info.signature_max / 2);
  EXPECT_TRUE(sig.verify(pair.public_key, message, signature));
  EXPECT_FALSE(sig.verify(other.public_key, message, signature));
  EXPECT_FALSE(sig.verify(pair.public_key, as_bytes("PQMAV/3 server hellp"), signature));
  EXPECT_FALSE(sig.verify(pair.public_key, {}, signature));
  for (const std::size_t at : {std::size_t{0}, signature.size() / 3, signature.size() / 2}) {
    auto changed = signature;
    changed[at] ^= 1;
    EXPECT_FALSE(sig.verify(pair.public_key, message, changed)) << at;
  }
  EXPECT_FALSE(sig.verify(pair.public_key, message, {}));
  EXPECT_FALSE(sig.verify(pair.public_key, message, ByteView(signature).first(signature.size() - 1)));
  EXPECT_FALSE(sig.verify(pair.public_key, message, Bytes(info.signature_max + 1)));
  EXPECT_FALSE(sig.verify(ByteView(pair.public_key).first(info.public_key - 1), message, signature));
  expect_error(Errc::crypto, {std::string(info.display), "secret key"},
               [&] { (void)sig.sign(SecretBytes(info.secret_key + 1), message); });
}

INSTANTIATE_TEST_SUITE_P(Table, EachSig, every(sigs()), test_name<SigInfo>);

// What one library makes the others understand: keys, ciphertexts and signatures.
TEST(Providers, AgreeOnEveryKem) {
  for (const auto& info : kems()) {
    for (const auto makes : who_have(info)) {
      for (const auto answers : who_have(info)) {
        const Kem own(info, makes), other(info, answers);
        const auto pair = own.keypair();
        SecretBytes shared;
        const auto ciphertext = other.encapsulate(pair.public_key, shared);
        EXPECT_TRUE(constant_time_equal(own.decapsulate(pair.secret_key, ciphertext).view(), shared.view()))
            << info.display << " of " << to_string(makes) << " and " << to_string(answers);
        EXPECT_TRUE(constant_time_equal(other.decapsulate(pair.secret_key, ciphertext).view(), shared.view()))
            << info.display << ": a secret key of " << to_string(makes) << " at " << to_string(answers);
      }
    }
  }
}

TEST(Providers, AgreeOnEverySignature) {
  const auto message = as_bytes("PQMAV/3 server hello");
  for (const auto& info : sigs()) {
    for (const auto makes : who_have(info)) {
      const auto pair = Sig(info, makes).keypair();
      for (const auto signs : who_have(info)) {
        const auto signature = Sig(info, signs).sign(pair.secret_key, message);
        for (const auto verifies : who_have(info)) {
          EXPECT_TRUE(Sig(info, verifies).verify(pair.public_key, message, signature))
              << info.display << ": key of " << to_string(makes) << ", signed by " << to_string(signs)
              << ", verified by " << to_string(verifies);
        }
      }
    }
  }
}

TEST(Providers, TheFirstThatHasItComputes) {
  for (const auto& info : kems()) {
    const auto who = who_have(info);
    const auto found = find_provider(info, ProviderChoice::automatic);
    ASSERT_EQ(found.provider == nullptr, who.empty()) << info.display;
    if (who.empty()) continue;
    EXPECT_EQ(choice_of(*found.provider), who.front()) << info.display;
  }
}

TEST(Providers, OneAloneHasNothingOfAnother) {
  const auto& falcon = *find_sig("falcon512");
  EXPECT_EQ(find_provider(falcon, ProviderChoice::openssl).lack, "OpenSSL has no Falcon-512");
  expect_error(Errc::suite_unavailable, {"Falcon-512 cannot be used here", "OpenSSL has no Falcon-512"},
               [&] { const Sig sig(falcon, ProviderChoice::openssl); });
  const auto& state = availability(*find_suite("ML-512-AG-FA-512"), ProviderChoice::openssl);
  EXPECT_FALSE(state.available);
  EXPECT_FALSE(state.reason.empty());
}

TEST(Providers, WhatIsMissingIsToldWithWhoHasIt) {
  EXPECT_EQ(who_has(*find_kem("mlkem768")), "OpenSSL 3.5 and liboqs have it");
  EXPECT_EQ(who_has(*find_sig("slhdsa128s")), "OpenSSL 3.5 and liboqs 0.16 have it");
  EXPECT_EQ(who_has(*find_kem("hqc1")), "liboqs 0.16 has it");
  EXPECT_EQ(who_has(*find_kem("hqc128")), "liboqs 0.13 has it, built as 'make setup' does");
  EXPECT_EQ(who_has(*find_sig("falcon512")), "liboqs has it, built as 'make setup' does");
  for (const auto choice : {ProviderChoice::automatic, ProviderChoice::openssl, ProviderChoice::liboqs}) {
    for (const auto& info : sigs()) {
      const auto found = find_provider(info, choice);
      ASSERT_EQ(found.provider == nullptr, !found.lack.empty()) << info.display;
      EXPECT_EQ(found.reason, found.provider != nullptr ? "" : found.lack + "; " + who_has(info) + ".");
    }
  }
}

TEST(Providers, ALeaseOfAProcessIsOne) {
  EXPECT_EQ(provider_choice(), ProviderChoice::automatic);
  {
    const ProviderLease first(ProviderChoice::openssl), second(ProviderChoice::openssl);
    EXPECT_EQ(provider_choice(), ProviderChoice::openssl);
    expect_error(Errc::config_invalid, {"'provider' is liboqs", "another tunnel of this process has openssl"},
                 [] { const ProviderLease third(ProviderChoice::liboqs); });
    EXPECT_EQ(resolve(*find_sig("falcon512")), "");
  }
  EXPECT_EQ(provider_choice(), ProviderChoice::automatic);
}

TEST(KemSig, ASuiteIsAvailableIfBothItsPartsAre) {
  for (const auto& suite : all_suites()) {
    const auto& state = availability(suite);
    EXPECT_EQ(state.available, !resolve(*suite.kem).empty() && !resolve(*suite.sig).empty()) << suite.id;
    EXPECT_EQ(state.available, !state.kem_by.empty() && !state.sig_by.empty()) << suite.id;
    EXPECT_EQ(state.available, state.reason.empty()) << suite.id;
  }
}

TEST(KemSig, ResolvesToTheNameOnTheWire) {
  EXPECT_EQ(find_sig("sphincs128s")->name, "SPHINCS+-SHA2-128s-simple");
  EXPECT_EQ(resolve(*find_kem("mlkem768")), "ML-KEM-768");
  EXPECT_EQ(resolve(*find_sig("mldsa65")), "ML-DSA-65");
}

TEST(KemSig, PreflightCoversTheWholeTable) {
  const auto checks = preflight();
  ASSERT_EQ(checks.size(), kems().size() + sigs().size());
  for (const auto& check : checks) {
    EXPECT_EQ(check.available, !check.name.empty()) << check.token;
    EXPECT_EQ(check.available, !check.by.empty()) << check.token;
    EXPECT_EQ(check.available, check.reason.empty()) << check.token;
    EXPECT_EQ(check.kind, find_kem(check.token) != nullptr ? "KEM" : "SIG");
  }
  EXPECT_FALSE(liboqs_version().empty());
}

TEST(KemSig, ObjectsOfSeveralThreads) {
  std::vector<std::thread> threads;
  std::array<bool, 4> agreed{};
  for (auto& ok : agreed) {
    threads.emplace_back([&ok] {
      const Kem kem(*find_kem("mlkem512"));
      ok = true;
      for (int i = 0; i < 50; ++i) {
        const auto pair = kem.keypair();
        SecretBytes shared;
        const auto ciphertext = kem.encapsulate(pair.public_key, shared);
        ok = ok && constant_time_equal(kem.decapsulate(pair.secret_key, ciphertext).view(), shared.view());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const bool ok : agreed) EXPECT_TRUE(ok);
}

}  // namespace
}  // namespace pqcmav
