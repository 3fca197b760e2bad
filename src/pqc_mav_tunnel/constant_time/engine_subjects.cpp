// SPDX-License-Identifier: Apache-2.0
// The engine's own code with secrets in it.
#include <memory>

#include "constant_time/marks.hpp"
#include "constant_time/subject.hpp"
#include "crypto/ascon.hpp"
#include "handshake/handshake_datagram.hpp"
#include "handshake/key_schedule.hpp"
#include "handshake/restart_key.hpp"
#include "handshake/retry_cookie.hpp"
#include "keys/gcs_psk.hpp"
#include "ratchet_fixture.hpp"

extern "C" {
// The linker puts this in the engine's calls of CRYPTO_memcmp (--wrap). What it compares is secret, and it runs as it is;
// its verdict is public: the other end sees by the answer, or by silence, which it was.
int __real_CRYPTO_memcmp(const void* a, const void* b, std::size_t size);  // NOLINT
int __wrap_CRYPTO_memcmp(const void* a, const void* b, std::size_t size);  // NOLINT
int __wrap_CRYPTO_memcmp(const void* a, const void* b, std::size_t size) {
  int verdict = __real_CRYPTO_memcmp(a, b, size);
  pqcmav::constant_time::make_public({reinterpret_cast<const std::uint8_t*>(&verdict), sizeof verdict});
  return verdict;
}
}

namespace pqcmav::constant_time {
namespace {

/// Spoils what was right: the classes differ in where.
void spoil(MutableBytes right, Class which) {
  right.back() ^= mask_if(which, Class::fixed) & 0x80;
  right.front() ^= mask_if(which, Class::varied) & 0x80;
}

/// A function of a key alone.
Subject of_key(std::string name, std::function<void(const Secret<32>&)> call) {
  auto key = std::make_shared<Secret<32>>();
  return {"engine", std::move(name), [key](Class which) { draw_bytes(key->mut(), which); },
          [key, call = std::move(call)] { call(*key); }, [key] { return std::vector<MutableBytes>{key->mut()}; }};
}

/// Checks something that somebody else made: `make` makes it right under the key, `check` is measured.
Subject of_check(std::string name, std::function<Bytes(const Secret<32>&)> make, std::size_t tag,
                 std::function<void(const Secret<32>&, ByteView)> check) {
  struct State {
    Secret<32> key;
    Bytes checked;
  };
  auto state = std::make_shared<State>();
  return {"engine", std::move(name),
          [state, make = std::move(make), tag](Class which) {
            draw_bytes(state->key.mut(), Class::fixed);
            state->checked = make(state->key);
            spoil(MutableBytes(state->checked).last(tag), which);
          },
          [state, check = std::move(check)] { check(state->key, state->checked); },
          [state] { return std::vector<MutableBytes>{state->key.mut()}; }};
}

Bytes m1_with_gate(const Secret<32>& psk) {
  Bytes m1(300, 0x11);
  const auto gate = gate_mac(psk, m1);
  m1.insert(m1.end(), gate.begin(), gate.end());
  return m1;
}

constexpr AttemptId kAttempt{1, 2, 3, 4, 5, 6, 7, 8};
constexpr ByteArray<16> kAddress{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
constexpr std::uint64_t kNow = 5'000'000'000;
const Bytes kM1(332, 0x22);

void add_comparisons(std::vector<Subject>& out) {
  out.push_back(of_check(
      "comparison of 32 bytes", [](const auto& key) { return Bytes(key.view().begin(), key.view().end()); }, 32,
      [](const auto& key, ByteView other) { keep(constant_time_equal(key.view(), other)); }));
  out.push_back(
      of_check("gate of a hello", m1_with_gate, 32, [](const auto& psk, ByteView m1) { keep(gate_good(psk, m1)); }));
  out.push_back(of_check(
      "tag of a handshake datagram",
      [](const auto& key) {
        Bytes datagram(600, 0x33);
        append_tag(key, datagram);
        return datagram;
      },
      kDatagramTagSize, [](const auto& key, ByteView datagram) { keep(tag_good(key, datagram)); }));
  out.push_back(of_check(
      "cookie",
      [](const auto& key) {
        const auto cookie = CookieJar(key.clone()).make(kAddress, 7, kAttempt, kM1, kNow);
        return Bytes(cookie.begin(), cookie.end());
      },
      sizeof(Cookie) - 4,  // it begins with the time in the clear
      [](const auto& key, ByteView bytes) {
        Cookie cookie;
        std::ranges::copy(bytes, cookie.begin());
        keep(CookieJar(key.clone()).good(cookie, kAddress, 7, kAttempt, kM1, kNow));
      }));
  out.push_back(of_check(
      "tag of a Retry", [](const auto& key) { return encode_retry(kAttempt, Cookie{}, key); }, kRetryTagSize,
      [](const auto& key, ByteView datagram) { keep(open_retry(datagram, kAttempt, key)); }));
  out.push_back(of_check(
      "return proof",
      [](const auto& key) {
        const auto grant = RestartKey(key.clone()).make_return("uav1", kAddress, 9);
        const auto prefix = return_proof_prefix(9, grant.address_tag);
        const auto mac = return_mac(grant.return_key, prefix);
        Bytes proof(prefix.size() + mac.size());
        std::ranges::copy(mac, std::ranges::copy(prefix, proof.begin()).out);
        return proof;
      },
      kReturnMacSize,
      [](const auto& key, ByteView proof) {
        keep(RestartKey(key.clone()).check(proof, "uav1", kAddress, proof.first(kReturnProofPrefix), 9));
      }));
}

void add_derivations(std::vector<Subject>& out) {
  out.push_back(of_key("restart token", [](const auto& key) { keep(RestartKey(key.clone()).token({7})); }));
  out.push_back(of_key("return key", [](const auto& key) { keep(RestartKey(key.clone()).make_return("u", {}, 9)); }));
  out.push_back(of_key("PSK of a ground station", [](const auto& key) { keep(psk_of_gcs(key, "north")); }));
  out.push_back(of_key("keys of an attempt", [](const auto& key) { keep(derive_fragment_keys(key, kAttempt)); }));
  // PSK, both shared secrets and the chain at once.
  out.push_back(of_key("key schedule", [](const auto& key) {
    const auto secrets = derive_secrets(key, key.view(), key.view(), key.view(), Hash{1}, "suite", SessionId{2}, 3);
    keep(confirm_server(secrets.k_cs, Hash{4}, confirm_client(secrets.k_cc, Hash{4})));
    keep(confirm_ratchet(secrets.k_cs, Hash{5}));
  }));
}

/// With data in all lengths of a block and a half: whole blocks, whole words, the odd bytes.
template <typename Cipher>
void add_ascon(std::vector<Subject>& out, const std::string& title) {
  struct State {
    Secret<32> key;
    Bytes data;
    ByteArray<16> tag{};
  };
  constexpr ByteArray<16> nonce{1, 2, 3};
  const auto subject = [&](std::string name, bool opens, bool good) {
    auto state = std::make_shared<State>();
    out.push_back(
        {"engine", std::move(name),
         [=](Class which) {
           draw_bytes(state->key.mut(), good ? which : Class::fixed);
           state->data.assign(64 + 23, 0x44);
           if (!opens) return;
           Cipher(std::span(state->key.view()).template first<16>()).encrypt(nonce, kAddress, state->data, state->tag);
           if (!good) spoil(state->tag, which);
         },
         [=] {
           const Cipher cipher(std::span(state->key.view()).template first<16>());
           if (opens) keep(cipher.decrypt(nonce, kAddress, state->data, state->tag));
           if (!opens) cipher.encrypt(nonce, kAddress, state->data, state->tag);
         },
         [=] {
           std::vector<MutableBytes> secrets{state->key.mut()};
           if (!opens) secrets.push_back(state->data);
           return secrets;
         }});
  };
  subject(title + " seals", false, true);
  subject(title + " opens", true, true);
  subject(title + " refuses", true, false);
}

/// Whole exchanges in memory. Their time has much else in it.
void add_exchanges(std::vector<Subject>& out) {
  out.push_back({"engine", "ratchet without fresh shares, both ends", [](Class) {},
                 [] {
                   test::RatchetScene scene;
                   scene.fresh = false;
                   auto drone = test::drone_params(scene);
                   auto gcs = test::gcs_terms(scene);
                   for (const auto bytes : {drone.psk.mut(), gcs.psk.mut()}) make_secret(bytes);
                   for (const auto bytes : {drone.session.chain.mut(), gcs.session.chain.mut()}) make_secret(bytes);
                   RatchetInitiator initiator(std::move(drone));
                   RatchetResponder responder(std::move(gcs));
                   const auto r1 = initiator.start(1'000);
                   make_public(r1);
                   const auto r2 = responder.take(r1, 2'000).send;
                   make_public(r2);
                   if (initiator.on_data(r2, 3'000).status != HandshakeStatus::done)
                     throw std::logic_error("the ratchet failed");
                 },
                 [] { return std::vector<MutableBytes>{}; }, false});
  out.push_back({"engine", "rekey with a secret PSK and chain, both ends", [](Class) {},
                 [] {
                   test::Scene scene;
                   scene.session = 7;
                   scene.epoch = 1;
                   auto drone = test::drone_params(scene);
                   auto gcs = test::gcs_env(scene);
                   auto session = test::gcs_session(scene);
                   for (const auto bytes : {drone.chain_prev.mut(), session->chain.mut()}) make_secret(bytes);
                   make_secret(drone.psk.mut());
                   gcs->find_drone = [known = gcs->find_drone](std::string_view id) {
                     auto record = known(id);
                     if (record) make_secret(record->psk.mut());
                     return record;
                   };
                   const auto reveal = [](std::size_t, Bytes& frame) { make_public(frame); };
                   if (!test::run(std::move(drone), gcs, reveal, 0, std::move(session)).done())
                     throw std::logic_error("the rekey failed");
                 },
                 [] { return std::vector<MutableBytes>{}; }, false});
}

}  // namespace

std::vector<Subject> engine_subjects() {
  std::vector<Subject> out;
  add_comparisons(out);
  add_derivations(out);
  add_ascon<Ascon128a>(out, "Ascon-128a");
  add_ascon<AsconAead128>(out, "Ascon-AEAD128");
  add_exchanges(out);
  return out;
}

}  // namespace pqcmav::constant_time
