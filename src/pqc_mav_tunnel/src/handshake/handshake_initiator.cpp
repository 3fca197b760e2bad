// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "crypto/running_hash.hpp"
#include "crypto/x25519.hpp"
#include "handshake/handshake.hpp"
#include "handshake/handshake_clock.hpp"
#include "handshake/handshake_end.hpp"
#include "handshake/handshake_messages.hpp"
#include "handshake/key_schedule.hpp"
#include "handshake/lack.hpp"
#include "handshake/restart_key.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/keystore.hpp"

namespace pqcmav {
namespace {

void check(const InitiatorParams& params) {
  if (params.suite == nullptr)
    throw TunnelError(Errc::state,
                      "A handshake needs a suite; name one, for example " + std::string(kDefaultSuite) + ".");
  const auto& suite = *params.suite;
  if (const auto& have = availability(suite); !have.available) {
    throw TunnelError(Errc::suite_unavailable, "The suite " + suite.id + " cannot be used: " + have.reason);
  }
  if (!valid_drone_id(params.drone_id)) {
    throw TunnelError(Errc::config_invalid, "The drone id must be 1-32 characters of a-z, 0-9, _ and -.");
  }
  const auto size_error = [&](const char* whose, std::size_t got, std::size_t wanted) {
    return TunnelError(Errc::key_format, std::string(whose) + " key for " + std::string(suite.sig->display) + " has " +
                                             std::to_string(got) + " bytes instead of " + std::to_string(wanted) +
                                             "; export the drone's keys again.");
  };
  if (params.gcs_public_key.size() != suite.sig->public_key) {
    throw size_error("The ground station's public", params.gcs_public_key.size(), suite.sig->public_key);
  }
  if (params.own_secret && params.own_secret->size() != suite.sig->secret_key) {
    throw size_error("The drone's own signing", params.own_secret->size(), suite.sig->secret_key);
  }
  if (!valid_drone_id(params.gcs_id)) {
    throw TunnelError(Errc::config_invalid, "The gcs id must be 1-32 characters of a-z, 0-9, _ and -.");
  }
  if ((params.prev_session == SessionId{}) != params.chain_prev.empty()) {
    throw TunnelError(Errc::state,
                      "A rekey needs the chain secret of the session that it continues, a first handshake none.");
  }
  if (params.prev_session == SessionId{} && params.epoch != 0) {
    throw TunnelError(Errc::state, "A first handshake has epoch 0; only a rekey of a running session has another.");
  }
  if ((params.features & features::kCompact) != 0 &&
      params.own_index.value().value_or(kDroneIndices) >= kDroneIndices) {
    throw TunnelError(Errc::state, "A drone that asks for compact headers says by which of 256 numbers it receives.");
  }
  if (!params.random) throw TunnelError(Errc::state, "A handshake needs a source of randomness.");
}

}  // namespace

struct HandshakeInitiator::Impl : HandshakeEnd {
  enum class Wait { start, server_hello, server_finish };

  explicit Impl(InitiatorParams&& given) : params(std::move(given)) { check(params); }

  HandshakeStep fail(HandshakeError why) {
    error = why;
    status = HandshakeStatus::failed;
    forget();
    return {status, {}, {}};
  }

  /// Everything that is secret and not yet wiped.
  void forget() {
    params.psk = Psk();
    params.own_secret.reset();
    params.chain_prev = SecretBytes();
    params.ticket.reset();
    params.own_index.release();
    keys.own_index.release();
    x25519.reset();
    keys.k_d2g = Secret<32>();
    keys.k_g2d = Secret<32>();
    keys.chain = Secret<32>();
  }

  HandshakeStep on_data(ByteView received) {
    if (!received.empty() && !reader.started()) clock.seen(wait == Wait::server_hello ? 2 : 4);
    const auto state = reader.feed(received);
    if (wait == Wait::server_hello) hash_arrived();
    switch (state) {
      case FrameReader::State::refused: return fail(HandshakeError::bad_frame);
      case FrameReader::State::partial: return {};
      case FrameReader::State::complete: break;
    }
    if (!received.empty()) return fail(HandshakeError::bad_frame);
    switch (wait) {
      case Wait::start: break;
      case Wait::server_hello: return reader.type() == MessageType::reject ? on_reject() : on_server_hello();
      case Wait::server_finish: break;
    }
    return on_server_finish();
  }

  Bytes start() {
    const auto& suite = *params.suite;
    ClientHello hello;
    hello.drone_id = params.drone_id;
    hello.gcs_id = params.gcs_id;
    params.random(hello.nonce);
    hello.suite = suite.id;
    hello.kem_name = suite.kem->name;
    hello.sig_name = suite.sig->name;
    hello.hybrid = params.hybrid;
    hello.drone_signs = params.own_secret.has_value();
    hello.prev_session = params.prev_session;
    hello.epoch = params.epoch;
    hello.features = params.features;
    if ((params.features & features::kCompact) != 0) hello.index = static_cast<std::uint8_t>(*params.own_index.value());
    hello.max_datagram = params.max_datagram;
    hello.standby = params.standby;
    hello.term = params.term;
    if (params.ticket) hello.return_proof = params.ticket->prefix;
    m1 = encode_client_hello(hello);
    timed(times.kdf, [&] {
      if (params.ticket) append(m1, return_mac(params.ticket->key, m1));
      append(m1, gate_mac(params.psk, m1));
    });
    params.ticket.reset();
    await_server_hello();
    return answer(1, m1).send;
  }

  void await_server_hello() {
    hello_hash = RunningHash();
    h2 = RunningHash();
    for (auto* hash : {&hello_hash, &h2}) {
      hash->add(challenge());
      hash->add(m1);
    }
    hashed = 0;
    reader.expect(server_hello_limits(*params.suite, params.hybrid));
    wait = Wait::server_hello;
  }

  /// Takes what has come of M2 since the last time into the two hashes over it. What turns out to be no M2 was hashed
  /// for nothing.
  void hash_arrived() {
    const auto frame = reader.frame();
    const auto from = std::exchange(hashed, frame.size());
    h2.add(frame.subspan(from));
    const auto signed_begin = std::max(from, kFrameHeaderSize);
    const auto signed_end = std::min(frame.size(), signed_end_of_m2(*params.suite, params.hybrid));
    if (signed_begin < signed_end) hello_hash.add(frame.subspan(signed_begin, signed_end - signed_begin));
  }

  HandshakeStep on_reject() {
    const auto refusal = parse_reject(reader.body());
    if (!refusal) return fail(HandshakeError::malformed);
    const auto code = static_cast<std::uint8_t>(refusal->code);
    if (!constant_time_equal(reject_mac(params.psk, m1, code, refusal->retry_ms), refusal->mac))
      return fail(HandshakeError::bad_reject);
    if (refusal->code == Reject::busy) {
      await_server_hello();
      return {status, {}, refusal->retry_ms};
    }
    reject_code = code;
    avoided = avoided_in(*refusal);
    reason = describe_lack(*params.suite, *refusal);
    return fail(HandshakeError::rejected);
  }

  HandshakeStep on_server_hello() {
    const auto& suite = *params.suite;
    const auto hello = parse_server_hello(reader.body(), suite, params.hybrid);
    // What was not asked for cannot be in force.
    if (!hello || (hello->features & ~params.features) != 0) return fail(HandshakeError::malformed);
    if (hello->epoch != params.epoch) return fail(HandshakeError::wrong_epoch);
    times.public_key = hello->kem_public.size();
    times.signature = hello->signature.size();

    // Nothing of the message is used before its signature is known to be the gcs's.
    const Sig sig(*suite.sig);
    const auto signed_bytes = server_hello_to_sign(hello_hash.finish());
    if (!timed(times.sig_verify, [&] { return sig.verify(params.gcs_public_key, signed_bytes, hello->signature); })) {
      return fail(HandshakeError::bad_signature);
    }

    ClientFinish finish;
    Secret<32> ss_x25519;
    ByteArray<kX25519Size> own_public{};
    if (params.hybrid) {
      if (!agree(hello->x25519_public, own_public, ss_x25519)) return fail(HandshakeError::weak_key);
      finish.x25519_public = own_public;
    }
    SecretBytes ss_kem;
    const auto ciphertext =
        timed(times.kem_encaps, [&] { return Kem(*suite.kem).encapsulate(hello->kem_public, ss_kem); });
    finish.ciphertext = ciphertext;
    times.ciphertext = ciphertext.size();

    const auto h3 = transcript_h3(h2.finish(), finish.ciphertext, finish.x25519_public);
    Bytes signature;
    if (params.own_secret) {
      signature = timed(times.sig_sign, [&] { return sig.sign(*params.own_secret, client_finish_to_sign(h3)); });
      params.own_secret.reset();
      times.drone_signature = signature.size();
      finish.signature = signature;
    }
    const auto t3 = transcript_t3(h3, finish.signature);
    keys.session_id = hello->session_id;
    keys.features = hello->features;
    keys.peer_index = hello->index;
    if ((keys.features & features::kCompact) != 0) keys.own_index = std::move(params.own_index);
    timed(times.kdf, [&] {
      const ByteView x25519_part = params.hybrid ? ByteView(ss_x25519.view()) : ByteView();
      auto secrets = derive_secrets(params.psk, ss_kem.view(), x25519_part, params.chain_prev.view(), h3, suite.id,
                                    keys.session_id, params.epoch);
      keys.k_d2g = std::move(secrets.k_d2g);
      keys.k_g2d = std::move(secrets.k_g2d);
      keys.chain = std::move(secrets.chain);
      finish.confirm = confirm_client(secrets.k_cc, t3);
      expected_confirm = confirm_server(secrets.k_cs, t3, finish.confirm);
    });
    params.psk = Psk();
    params.chain_prev = SecretBytes();
    reader.expect(server_finish_limits());
    wait = Wait::server_finish;
    return answer(3, encode_client_finish(finish));
  }

  void make_x25519() {
    Secret<32> scalar;
    params.random(scalar.mut());
    timed(times.x25519, [&] { x25519.emplace(scalar.view()); });
  }

  /// X25519 with a fresh key pair; false when the gcs's key is of low order.
  bool agree(ByteView theirs, ByteArray<kX25519Size>& own_public, Secret<32>& shared) {
    if (!x25519) make_x25519();
    own_public = x25519->public_key();
    const bool strong = timed(times.x25519, [&] { return x25519->derive(theirs.first<kX25519Size>(), shared); });
    x25519.reset();
    return strong;
  }

  HandshakeStep on_server_finish() {
    const auto confirm = parse_server_finish(reader.body());
    if (!confirm) return fail(HandshakeError::malformed);
    if (!constant_time_equal(*confirm, expected_confirm)) return fail(HandshakeError::bad_confirm);
    keys.suite = params.suite;
    keys.hybrid = params.hybrid;
    keys.drone_signed = times.drone_signature > 0;
    keys.epoch = params.epoch;
    status = HandshakeStatus::done;
    return {status, {}, {}};
  }

  InitiatorParams params;
  Wait wait = Wait::start;
  Families avoided;
  std::string reason;  // of a refusal that says more than its code
  Bytes m1;
  RunningHash hello_hash, h2;  // over M0 || M1 || M2- and M0 || M1 || M2
  std::size_t hashed = 0;      // bytes of M2 in h2
  std::optional<X25519> x25519;
  Hash expected_confirm{};
};

HandshakeInitiator::HandshakeInitiator(InitiatorParams params) : impl_(std::make_unique<Impl>(std::move(params))) {}
HandshakeInitiator::~HandshakeInitiator() = default;

Bytes HandshakeInitiator::start(std::uint64_t now_ns) {
  if (impl_->wait != Impl::Wait::start) throw TunnelError(Errc::state, "A handshake is started once.");
  impl_->clock.enter(now_ns);
  return impl_->start();
}

const std::vector<FrameLimits>& HandshakeInitiator::expecting() const noexcept { return impl_->reader.expecting(); }

HandshakeStep HandshakeInitiator::on_data(ByteView received, std::uint64_t now_ns) {
  auto& self = *impl_;
  if (self.wait == Impl::Wait::start) throw TunnelError(Errc::state, "A handshake is started before it takes data.");
  return step_of(self, received, now_ns, [&] { return self.on_data(received); });
}

void HandshakeInitiator::prepare() noexcept {
  auto& self = *impl_;
  if (self.status != HandshakeStatus::working || self.wait != Impl::Wait::server_hello || !self.params.hybrid ||
      self.x25519)
    return;
  try {
    self.make_x25519();
  } catch (const std::exception&) {
    self.x25519.reset();  // tried again when it is needed, and reported then
  }
}

HandshakeError HandshakeInitiator::error() const noexcept { return impl_->error; }
std::uint8_t HandshakeInitiator::reject_code() const noexcept { return impl_->reject_code; }
Families HandshakeInitiator::avoided() const noexcept { return impl_->avoided; }
std::string HandshakeInitiator::reason() const {
  return impl_->reason.empty() ? describe(impl_->error, impl_->reject_code, true) : impl_->reason;
}
const HandshakeTimes& HandshakeInitiator::times() const noexcept { return impl_->times; }

SessionKeys HandshakeInitiator::take_keys() { return impl_->take_keys("handshake"); }

}  // namespace pqcmav
