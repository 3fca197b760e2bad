// SPDX-License-Identifier: Apache-2.0
// Known answers of others, in known_answers/: of each KEM and signature by every library that has it, and of what OpenSSL
// computes otherwise.
#include <gtest/gtest.h>

#include "crypto/aead_raw.hpp"
#include "crypto/kdf.hpp"
#include "crypto/kem_sig.hpp"
#include "crypto/x25519.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "vector_file.hpp"

namespace pqcmav::test {
namespace {

const VectorFile& answers() {
  static const auto file = read_vectors(PQCMAV_KNOWN_ANSWERS "/wycheproof.txt");
  return file;
}

/// Asks each answer of one algorithm; returns how many there were.
template <typename Ask>
int each(const std::string& token, Ask&& ask) {
  int count = 0;
  for (const auto& [name, given] : answers()) {
    if (!name.starts_with(token + "-")) continue;
    SCOPED_TRACE(name);
    ask(given, given.number("good") == 1);
    ++count;
  }
  return count;
}

std::vector<ProviderChoice> who_have(const auto& info) {
  std::vector<ProviderChoice> out;
  for (const auto* provider : providers())
    if (!provider->look_up(info).name.empty()) out.push_back(provider_choice_of(provider->name()).value());
  return out;
}

TEST(KnownAnswers, DecapsulationByEveryLibrary) {
  for (const std::string token : {"mlkem512", "mlkem768", "mlkem1024"}) {
    const auto& info = *find_kem(token);
    for (const auto by : who_have(info)) {
      SCOPED_TRACE(to_string(by));
      const auto count = each(token, [&](const VectorSection& given, bool good) {
        const SecretBytes secret_key{ByteView(given.bytes("secret_key"))};
        try {
          const auto shared = Kem(info, by).decapsulate(secret_key, given.bytes("ciphertext"));
          EXPECT_EQ(good, hex(shared.view()) == given.text("shared"));
        } catch (const TunnelError& error) {
          EXPECT_EQ(error.code(), Errc::crypto);
          EXPECT_FALSE(good) << error.what();
        }
      });
      EXPECT_EQ(count, 6);
    }
  }
}

TEST(KnownAnswers, SignaturesByEveryLibrary) {
  for (const std::string token : {"mldsa44", "mldsa65", "mldsa87"}) {
    const auto& info = *find_sig(token);
    for (const auto by : who_have(info)) {
      SCOPED_TRACE(to_string(by));
      const auto count = each(token, [&](const VectorSection& given, bool good) {
        EXPECT_EQ(Sig(info, by).verify(given.bytes("public_key"), given.bytes("message"), given.bytes("signature")),
                  good);
      });
      EXPECT_EQ(count, 4);
    }
  }
}

TEST(KnownAnswers, Ciphers) {
  for (const auto& [token, expected] : {std::pair("aesgcm", 28), std::pair("chacha20poly1305", 40)}) {
    const auto id = std::ranges::find(aeads(), std::string_view(token), &AeadInfo::token)->id;
    const auto count = each(token, [&](const VectorSection& given, bool good) {
      const auto aead = make_raw_aead(id, given.array<32>("key"));
      auto nonce = given.bytes("nonce");
      nonce.resize(16);
      const auto aad = given.bytes("aad"), plain = given.bytes("plain"), sealed = given.bytes("cipher");
      auto data = sealed;
      EXPECT_EQ(aead->open_raw(nonce.data(), aad, data, given.array<16>("tag")),
                good ? Aead::Open::ok : Aead::Open::bad_tag);
      if (!good) return;
      EXPECT_EQ(data, plain);
      ByteArray<16> tag;
      ASSERT_TRUE(aead->seal_raw(nonce.data(), aad, data, tag));
      EXPECT_EQ(data, sealed);
      EXPECT_EQ(hex(tag), given.text("tag"));
    });
    EXPECT_EQ(count, expected);
  }
}

TEST(KnownAnswers, X25519RefusesWhatGivesZero) {
  const auto count = each("x25519", [](const VectorSection& given, bool good) {
    Secret<32> shared;
    ASSERT_EQ(X25519(given.array<32>("scalar")).derive(given.array<32>("peer"), shared), good);
    EXPECT_EQ(hex(shared.view()), given.text("shared"));
  });
  EXPECT_EQ(count, 40);
}

TEST(KnownAnswers, HkdfAndHmac) {
  EXPECT_EQ(each("hkdf",
                 [](const VectorSection& given, bool) {
                   const auto prk = hkdf_extract(given.bytes("salt"), given.bytes("ikm"));
                   Bytes okm(given.bytes("okm").size());
                   hkdf_expand(prk.view(), given.bytes("info"), okm);
                   EXPECT_EQ(okm, given.bytes("okm"));
                 }),
            38);
  EXPECT_EQ(each("hmac",
                 [](const VectorSection& given, bool good) {
                   const auto message = given.bytes("message");
                   EXPECT_EQ(hex(hmac_sha256(given.bytes("key"), {message})) == given.text("tag"), good);
                 }),
            24);
}

}  // namespace
}  // namespace pqcmav::test
