// SPDX-License-Identifier: Apache-2.0
#include "crypto/self_test.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "crypto/kdf.hpp"
#include "crypto/mldsa_norm.hpp"
#include "crypto/secret.hpp"
#include "crypto/x25519.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

/// So many bytes that count up.
template <std::size_t N>
ByteArray<N> counting(std::uint8_t from) noexcept {
  ByteArray<N> out;
  std::iota(out.begin(), out.end(), from);
  return out;
}

Bytes from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  Bytes out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::uint8_t>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  return out;
}

/// What is sealed: nonce, associated data and plaintext of the answers below.
const auto kNonce = counting<16>(0x10);
const auto kAssociated = counting<32>(0x30);
const auto kPlain = counting<48>(0x20);

/// SHA-256 of ciphertext || tag, made with PyPI's cryptography and, of Ascon, with pqc_mav_wirespec.
std::string_view sealed_answer(AeadId id) noexcept {
  switch (id) {
    case AeadId::aes256gcm: return "7d9dd0736f4145ee24c32bf744d1520766b8048a7030ed2f30983ca74769b17c";
    case AeadId::chacha20poly1305: return "ab4f4e5bd8c3e3f68d6a7c879ea0b78968d1b5d659d90213e0f30976ba38eed3";
    case AeadId::ascon128a: return "8bf216b35333468048157ef3c9a7f6018ab1ad6c7df4daea7efbf1bd8dfea737";
    case AeadId::ascon_aead128: return "ece554bbaae79d54ec42d2566a98ec2dcd36f98ec0314cd54e5e1cc4a718670a";
  }
  return {};
}

/// ACVP's first key of a seed of each size (FIPS 203), and the secret that it rejects a ciphertext of 0x55 with:
/// SHAKE256(z || c).
struct KemAnswer {
  std::string_view token, seed, public_sha256, secret_sha256, rejected;
};
constexpr std::array kKemAnswers{
    KemAnswer{"mlkem512",
              "2cb843a02ef02ee109305f39119fabf49ab90a57ffecb3a0e75e179450f52761"
              "84cc9121ae56fbf39e67adbd83ad2d3e3bb80843645206bdd9f2f629e3cc49b7",
              "f96920dc6766df52dca2428e7e751c0c27d537424c0a3f5c89153c2d5d28f898",
              "0c48e1338e5329cb7850f0a8cf7bd6ea3b4071158269fc129afd984b8ee14543",
              "ebc9a4fcb9ca4cb41461cb6468ee7f946f5cb4753a8778791fb4073b743979b0"},
    KemAnswer{"mlkem768",
              "e34a701c4c87582f42264ee422d3c684d97611f2523efe0c998af05056d693dc"
              "a85768f3486bd32a01bf9a8f21ea938e648eae4e5448c34c3eb88820b159eedd",
              "7799c9d8eef172aa78c073514f2f039c240de8c5cb61bca82ba0bc46041ce279",
              "104b3444c3de2b81143788d27e17648f45c80f617f906156db2258da96dead40",
              "56443998519d516d1915175a7a45a7f7349c92acf6930ced824a431b522b52a1"},
    KemAnswer{"mlkem1024",
              "49ac8b99bb1e6a8ea818261f8be68bdeaa52897e7ec6c40b530bc760ab77dce3"
              "99e3246884181f8e1dd44e0c7629093330221fd67d9b7d6e1510b2dbad8762f7",
              "62fccf5fdf805b110670b39cd5e25b1811172961ea4047bfbd589e323ce7cfbc",
              "2f8af73000bd5247a74312ac70386444290bc4b80da6fae05aeb1196dbd8912e",
              "a97ca450b9b88ea8c7a8fc223aa4f381aed01c23c56440ac5ed0c7470d80f19a"},
};

/// A key of a known seed, where the library can make one.
std::string known_key(const KemInfo& info, const KemOps& kem) {
  const auto* answer = std::ranges::find(kKemAnswers, info.token, &KemAnswer::token);
  if (answer == kKemAnswers.end()) return {};
  Bytes public_key(info.public_key);
  SecretBytes secret_key(info.secret_key), shared(info.shared_secret);
  const auto made = kem.keypair_of(from_hex(answer->seed), public_key, secret_key.mut());
  if (!made) return {};
  if (!*made) return "making the key of a known seed";
  if (to_hex(sha256({public_key})) != answer->public_sha256 ||
      to_hex(sha256({secret_key.view()})) != answer->secret_sha256)
    return "the key of a known seed";
  const Bytes foreign(info.ciphertext, 0x55);
  if (!kem.decapsulate(secret_key.view(), foreign, shared.mut()) || to_hex(shared.view()) != answer->rejected)
    return "rejecting a ciphertext of another key";
  return {};
}

[[noreturn]] void self_test_failed(std::string_view display, const std::string& by, const std::string& step) {
  throw TunnelError(Errc::crypto, "The self test failed at " + std::string(display) + " by " + by + ": " + step +
                                      ". This end does not start: reinstall that library, or let 'provider' choose "
                                      "another one.");
}

/// Of the first of the libraries that has it; false: none has.
template <typename Info>
bool test_one(const Info& info, ProviderChoice choice) {
  const auto found = find_provider(info, choice);
  if (found.provider == nullptr) return false;
  const auto ops = found.provider->open(info, found.name);
  const auto step = ops ? self_test(info, *ops) : "setting it up";
  if (!step.empty()) self_test_failed(info.display, found.provider->title(), step);
  return true;
}

}  // namespace

void SelfTestScope::add(const Suite& suite) {
  kems.insert(suite.kem);
  sigs.insert(suite.sig);
  aeads.insert(suite.aead);
}

ByteArray<32> self_test_key() noexcept { return counting<32>(0); }

std::string self_test_hashes() {
  const auto key = self_test_key();
  if (to_hex(sha256({kPlain})) != "06790a9a000edb9dce0fb5b1ae61f57a78813288564c89f1bde451048e23640a") return "SHA-256";
  if (to_hex(hmac_sha256(key, {kPlain})) != "3be8823832de77f86fa659ac7a1a46fc7ce2a58d3433ada434ada20ad8a0b267")
    return "HMAC-SHA-256";
  ByteArray<32> okm{};
  hkdf_expand(hkdf_extract(kNonce, key).view(), kAssociated, okm);
  if (to_hex(okm) != "5bf58bc5e909b35403b1560556f213d5415394f3c401df3652cec0b1e662e799") return "HKDF-SHA-256";
  // RFC 7748, section 6.1.
  const auto alice = from_hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
  const auto bob = from_hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
  Secret<32> shared;
  if (!X25519(ByteView(alice).first<32>()).derive(ByteView(bob).first<32>(), shared) ||
      to_hex(shared.view()) != "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
    return "X25519";
  return {};
}

std::string self_test(AeadId id, RawAead& cipher) {
  Bytes data(kPlain.begin(), kPlain.end());
  ByteArray<16> tag{};
  if (!cipher.seal_raw(kNonce.data(), kAssociated, data, tag) || to_hex(sha256({data, tag})) != sealed_answer(id))
    return "sealing a known packet";
  auto opened = data;
  if (cipher.open_raw(kNonce.data(), kAssociated, opened, tag) != Aead::Open::ok || !std::ranges::equal(opened, kPlain))
    return "opening a known packet";
  tag[0] ^= 1;
  return cipher.open_raw(kNonce.data(), kAssociated, data, tag) == Aead::Open::bad_tag ? "" : "refusing a bad tag";
}

std::string self_test(const KemInfo& info, const KemOps& kem) {
  if (auto step = known_key(info, kem); !step.empty()) return step;
  Bytes public_key(info.public_key), ciphertext(info.ciphertext);
  SecretBytes secret_key(info.secret_key), sent(info.shared_secret), received(info.shared_secret);
  if (!kem.keypair(public_key, secret_key.mut())) return "key generation";
  if (!kem.encapsulate(public_key, ciphertext, sent.mut())) return "encapsulation";
  if (!kem.decapsulate(secret_key.view(), ciphertext, received.mut())) return "decapsulation";
  if (!constant_time_equal(sent.view(), received.view())) return "the two ends of a key pair get two secrets";
  ciphertext[ciphertext.size() / 2] ^= 1;
  if (kem.decapsulate(secret_key.view(), ciphertext, received.mut()) &&
      constant_time_equal(sent.view(), received.view()))
    return "a changed ciphertext gives the same secret";
  return {};
}

std::string self_test(const SigInfo& info, const SigOps& sig) {
  Bytes public_key(info.public_key), signature(info.signature_max);
  SecretBytes secret_key(info.secret_key);
  if (!sig.keypair(public_key, secret_key.mut())) return "key generation";
  auto size = signature.size();
  if (!sig.sign(secret_key.view(), kPlain, signature, size) || size > signature.size()) return "signing";
  signature.resize(size);
  if (!mldsa_norm_good(info.token, signature) || !sig.verify(public_key, kPlain, signature))
    return "its own signature does not verify";
  if (sig.verify(public_key, kAssociated, signature)) return "a signature of another message verifies";
  signature[size / 2] ^= 1;
  return sig.verify(public_key, kPlain, signature) ? "a changed signature verifies" : "";
}

std::string self_test(const SelfTestScope& scope, ProviderChoice choice) {
  const auto began = std::chrono::steady_clock::now();
  std::size_t count = 4;
  if (const auto broken = self_test_hashes(); !broken.empty())
    self_test_failed(broken, openssl_provider().title(), "a known answer");
  for (const auto* aead : scope.aeads) {
    const bool own = aead->id == AeadId::ascon128a || aead->id == AeadId::ascon_aead128;
    const auto step = self_test(aead->id, *make_raw_aead(aead->id, self_test_key()));
    if (!step.empty()) self_test_failed(aead->display, own ? "this program" : openssl_provider().title(), step);
    ++count;
  }
  for (const auto* kem : scope.kems) count += test_one(*kem, choice) ? 1 : 0;
  for (const auto* sig : scope.sigs) count += test_one(*sig, choice) ? 1 : 0;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  char text[96];
  std::snprintf(text, sizeof text, "The self test of %zu algorithms passed in %.1f ms", count, took.count());
  return text + (" (" + providers_text() + ").");
}

}  // namespace pqcmav
