// SPDX-License-Identifier: Apache-2.0
// The algorithms of the suites, by liboqs and OpenSSL, as the engine calls them.
#include <oqs/oqs.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "constant_time/marks.hpp"
#include "constant_time/subject.hpp"
#include "crypto/aead.hpp"
#include "crypto/kdf.hpp"
#include "crypto/provider.hpp"
#include "crypto/x25519.hpp"

namespace pqcmav::constant_time {
namespace {

/// Where liboqs takes randomness from: a stream that can be begun again, and be secret.
struct Stream {
  std::uint64_t at = 0;
  bool secret = false;
};
Stream stream;

void draw_stream(std::uint8_t* out, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 8 == 0) stream.at += 0x9e3779b97f4a7c15;  // splitmix64 (S. Vigna)
    auto mixed = stream.at;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    out[i] = static_cast<std::uint8_t>((mixed ^ (mixed >> 31)) >> (8 * (i % 8)));
  }
  if (stream.secret) make_secret({out, size});
}

void begin_stream(Class which) {
  const auto drawn = random_number<std::uint64_t>();
  stream.at = which == Class::fixed ? 1 : drawn;
}

/// What of a secret key is public: seeds of matrices, the public key that comes along, and hashes of it. Treating it as
/// secret would report every rejection of a public number. Offsets as in liboqs 0.13; `public_key` of its size.
std::vector<std::pair<std::size_t, std::size_t>> public_parts(std::string_view token, std::size_t secret_key,
                                                              std::size_t public_key) {
  if (token.starts_with("mlkem"))
    return {{secret_key - 64 - public_key, public_key + 32}};                    // FIPS 203: dk || ek || H || z
  if (token.starts_with("hqc")) return {{secret_key - public_key, public_key}};  // seed || sigma || pk
  if (token.starts_with("frodo")) {  // s || pk || S^T || pkh; s and pkh are as long as the shared secret
    const std::size_t length = token.find("640") != token.npos ? 16 : token.find("976") != token.npos ? 24 : 32;
    return {{length, public_key}, {secret_key - length, length}};
  }
  if (token.starts_with("mldsa")) return {{0, 32}, {64, 64}};  // FIPS 204: rho || K || tr || s1 || s2 || t0
  if (token.starts_with("falcon")) return {{0, 1}};            // a header
  if (token.starts_with("sphincs") || token.starts_with("slhdsa"))
    return {{secret_key / 2, secret_key / 2}};  // SK.seed || SK.prf || PK.seed || PK.root
  return {};
}

void check(OQS_STATUS status, std::string_view what) {
  if (status != OQS_SUCCESS) throw std::runtime_error("liboqs failed at: " + std::string(what));
}

/// One key pair and a ciphertext for it.
struct Material {
  Bytes public_key, secret_key, ciphertext;
};

struct Free {
  void operator()(OQS_KEM* kem) const noexcept { OQS_KEM_free(kem); }
  void operator()(OQS_SIG* sig) const noexcept { OQS_SIG_free(sig); }
};

/// Everything of one algorithm; secret keys go to the same place for every class.
struct State {
  std::unique_ptr<OQS_KEM, Free> kem;
  std::unique_ptr<OQS_SIG, Free> sig;
  std::vector<Material> pool;  // the first is the fixed one
  Material now;
  Bytes shared;
  std::vector<std::pair<std::size_t, std::size_t>> open;  // public parts of the secret key
  std::size_t next = 0;
};

/// Of which the fixed class has the second, the varied one all behind it. Memcheck sees no more in many.
std::size_t pool_size() { return under_memcheck() ? 3 : 9; }

std::vector<MutableBytes> secret_parts(State& state) {
  std::vector<MutableBytes> out;
  std::size_t at = 0;
  for (const auto& [offset, size] : state.open) {
    if (offset > at) out.push_back(MutableBytes(state.now.secret_key).subspan(at, offset - at));
    at = offset + size;
  }
  out.push_back(MutableBytes(state.now.secret_key).subspan(at));
  return out;
}

/// Public key, ciphertext and what is public of the secret key are those of the first. The secret parts are, for `which`,
/// always those of the second or those of a random other one: of a public seed the time may depend.
template <typename Make>
void take(State& state, std::optional<Class> which, Make&& make) {
  const bool secret = std::exchange(stream.secret, false);
  while (state.pool.size() < (which ? pool_size() : 1)) {  // when first needed: key generation is slow
    begin_stream(state.pool.empty() ? Class::fixed : Class::varied);
    state.pool.push_back(make());
  }
  stream.secret = secret;
  if (state.now.secret_key.empty()) state.now = state.pool[0];
  std::ranges::copy(state.pool[0].ciphertext, state.now.ciphertext.begin());
  const auto any = 2 + random_number<std::uint32_t>() % (pool_size() - 2);  // drawn for either class
  const std::size_t chosen = !which ? 0 : *which == Class::fixed ? 1 : any;
  for (const auto part : secret_parts(state)) {
    const auto offset = part.data() - state.now.secret_key.data();
    // All of them are read each time: what a class leaves in the caches says nothing about secrets.
    std::ranges::fill(part, std::uint8_t{0});
    for (std::size_t i = 0; i < state.pool.size(); ++i) {
      const auto mask = static_cast<std::uint8_t>(0 - static_cast<unsigned>(i == chosen));
      for (std::size_t k = 0; k < part.size(); ++k) part[k] |= state.pool[i].secret_key[offset + k] & mask;
    }
  }
}

std::vector<MutableBytes> from_the_stream() {
  stream.secret = under_memcheck();
  return {};
}

Material kem_material(State& state) {
  const auto& kem = *state.kem;
  Material out{Bytes(kem.length_public_key), Bytes(kem.length_secret_key), Bytes(kem.length_ciphertext)};
  check(OQS_KEM_keypair(&kem, out.public_key.data(), out.secret_key.data()), "key generation");
  check(OQS_KEM_encaps(&kem, out.ciphertext.data(), state.shared.data(), out.public_key.data()), "encapsulation");
  return out;
}

/// A key pair of no class, then random numbers of one.
auto then_stream(const std::function<void(std::optional<Class>)>& draw) {
  return [draw](Class which) {
    draw(std::nullopt);
    begin_stream(which);
  };
}

void add_kem(std::vector<Subject>& out, const KemInfo& info) {
  const auto found = liboqs_provider().look_up(info);
  if (found.name.empty()) return;
  auto state = std::make_shared<State>();
  state->kem.reset(OQS_KEM_new(found.name.c_str()));
  state->shared.resize(state->kem->length_shared_secret);
  state->open = public_parts(info.token, info.secret_key, info.public_key);
  const std::string name(info.display);
  const auto draw = [state](std::optional<Class> which) { take(*state, which, [&] { return kem_material(*state); }); };
  const auto decapsulates = [state] {
    // HQC says that a ciphertext is not good; the others give another secret.
    keep(OQS_KEM_decaps(state->kem.get(), state->shared.data(), state->now.ciphertext.data(),
                        state->now.secret_key.data()));
  };
  const auto secrets = [state] { return secret_parts(*state); };
  out.push_back({"liboqs", name + " key generation", then_stream(draw),
                 [state] {
                   check(OQS_KEM_keypair(state->kem.get(), state->now.public_key.data(), state->now.secret_key.data()),
                         "key generation");
                 },
                 from_the_stream, false});
  out.push_back({"liboqs", name + " encapsulation", then_stream(draw),
                 [state] {
                   check(OQS_KEM_encaps(state->kem.get(), state->now.ciphertext.data(), state->shared.data(),
                                        state->now.public_key.data()),
                         "encapsulation");
                 },
                 from_the_stream});
  out.push_back({"liboqs", name + " decapsulation", draw, decapsulates, secrets});
  out.push_back({"liboqs", name + " decapsulation, ciphertext good or not",
                 [state, draw](Class which) {
                   draw(std::nullopt);
                   state->now.ciphertext[7] ^= mask_if(which, Class::varied) & 1;
                 },
                 decapsulates, secrets});
}

void add_signature(std::vector<Subject>& out, const SigInfo& info) {
  const auto found = liboqs_provider().look_up(info);
  if (found.name.empty()) return;
  auto state = std::make_shared<State>();
  state->sig.reset(OQS_SIG_new(found.name.c_str()));
  state->shared.resize(state->sig->length_signature);
  state->open = public_parts(info.token, info.secret_key, info.public_key);
  const std::string name(info.display);
  const auto draw = [state](std::optional<Class> which) {
    take(*state, which, [&] {
      Material made{Bytes(state->sig->length_public_key), Bytes(state->sig->length_secret_key), {}};
      check(OQS_SIG_keypair(state->sig.get(), made.public_key.data(), made.secret_key.data()), "key generation");
      return made;
    });
  };
  out.push_back({"liboqs", name + " key generation", then_stream(draw),
                 [state] {
                   check(OQS_SIG_keypair(state->sig.get(), state->now.public_key.data(), state->now.secret_key.data()),
                         "key generation");
                 },
                 from_the_stream, false});
  out.push_back({"liboqs", name + " signing",
                 [state, draw](Class which) {
                   draw(which);
                   begin_stream(Class::varied);  // how often a candidate is rejected depends on it
                 },
                 [state] {
                   const Bytes message(64, 0x66);
                   std::size_t size = 0;
                   check(OQS_SIG_sign(state->sig.get(), state->shared.data(), &size, message.data(), message.size(),
                                      state->now.secret_key.data()),
                         "signing");
                 },
                 [state] {
                   stream.secret = under_memcheck();
                   return secret_parts(*state);
                 }});
}

}  // namespace

std::vector<Subject> liboqs_subjects() {
  OQS_init();
  OQS_randombytes_custom_algorithm(draw_stream);
  std::vector<Subject> out;
  for (const auto& info : kems()) add_kem(out, info);
  for (const auto& info : sigs()) add_signature(out, info);
  return out;
}

std::vector<Subject> openssl_subjects() {
  std::vector<Subject> out;
  struct Packet {
    ByteArray<32> key{};
    Bytes data;
    ByteArray<16> tag{};
  };
  for (const auto& info : aeads()) {
    if (info.id != AeadId::aes256gcm && info.id != AeadId::chacha20poly1305) continue;  // the engine's own
    for (const bool opens : {false, true}) {
      auto packet = std::make_shared<Packet>();
      const auto id = info.id;
      out.push_back({"openssl", std::string(info.display) + (opens ? " opens" : " seals"),
                     [=](Class which) {
                       draw_bytes(packet->key, which);
                       packet->data.assign(64 + 23, 0x44);
                       if (opens) (void)make_aead(id, packet->key)->seal(1, 2, {}, packet->data, packet->tag);
                     },
                     [=] {
                       const auto aead = make_aead(id, packet->key);
                       if (opens) keep(aead->open(1, 2, {}, packet->data, packet->tag));
                       if (!opens) keep(aead->seal(1, 2, {}, packet->data, packet->tag));
                     },
                     [=] {
                       std::vector<MutableBytes> secrets{packet->key};
                       if (!opens) secrets.push_back(packet->data);
                       return secrets;
                     }});
    }
  }
  auto scalar = std::make_shared<ByteArray<32>>();
  const auto draw = [scalar](Class which) { draw_bytes(*scalar, which); };
  const auto secret = [scalar] { return std::vector<MutableBytes>{*scalar}; };
  out.push_back({"openssl", "X25519 key pair", draw, [scalar] { keep(X25519(*scalar).public_key()); }, secret});
  ByteArray<32> base{9};
  out.push_back({"openssl", "X25519 shared secret", draw,
                 [scalar, base] {
                   Secret<32> shared;
                   keep(X25519(*scalar).derive(base, shared));
                 },
                 secret});
  return out;
}

}  // namespace pqcmav::constant_time
