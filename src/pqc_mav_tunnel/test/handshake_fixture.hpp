// SPDX-License-Identifier: Apache-2.0
// A drone and a ground station in memory, with the bytes between them in the test's hands.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "handshake/handshake.hpp"
#include "handshake/handshake_messages.hpp"
#include "handshake/key_schedule.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav::test {

inline const Suite& suite(std::string_view id) { return require_suite(id); }
/// The cheapest suite, for tests that run thousands of handshakes.
inline const Suite& light() { return suite("cs-mlkem512-aesgcm-mldsa44"); }

/// A signing key pair per owner and algorithm, made once per process.
inline const KemKeyPair& signing_pair(const std::string& owner, const SigInfo& sig) {
  static std::map<std::pair<std::string, std::string_view>, KemKeyPair> pairs;
  const auto key = std::pair{owner, sig.token};
  auto found = pairs.find(key);
  if (found == pairs.end()) found = pairs.emplace(key, Sig(sig).keypair()).first;
  return found->second;
}

inline Psk psk_of(std::uint8_t fill) {
  ByteArray<32> bytes;
  bytes.fill(fill);
  return Psk(std::span<const std::uint8_t, 32>(bytes));
}

/// What the two ends are given. The defaults succeed.
struct Scene {
  const Suite* suite = &light();
  bool hybrid = true, drone_signs = false;
  std::uint8_t drone_psk = 1, gcs_psk = 1;
  bool require_signature = false, allow_pure = true, sign_where_known = false;
  std::string drone_id = "uav1";
  std::uint8_t epoch = 0;
  /// A rekey inside the session of these bytes, at this epoch, with this chain secret at either end; 0 = a first
  /// handshake.
  std::uint8_t session = 0, running_epoch = 0, drone_chain = 5, gcs_chain = 5;
  std::string gcs_id = "gcs";  // that the drone asks for
};

inline SessionId session_of(std::uint8_t fill) {
  SessionId id;
  id.fill(fill);
  return id;
}

/// How often the gcs was asked for what.
struct Calls {
  int find_drone = 0, check_suite = 0, gcs_secret = 0, drone_public = 0, keygen = 0;
  bool operator==(const Calls&) const = default;
};

inline InitiatorParams drone_params(const Scene& scene) {
  InitiatorParams params;
  params.suite = scene.suite;
  params.drone_id = scene.drone_id;
  params.hybrid = scene.hybrid;
  params.psk = psk_of(scene.drone_psk);
  params.gcs_public_key = signing_pair("gcs", *scene.suite->sig).public_key;
  if (scene.drone_signs) params.own_secret = signing_pair("uav1", *scene.suite->sig).secret_key.clone();
  params.gcs_id = scene.gcs_id;
  params.prev_session = session_of(scene.session);
  params.epoch = scene.epoch;
  if (scene.session != 0) params.chain_prev = SecretBytes(psk_of(scene.drone_chain).view());
  return params;
}

inline std::optional<RunningSession> gcs_session(const Scene& scene) {
  if (scene.session == 0) return std::nullopt;
  return RunningSession{session_of(scene.session), scene.running_epoch, SecretBytes(psk_of(scene.gcs_chain).view())};
}

/// Knows the drone "uav1" alone.
inline std::shared_ptr<ResponderEnv> gcs_env(const Scene& scene, Calls* calls = nullptr) {
  static Calls ignored;
  Calls& count = calls == nullptr ? ignored : *calls;
  auto env = std::make_shared<ResponderEnv>();
  env->find_drone = [&count, scene](std::string_view id) -> std::optional<DroneRecord> {
    ++count.find_drone;
    if (id != "uav1") return std::nullopt;
    return DroneRecord{psk_of(scene.gcs_psk), scene.require_signature, scene.sign_where_known, scene.allow_pure};
  };
  env->check_suite = [&count](std::string_view, const Suite&, bool) {
    return ++count.check_suite, std::optional<Reject>();
  };
  env->gcs_secret = [&count](const SigInfo& sig) {
    return ++count.gcs_secret, signing_pair("gcs", sig).secret_key.clone();
  };
  env->drone_public = [&count](std::string_view id, const SigInfo& sig) {
    return ++count.drone_public, std::optional(signing_pair(std::string(id), sig).public_key);
  };
  env->kem_keypair = [&count](const KemInfo& kem) { return ++count.keygen, EphemeralKem{Kem(kem).keypair(), false}; };
  return env;
}

/// Change message `index` (1-4; 2 may be a Reject) on its way.
using Tamper = std::function<void(std::size_t index, Bytes& frame)>;

struct Outcome {
  HandshakeStatus drone = HandshakeStatus::working, gcs = HandshakeStatus::working;
  HandshakeError drone_error = HandshakeError::none, gcs_error = HandshakeError::none;
  std::uint8_t drone_code = 0, gcs_code = 0;
  std::vector<Bytes> messages;  // M0 and then as sent, before tampering
  std::optional<SessionKeys> drone_keys, gcs_keys;
  HandshakeTimes drone_times, gcs_times;
  [[nodiscard]] bool done() const { return drone == HandshakeStatus::done && gcs == HandshakeStatus::done; }
};

/// Feeds `frame` in pieces of `chunk` bytes (0 = at once) until it is used up or the end has finished.
template <typename End>
HandshakeStep feed(End& end, ByteView frame, std::size_t chunk, std::uint64_t now) {
  HandshakeStep step;
  do {
    const auto size = chunk == 0 ? frame.size() : std::min(chunk, frame.size());
    step = end.on_data(frame.first(size), now);
    frame = frame.subspan(size);
    if (step.status != HandshakeStatus::working) break;
    if (!step.send.empty() && !frame.empty()) throw std::logic_error("answered before the message was complete");
  } while (!frame.empty());
  return step;
}

inline Outcome run(InitiatorParams params, std::shared_ptr<const ResponderEnv> env, const Tamper& tamper = {},
                   std::size_t chunk = 0, std::optional<RunningSession> session = std::nullopt) {
  Outcome out;
  HandshakeInitiator drone(std::move(params));
  HandshakeResponder gcs(std::move(env), std::move(session));
  std::uint64_t now = 1'000'000'000;
  out.messages.emplace_back(challenge().begin(), challenge().end());
  Bytes frame = drone.start(now);
  for (std::size_t index = 1; index < 5 && !frame.empty(); ++index) {
    out.messages.push_back(frame);
    if (tamper) tamper(index, frame);
    now += 10'000'000'000;  // far more than any step takes, so that the phases come out in order
    HandshakeStep step;
    if (index % 2 == 0) {
      step = feed(drone, frame, chunk, now);
      out.drone = step.status;
    } else {
      step = feed(gcs, frame, chunk, now);
      if (gcs.gated()) {
        EXPECT_TRUE(step.send.empty());
        step = gcs.go_on(now);
      }
      out.gcs = step.status;
    }
    frame = std::move(step.send);
  }
  out.drone_error = drone.error();
  out.gcs_error = gcs.error();
  out.drone_code = drone.reject_code();
  out.gcs_code = gcs.reject_code();
  out.drone_times = drone.times();
  out.gcs_times = gcs.times();
  if (out.drone == HandshakeStatus::done) out.drone_keys = drone.take_keys();
  if (out.gcs == HandshakeStatus::done) out.gcs_keys = gcs.take_keys();
  return out;
}

inline Outcome run(const Scene& scene, const Tamper& tamper = {}, std::size_t chunk = 0) {
  return run(drone_params(scene), gcs_env(scene), tamper, chunk, gcs_session(scene));
}

inline bool same(const SessionKeys& a, const SessionKeys& b) {
  return a.suite == b.suite && a.hybrid == b.hybrid && a.drone_signed == b.drone_signed &&
         a.session_id == b.session_id && a.epoch == b.epoch && constant_time_equal(a.k_d2g.view(), b.k_d2g.view()) &&
         constant_time_equal(a.k_g2d.view(), b.k_g2d.view()) && constant_time_equal(a.chain.view(), b.chain.view());
}

inline void expect_agreement(const Scene& scene, const Outcome& out) {
  ASSERT_TRUE(out.done()) << scene.suite->id << ": drone " << to_string(out.drone_error) << ", gcs "
                          << to_string(out.gcs_error);
  const auto& keys = *out.drone_keys;
  EXPECT_TRUE(same(keys, *out.gcs_keys)) << scene.suite->id;
  EXPECT_EQ(keys.suite, scene.suite);
  EXPECT_EQ(keys.hybrid, scene.hybrid);
  EXPECT_EQ(keys.drone_signed, scene.drone_signs);
  EXPECT_EQ(keys.epoch, scene.epoch);
  EXPECT_NE(keys.session_id, SessionId{});
  EXPECT_FALSE(constant_time_equal(keys.k_d2g.view(), keys.k_g2d.view()));
}

/// The refusal that a gcs with this key makes of this M1.
inline Bytes refusal_of(const Bytes& m1, Reject code, std::uint16_t retry_ms = 0, std::uint8_t psk = 1) {
  return encode_reject({code, retry_ms, reject_mac(psk_of(psk), m1, static_cast<std::uint8_t>(code), retry_ms)});
}

/// Runs, and expects silence from the gcs after M1.
inline void expect_silence(const Outcome& out, HandshakeError why) {
  EXPECT_EQ(out.gcs_error, why);
  EXPECT_EQ(out.messages.size(), 2u);
  EXPECT_EQ(out.gcs_times.bytes_sent, 0u);
  EXPECT_EQ(out.drone, HandshakeStatus::working) << "the drone sees only silence";
}

}  // namespace pqcmav::test
