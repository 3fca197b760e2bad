// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the table against the liboqs of this process, through the public interface.
#include "crypto/oqs.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "crypto/kdf.hpp"
#include "crypto/oqs_lookup.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using test::expect_error;

template <typename Info>
std::string test_name(const testing::TestParamInfo<const Info*>& info) {
  return std::string(info.param->token);
}

template <typename Info>
std::vector<const Info*> rows(std::span<const Info> table) {
  std::vector<const Info*> out;
  for (const auto& row : table) out.push_back(&row);
  return out;
}

class EachKem : public testing::TestWithParam<const KemInfo*> {};

TEST_P(EachKem, BothEndsGetTheSameSecretAndGarbageAnother) {
  const auto& info = *GetParam();
  if (resolve(info).empty()) GTEST_SKIP() << look_up(info).reason;
  const Kem kem(info);
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
  const auto& info = *GetParam();
  if (resolve(info).empty()) GTEST_SKIP() << look_up(info).reason;
  const Kem kem(info);
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

INSTANTIATE_TEST_SUITE_P(Table, EachKem, testing::ValuesIn(rows(kems())), test_name<KemInfo>);

class EachSig : public testing::TestWithParam<const SigInfo*> {};

TEST_P(EachSig, VerifiesItsOwnSignatureAndNothingElse) {
  const auto& info = *GetParam();
  if (resolve(info).empty()) GTEST_SKIP() << look_up(info).reason;
  const Sig sig(info);
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

INSTANTIATE_TEST_SUITE_P(Table, EachSig, testing::ValuesIn(rows(sigs())), test_name<SigInfo>);

TEST(Oqs, AllCoreSuitesAreAvailableInTheLibraryThisProjectBuilds) {
  for (const auto& suite : all_suites()) {
    if (!suite.core) continue;
    const auto& state = availability(suite);
    EXPECT_TRUE(state.available) << suite.id << ": " << state.reason;
    EXPECT_EQ(state.kem_name, resolve(*suite.kem));
    EXPECT_EQ(state.sig_name, resolve(*suite.sig));
  }
}

TEST(Oqs, ResolvesToTheLibrarysOwnName) {
  EXPECT_EQ(resolve(*find_kem("mlkem768")), "ML-KEM-768");
  EXPECT_EQ(resolve(*find_sig("mldsa65")), "ML-DSA-65");
  EXPECT_EQ(resolve(*find_kem("classicmceliece8192128")), "Classic-McEliece-8192128");
}

TEST(Oqs, PreflightCoversTheWholeTable) {
  const auto checks = preflight();
  ASSERT_EQ(checks.size(), kems().size() + sigs().size());
  for (const auto& check : checks) {
    EXPECT_EQ(check.available, !check.oqs_name.empty()) << check.token;
    EXPECT_EQ(check.available, check.reason.empty()) << check.token;
    EXPECT_EQ(check.kind, find_kem(check.token) != nullptr ? "KEM" : "SIG");
  }
  EXPECT_FALSE(liboqs_version().empty());
}

TEST(Oqs, AnAlgorithmTheLibraryLacksSaysSo) {
  KemInfo info = *find_kem("mlkem768");
  info.oqs_names = {"No-Such-KEM-2", "No-Such-KEM-1"};
  EXPECT_EQ(resolve(info), "");
  const auto found = look_up(info);
  EXPECT_NE(found.reason.find("without No-Such-KEM-2 or No-Such-KEM-1"), std::string::npos) << found.reason;
  expect_error(Errc::suite_unavailable, {"ML-KEM-768 cannot be used", "No-Such-KEM-1"}, [&] { const Kem kem(info); });
  SigInfo sig = *find_sig("mldsa65");
  sig.oqs_names = {"No-Such-SIG"};
  expect_error(Errc::suite_unavailable, {"No-Such-SIG"}, [&] { const Sig made(sig); });
}

TEST(Oqs, AnotherVersionOfAnAlgorithmIsNotUsed) {
  KemInfo info = *find_kem("mlkem768");
  info.ciphertext += 1;
  expect_error(Errc::suite_unavailable, {"ciphertext has 1088 bytes there and 1089"}, [&] { const Kem kem(info); });
  SigInfo sig = *find_sig("mldsa65");
  sig.public_key = 1;
  expect_error(Errc::suite_unavailable, {"public key has 1952 bytes there and 1"}, [&] { const Sig made(sig); });
}

TEST(Oqs, AnOlderNameIsTakenWhereTheNewerIsMissing) {
  KemInfo info = *find_kem("mlkem768");
  info.oqs_names = {"No-Such-KEM", "ML-KEM-768"};
  EXPECT_EQ(resolve(info), "ML-KEM-768");
  // ... and where the newer one is another version.
  info.oqs_names = {"ML-KEM-1024", "ML-KEM-768"};
  EXPECT_EQ(resolve(info), "ML-KEM-768");
}

TEST(Oqs, ObjectsOfSeveralThreads) {
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
