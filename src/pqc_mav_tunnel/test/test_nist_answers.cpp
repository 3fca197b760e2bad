// SPDX-License-Identifier: Apache-2.0
// NIST's known answers by OpenSSL, which takes what the standards draw at random as parameters, and those that need none
// by every library.
#include <openssl/params.h>

#include "crypto/openssl_handles.hpp"
#include "nist_answers.hpp"

namespace pqcmav::test {
namespace {

TEST(NistAnswers, DecapsulationByEveryLibrary) {
  const auto count = each("decapsulate", [](const std::string& token, const VectorSection& given) {
    const auto& info = *find_kem(token);
    for (const auto by : {ProviderChoice::openssl, ProviderChoice::liboqs}) {
      if (!here(info, by)) continue;
      const SecretBytes secret_key{ByteView(given.bytes("secret_key"))};
      const auto shared = Kem(info, by).decapsulate(secret_key, given.bytes("ciphertext"));
      EXPECT_EQ(hex(shared.view()), given.text("shared")) << to_string(by);
    }
  });
  EXPECT_EQ(count, 6);
}

bool openssl_has(const std::string& token) {
  const auto* kem = find_kem(token);
  const auto* sig = find_sig(token);
  return kem != nullptr ? here(*kem, ProviderChoice::openssl) : here(*sig, ProviderChoice::openssl);
}
std::string openssl_name(const std::string& token) {
  const auto* kem = find_kem(token);
  return std::string(kem != nullptr ? kem->name : find_sig(token)->name);
}

/// Asks each answer of a kind whose algorithm OpenSSL has; returns how many.
template <typename Ask>
int by_openssl(const std::string& kind, Ask&& ask) {
  int count = 0;
  each(kind, [&](const std::string& token, const VectorSection& given) {
    if (!openssl_has(token)) return;
    ask(token, given);
    ++count;
  });
  return count;
}

/// A key of OpenSSL by its raw bytes.
EvpPkeyHandle raw_key(const std::string& token, ByteView key, bool secret) {
  const auto make = secret ? EVP_PKEY_new_raw_private_key_ex : EVP_PKEY_new_raw_public_key_ex;
  return EvpPkeyHandle(make(nullptr, openssl_name(token).c_str(), nullptr, key.data(), key.size()));
}

TEST(NistAnswers, KeysOfSeedsByOpenssl) {
  const auto count = by_openssl("keygen", [](const std::string& token, const VectorSection& given) {
    auto seed = given.bytes("seed");
    const EvpPkeyCtxHandle ctx(EVP_PKEY_CTX_new_from_name(nullptr, openssl_name(token).c_str(), nullptr));
    ASSERT_EQ(EVP_PKEY_keygen_init(ctx.get()), 1);
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_octet_string("seed", seed.data(), seed.size()),
                                     OSSL_PARAM_construct_end()};
    ASSERT_EQ(EVP_PKEY_CTX_set_params(ctx.get(), parameters), 1);
    EVP_PKEY* made = nullptr;
    ASSERT_EQ(EVP_PKEY_generate(ctx.get(), &made), 1);
    const EvpPkeyHandle key(made);
    const auto* kem = find_kem(token);
    const auto* sig = find_sig(token);
    KemKeyPair pair{Bytes(kem != nullptr ? kem->public_key : sig->public_key),
                    SecretBytes(kem != nullptr ? kem->secret_key : sig->secret_key)};
    auto public_size = pair.public_key.size(), secret_size = pair.secret_key.size();
    ASSERT_EQ(EVP_PKEY_get_raw_public_key(key.get(), pair.public_key.data(), &public_size), 1);
    ASSERT_EQ(EVP_PKEY_get_raw_private_key(key.get(), pair.secret_key.mut().data(), &secret_size), 1);
    expect_pair(pair, given);
  });
  if (count == 0) GTEST_SKIP() << openssl_provider().title() << " has none of them";
}

TEST(NistAnswers, EncapsulationByOpenssl) {
  const auto count = by_openssl("encapsulate", [](const std::string& token, const VectorSection& given) {
    const auto key = raw_key(token, given.bytes("public_key"), false);
    const EvpPkeyCtxHandle ctx(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
    auto random = given.bytes("random");
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_octet_string("ikme", random.data(), random.size()),
                                     OSSL_PARAM_construct_end()};
    ASSERT_EQ(EVP_PKEY_encapsulate_init(ctx.get(), parameters), 1);
    Bytes ciphertext(find_kem(token)->ciphertext), shared(find_kem(token)->shared_secret);
    auto size = ciphertext.size(), shared_size = shared.size();
    ASSERT_EQ(EVP_PKEY_encapsulate(ctx.get(), ciphertext.data(), &size, shared.data(), &shared_size), 1);
    EXPECT_EQ(hex(sha256({ciphertext})), given.text("ciphertext_sha256"));
    EXPECT_EQ(hex(shared), given.text("shared"));
  });
  if (count == 0) GTEST_SKIP() << openssl_provider().title() << " has none of them";
}

/// The internal functions: no context and, for signing, no randomness.
struct Internal {
  int raw = 0, deterministic = 1;
  const OSSL_PARAM signing[3] = {OSSL_PARAM_construct_int("message-encoding", &raw),
                                 OSSL_PARAM_construct_int("deterministic", &deterministic), OSSL_PARAM_construct_end()};
  const OSSL_PARAM verifying[2] = {OSSL_PARAM_construct_int("message-encoding", &raw), OSSL_PARAM_construct_end()};
};

TEST(NistAnswers, SignaturesByOpenssl) {
  const auto count = by_openssl("sign", [](const std::string& token, const VectorSection& given) {
    Internal internal;
    const auto key = raw_key(token, given.bytes("secret_key"), true);
    const EvpMdCtxHandle ctx(EVP_MD_CTX_new());
    const auto message = given.bytes("message");
    ASSERT_EQ(EVP_DigestSignInit_ex(ctx.get(), nullptr, nullptr, nullptr, nullptr, key.get(), internal.signing), 1);
    Bytes signature(find_sig(token)->signature_max);
    auto size = signature.size();
    ASSERT_EQ(EVP_DigestSign(ctx.get(), signature.data(), &size, message.data(), message.size()), 1);
    EXPECT_EQ(hex(sha256({ByteView(signature).first(size)})), given.text("signature_sha256"));
  });
  if (count == 0) GTEST_SKIP() << openssl_provider().title() << " has none of them";
}

TEST(NistAnswers, VerificationByOpenssl) {
  const auto count = by_openssl("verify", [](const std::string& token, const VectorSection& given) {
    Internal internal;
    const auto key = raw_key(token, given.bytes("public_key"), false);
    const auto message = given.bytes("message");
    auto signature = given.bytes("signature");
    for (const bool good : {true, false}) {
      const EvpMdCtxHandle ctx(EVP_MD_CTX_new());
      ASSERT_EQ(EVP_DigestVerifyInit_ex(ctx.get(), nullptr, nullptr, nullptr, nullptr, key.get(), internal.verifying),
                1);
      EXPECT_EQ(EVP_DigestVerify(ctx.get(), signature.data(), signature.size(), message.data(), message.size()) == 1,
                good);
      signature[signature.size() / 2] ^= 1;
    }
  });
  if (count == 0) GTEST_SKIP() << openssl_provider().title() << " has none of them";
}

}  // namespace
}  // namespace pqcmav::test
