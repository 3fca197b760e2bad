// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "crypto/x25519.hpp"
#include "handshake/handshake.hpp"
#include "handshake/handshake_clock.hpp"
#include "handshake/handshake_end.hpp"
#include "handshake/handshake_messages.hpp"
#include "handshake/key_schedule.hpp"
#include "handshake/lack.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

void check(const ResponderEnv* env) {
  if (env == nullptr || !env->find_drone || !env->check_suite || !env->gcs_secret || !env->drone_public ||
      !env->kem_keypair || !env->random || ((env->features & features::kCompact) != 0 && !env->receive_index)) {
    throw TunnelError(Errc::state, "The handshake environment of a ground station must have all its functions set.");
  }
}

}  // namespace

SessionId fresh_session_id(const RandomSource& random, const std::function<bool(const SessionId&)>& takes_id) {
  // Of so many one is good, unless the source is broken: with the most threads one in 64 is.
  constexpr int kTries = 10'000;
  for (int i = 0; i < kTries; ++i) {
    SessionId id{};
    random(id);
    if (id != SessionId{} && (!takes_id || takes_id(id))) return id;
  }
  throw TunnelError(Errc::crypto, "The source of randomness gives no usable session id; a session needs a random one.");
}

struct HandshakeResponder::Impl : HandshakeEnd {
  enum class Wait { client_hello, go_on, client_finish };

  Impl(std::shared_ptr<const ResponderEnv>&& given, std::optional<RunningSession>&& running)
      : env(std::move(given)), session(std::move(running)), rekey(session.has_value()) {
    check(env.get());
    reader.expect(client_hello_limits());
  }

  HandshakeStep fail(HandshakeError why, Bytes last_words = {}) {
    error = why;
    status = HandshakeStatus::failed;
    forget();
    times.bytes_sent += last_words.size();
    return {status, std::move(last_words), {}};
  }

  HandshakeStep reject(Reject code, std::uint16_t retry_ms = 0) {
    reject_code = static_cast<std::uint8_t>(code);
    const auto mac = reject_mac(drone.psk, m1, reject_code, retry_ms);
    return fail(HandshakeError::refused_locally, encode_reject({code, retry_ms, mac}));
  }

  /// Everything that is secret and not yet wiped.
  void forget() {
    drone.psk = Psk();
    signing_key.reset();
    kem_secret = SecretBytes();
    x25519.reset();
    keys.k_d2g = Secret<32>();
    keys.k_g2d = Secret<32>();
    keys.chain = Secret<32>();
    keys.own_index.release();
    session.reset();
  }

  HandshakeStep on_data(ByteView received) {
    if (wait == Wait::go_on) return received.empty() ? HandshakeStep{} : fail(HandshakeError::bad_frame);
    if (!received.empty() && !reader.started()) clock.seen(wait == Wait::client_hello ? 1 : 3);
    switch (reader.feed(received)) {
      case FrameReader::State::refused: return fail(HandshakeError::bad_frame);
      case FrameReader::State::partial: return {};
      case FrameReader::State::complete: break;
    }
    if (!received.empty()) return fail(HandshakeError::bad_frame);
    return wait == Wait::client_hello ? on_client_hello() : on_client_finish();
  }

  HandshakeStep on_client_hello() {
    const auto parsed = parse_client_hello(reader.body());
    if (!parsed) return fail(HandshakeError::malformed);
    hello = *parsed;
    m1 = reader.take();  // the views of `hello` stay valid: moving a vector does not move its bytes
    drone_id = hello.drone_id;
    auto record = env->find_drone(drone_id);
    const bool known = record.has_value(), ours = hello.gcs_id == env->gcs_id;
    const bool passed = timed(times.kdf, [&] { return gate_good(known && ours ? record->psk : decoy_psk(), m1); });
    if (!known) return fail(HandshakeError::unknown_drone);
    if (!ours) return fail(HandshakeError::other_gcs);
    if (!passed) return fail(HandshakeError::bad_gate);
    // Another session than the one that carries this is a broken or confused drone: there is nothing to refuse politely.
    if (hello.prev_session != (session ? session->id : SessionId{})) return fail(HandshakeError::malformed);
    drone = std::move(*record);
    wait = Wait::go_on;
    return {};
  }

  /// Has this drone a public key here, of whatever algorithm? The drone chooses the suite: a thief of the PSK alone would
  /// choose one whose algorithm the drone has no key for.
  bool key_is_known() {
    return std::ranges::any_of(sigs(),
                               [&](const SigInfo& sig) { return env->drone_public(drone_id, sig).has_value(); });
  }

  /// Why this genuine drone cannot have what it asks for, in the order of docs/protocol.md section 4.
  std::optional<Reject> objection() {
    const auto* asked = find_suite(hello.suite);
    if (asked == nullptr || asked->id != hello.suite) return Reject::suite_unknown;
    suite = asked;
    if (const auto avoided = env->avoided ? env->avoided() : Families(); avoided.has(*suite)) {
      detail = avoided.bits();
      return Reject::suite_not_allowed;
    }
    if (!hello.hybrid && !drone.allow_pure) return Reject::suite_not_allowed;
    if (!hello.drone_signs && drone.require_signature) return Reject::suite_not_allowed;
    if (!hello.drone_signs && drone.sign_where_known && key_is_known()) return Reject::suite_not_allowed;
    const auto verdict = env->check_suite(drone_id, *suite, hello.hybrid);
    if (verdict == Reject::suite_not_allowed) return verdict;
    if (hello.drone_signs) {
      drone_public = env->drone_public(drone_id, *suite->sig);
      if (!drone_public) return Reject::suite_not_allowed;  // a signature that nobody here can verify
    }
    detail = lacking(*suite, hello.kem_name, hello.sig_name);
    if (detail != 0) return Reject::algorithm_unavailable;
    if (!verdict) signing_key = signing_secret();
    if (!signing_key) {
      detail = lacks::kSigningKey;
      return Reject::algorithm_unavailable;
    }
    const auto expected = session ? static_cast<std::uint8_t>(session->epoch + 1) : std::uint8_t{0};
    if (hello.epoch != expected) return Reject::epoch;
    return std::nullopt;
  }

  HandshakeStep go_on() {
    if (const auto code = objection()) return reject(*code, detail);
    ServerHello answer_hello;
    answer_hello.session_id = fresh_session_id(env->random, env->takes_id);
    env->random(answer_hello.nonce);
    answer_hello.epoch = hello.epoch;
    agree_on_features(answer_hello);
    auto ephemeral = fresh_kem_pair();
    answer_hello.kem_public = ephemeral.pair.public_key;
    kem_secret = std::move(ephemeral.pair.secret_key);
    if (hello.hybrid) {
      Secret<32> scalar;
      env->random(scalar.mut());
      timed(times.x25519, [&] { x25519.emplace(scalar.view()); });
      answer_hello.x25519_public = x25519->public_key();
    }
    auto m2 = encode_server_hello(answer_hello, suite->sig->signature_max);
    const auto to_sign = server_hello_to_sign(sha256({challenge(), m1, signed_part(m2, *suite, hello.hybrid)}));
    const auto signature = timed(times.sig_sign, [&] { return Sig(*suite->sig).sign(*signing_key, to_sign); });
    signing_key.reset();
    finish_server_hello(m2, signature);
    h2 = sha256({challenge(), m1, m2});
    times.public_key = answer_hello.kem_public.size();
    times.signature = signature.size();

    keys.session_id = answer_hello.session_id;
    reader.expect(client_finish_limits(*suite, hello.hybrid, hello.drone_signs));
    wait = Wait::client_finish;
    return answer(2, std::move(m2));
  }

  void agree_on_features(ServerHello& answer_hello) {
    keys.features = hello.features & (env->features | drone.features);
    if ((keys.features & features::kCompact) != 0 && env->receive_index) keys.own_index = env->receive_index();
    if (const auto index = keys.own_index.value())
      answer_hello.index = *index;
    else
      keys.features &= static_cast<std::uint16_t>(~features::kCompact);
    answer_hello.features = keys.features;
    // A rekey takes over the role of its session.
    if ((keys.features & features::kStations) != 0 && !session) {
      keys.standby = hello.standby;
      keys.term = hello.term;
    }
    keys.peer_index = hello.index;
  }

  /// nullopt when this gcs has no signing key of the algorithm: a refusal, so that the drone learns why.
  std::optional<SecretBytes> signing_secret() {
    try {
      return env->gcs_secret(*suite->sig);
    } catch (const TunnelError& problem) {
      if (problem.code() != Errc::key_missing) throw;
      return std::nullopt;
    }
  }

  EphemeralKem fresh_kem_pair() {
    std::uint64_t took = 0;
    auto ephemeral = timed(took, [&] { return env->kem_keypair(*suite->kem); });
    times.keygen_pooled = ephemeral.pooled;
    if (!ephemeral.pooled) times.kem_keygen = took;
    if (ephemeral.pair.public_key.size() != suite->kem->public_key ||
        ephemeral.pair.secret_key.size() != suite->kem->secret_key) {
      throw TunnelError(Errc::crypto,
                        "A KEM key pair of the wrong size was supplied for " + std::string(suite->kem->display) + ".");
    }
    return ephemeral;
  }

  HandshakeStep on_client_finish() {
    const auto finish = parse_client_finish(reader.body(), *suite, hello.hybrid, hello.drone_signs);
    if (!finish) return fail(HandshakeError::malformed);
    times.ciphertext = finish->ciphertext.size();
    times.drone_signature = finish->signature.size();
    const auto h3 = transcript_h3(h2, finish->ciphertext, finish->x25519_public);
    if (hello.drone_signs && !drone_signature_good(h3, finish->signature))
      return fail(HandshakeError::bad_drone_signature);

    Secret<32> ss_x25519;
    if (hello.hybrid) {
      const auto theirs = finish->x25519_public.first<kX25519Size>();
      const bool strong = timed(times.x25519, [&] { return x25519->derive(theirs, ss_x25519); });
      x25519.reset();
      if (!strong) return fail(HandshakeError::weak_key);
    }
    const auto ss_kem =
        timed(times.kem_decaps, [&] { return Kem(*suite->kem).decapsulate(kem_secret, finish->ciphertext); });
    kem_secret = SecretBytes();

    const auto t3 = transcript_t3(h3, finish->signature);
    Hash confirm_c, confirm_s;
    timed(times.kdf, [&] {
      const ByteView x25519_part = hello.hybrid ? ByteView(ss_x25519.view()) : ByteView();
      const ByteView chain = session ? session->chain.view() : ByteView();
      auto secrets =
          derive_secrets(drone.psk, ss_kem.view(), x25519_part, chain, h3, suite->id, keys.session_id, hello.epoch);
      keys.chain = std::move(secrets.chain);
      keys.k_d2g = std::move(secrets.k_d2g);
      keys.k_g2d = std::move(secrets.k_g2d);
      confirm_c = confirm_client(secrets.k_cc, t3);
      confirm_s = confirm_server(secrets.k_cs, t3, confirm_c);
    });
    drone.psk = Psk();
    session.reset();
    if (!constant_time_equal(confirm_c, finish->confirm)) return fail(HandshakeError::bad_confirm);

    keys.suite = suite;
    keys.hybrid = hello.hybrid;
    keys.drone_signed = hello.drone_signs;
    keys.epoch = hello.epoch;
    status = HandshakeStatus::done;
    return answer(4, encode_server_finish(confirm_s));
  }

  bool drone_signature_good(const Hash& h3, ByteView signature) {
    const auto message = client_finish_to_sign(h3);
    return timed(times.sig_verify, [&] { return Sig(*suite->sig).verify(*drone_public, message, signature); });
  }

  std::shared_ptr<const ResponderEnv> env;
  std::optional<RunningSession> session;
  const bool rekey;
  Wait wait = Wait::client_hello;
  std::uint16_t detail = 0;  // in the place of retry_ms: what of the suite Reject 2 avoids, or Reject 3 lacks
  Bytes m1;
  ClientHello hello;  // views into m1
  std::string drone_id;
  DroneRecord drone;
  std::optional<Bytes> drone_public;
  std::optional<SecretBytes> signing_key;
  const Suite* suite = nullptr;
  SecretBytes kem_secret;
  std::optional<X25519> x25519;
  Hash h2{};
};

HandshakeResponder::HandshakeResponder(std::shared_ptr<const ResponderEnv> env, std::optional<RunningSession> session)
    : impl_(std::make_unique<Impl>(std::move(env), std::move(session))) {}
HandshakeResponder::~HandshakeResponder() = default;

const std::vector<FrameLimits>& HandshakeResponder::expecting() const noexcept { return impl_->reader.expecting(); }

HandshakeStep HandshakeResponder::on_data(ByteView received, std::uint64_t now_ns) {
  auto& self = *impl_;
  return step_of(self, received, now_ns, [&] { return self.on_data(received); });
}

bool HandshakeResponder::gated() const noexcept {
  return impl_->wait == Impl::Wait::go_on && impl_->status == HandshakeStatus::working;
}

HandshakeStep HandshakeResponder::go_on(std::uint64_t now_ns) {
  if (!gated()) throw TunnelError(Errc::state, "A handshake goes on only after a valid ClientHello, and once.");
  impl_->clock.enter(now_ns);
  try {
    return impl_->go_on();
  } catch (const std::exception&) {
    return impl_->fail(HandshakeError::crypto);
  }
}

HandshakeStep HandshakeResponder::take(ByteView message, std::uint64_t now_ns) {
  auto step = on_data(message, now_ns);
  return gated() ? go_on(now_ns) : std::move(step);
}

HandshakeStep HandshakeResponder::refuse(Reject code, std::uint16_t retry_ms) {
  if (!gated()) throw TunnelError(Errc::state, "Only a client whose gate verified may be told why it is refused.");
  return impl_->reject(code, retry_ms);
}

HandshakeError HandshakeResponder::error() const noexcept { return impl_->error; }
std::uint8_t HandshakeResponder::reject_code() const noexcept { return impl_->reject_code; }
const Suite* HandshakeResponder::suite() const noexcept { return impl_->suite; }
const SessionId& HandshakeResponder::session_id() const noexcept { return impl_->keys.session_id; }
HandshakeKind HandshakeResponder::kind() const noexcept {
  return impl_->rekey ? HandshakeKind::rekey : HandshakeKind::first;
}
std::string HandshakeResponder::reason() const {
  if (impl_->detail == 0) return describe(impl_->error, impl_->reject_code, false);
  return describe_own(*impl_->suite, static_cast<Reject>(impl_->reject_code), impl_->detail);
}
const HandshakeTimes& HandshakeResponder::times() const noexcept { return impl_->times; }

SessionKeys HandshakeResponder::take_keys() { return impl_->take_keys("handshake"); }

}  // namespace pqcmav
