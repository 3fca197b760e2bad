// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "crypto/x25519.hpp"
#include "handshake/handshake_clock.hpp"
#include "handshake/handshake_end.hpp"
#include "handshake/key_schedule.hpp"
#include "handshake/lack.hpp"
#include "handshake/ratchet.hpp"
#include "handshake/ratchet_keys.hpp"
#include "handshake/ratchet_messages.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {

struct RatchetInitiator::Impl : HandshakeEnd {
  explicit Impl(RatchetParams&& given) : params(std::move(given)) {
    const auto& session = params.session;
    if (session.suite == nullptr || session.chain.empty())
      throw TunnelError(Errc::state, "A ratchet needs a running session.");
    if (const auto bar = bar_of(session.features, session.ratchets, params.key_old); bar != RatchetBar::none)
      throw TunnelError(Errc::state, std::string(describe(bar)));
    if ((session.features & features::kCompact) != 0 &&
        params.own_index.value().value_or(kDroneIndices) >= kDroneIndices)
      throw TunnelError(Errc::state, "A drone that has compact headers says by which of 256 numbers it receives.");
    flags = ratchet_flags(session.hybrid, params.fresh);
    kem = &ratchet_kem(*session.suite);
  }

  Bytes start() {
    RatchetHello hello;
    hello.flags = flags;
    hello.index = static_cast<std::uint8_t>(params.own_index.value().value_or(0));
    params.random(hello.nonce);
    if ((flags & kRatchetX25519) != 0) {
      Secret<32> scalar;
      params.random(scalar.mut());
      timed(times.x25519, [&] { x25519.emplace(scalar.view()); });
      hello.x25519_public = x25519->public_key();
    }
    Bytes kem_public;
    if ((flags & kRatchetKem) != 0) {
      auto pair = timed(times.kem_keygen, [&] { return Kem(*kem).keypair(); });
      kem_public = std::move(pair.public_key);
      kem_secret = std::move(pair.secret_key);
    }
    hello.kem_public = kem_public;
    times.public_key = kem_public.size();
    r1 = encode_ratchet_hello(hello);
    reader.expect(ratchet_answer_limits(flags, *kem));
    return answer(1, r1).send;
  }

  HandshakeStep fail(HandshakeError why) {
    error = why;
    status = HandshakeStatus::failed;
    forget();
    keys = {};
    return {status, {}, {}};
  }

  /// Everything that is secret and no longer needed.
  void forget() {
    params.psk = Psk();
    params.session.chain = SecretBytes();
    params.own_index.release();
    kem_secret = SecretBytes();
    x25519.reset();
  }

  HandshakeStep on_data(ByteView received) {
    if (!received.empty() && !reader.started()) clock.seen(2);
    switch (reader.feed(received)) {
      case FrameReader::State::refused: return fail(HandshakeError::bad_frame);
      case FrameReader::State::partial: return {};
      case FrameReader::State::complete: break;
    }
    if (!received.empty()) return fail(HandshakeError::bad_frame);
    return reader.type() == MessageType::reject ? on_reject() : on_answer();
  }

  HandshakeStep on_reject() {
    const auto refusal = parse_reject(reader.body());
    if (!refusal) return fail(HandshakeError::malformed);
    const auto code = static_cast<std::uint8_t>(refusal->code);
    if (!constant_time_equal(ratchet_reject_mac(params.psk, r1, code, refusal->retry_ms), refusal->mac))
      return fail(HandshakeError::bad_reject);
    reject_code = code;
    avoided = avoided_in(*refusal);
    return fail(HandshakeError::rejected);
  }

  HandshakeStep on_answer() {
    const auto answer = parse_ratchet_answer(reader.body(), flags, *kem);
    if (!answer) return fail(HandshakeError::malformed);
    times.ciphertext = answer->ciphertext.size();
    Secret<32> ss_x25519;
    if (x25519) {
      const auto theirs = answer->x25519_public.first<kX25519Size>();
      if (!timed(times.x25519, [&] { return x25519->derive(theirs, ss_x25519); }))
        return fail(HandshakeError::weak_key);
    }
    SecretBytes ss_kem;
    if ((flags & kRatchetKem) != 0)
      ss_kem = timed(times.kem_decaps, [&] { return Kem(*kem).decapsulate(kem_secret, answer->ciphertext); });
    const auto& session = params.session;
    const auto frame = reader.frame();
    Hash expected;
    timed(times.kdf, [&] {
      const auto th = transcript_ratchet(r1, frame.first(frame.size() - kHashSize));
      const ByteView x25519_part = x25519 ? ByteView(ss_x25519.view()) : ByteView();
      auto secrets = derive_secrets(params.psk, ss_kem.view(), x25519_part, session.chain.view(), th, session.suite->id,
                                    answer->session_id, next_epoch(session));
      keys = ratcheted(session, answer->session_id, secrets);
      expected = confirm_ratchet(secrets.k_cs, th);
    });
    if (!constant_time_equal(answer->confirm, expected)) return fail(HandshakeError::bad_confirm);
    keys.peer_index = answer->index;
    keys.own_index = std::move(params.own_index);
    forget();
    status = HandshakeStatus::done;
    return {status, {}, {}};
  }

  RatchetParams params;
  std::uint8_t flags = 0;
  const KemInfo* kem = nullptr;
  Families avoided;
  Bytes r1;
  SecretBytes kem_secret;
  std::optional<X25519> x25519;
};

RatchetInitiator::RatchetInitiator(RatchetParams params) : impl_(std::make_unique<Impl>(std::move(params))) {}
RatchetInitiator::~RatchetInitiator() = default;

Bytes RatchetInitiator::start(std::uint64_t now_ns) {
  if (!impl_->r1.empty()) throw TunnelError(Errc::state, "A ratchet is started once.");
  impl_->clock.enter(now_ns);
  return impl_->start();
}

HandshakeStep RatchetInitiator::on_data(ByteView received, std::uint64_t now_ns) {
  auto& self = *impl_;
  if (self.r1.empty()) throw TunnelError(Errc::state, "A ratchet is started before it takes data.");
  return step_of(self, received, now_ns, [&] { return self.on_data(received); });
}

const std::vector<FrameLimits>& RatchetInitiator::expecting() const noexcept { return impl_->reader.expecting(); }
HandshakeError RatchetInitiator::error() const noexcept { return impl_->error; }
std::uint8_t RatchetInitiator::reject_code() const noexcept { return impl_->reject_code; }
Families RatchetInitiator::avoided() const noexcept { return impl_->avoided; }
std::string RatchetInitiator::reason() const {
  if (!impl_->avoided.empty())
    return "The ground station makes no keys with " + impl_->avoided.text() +
           " any more, so not with this ratchet; ask for a full rekey.";
  return describe_ratchet(impl_->error, impl_->reject_code, true);
}
const HandshakeTimes& RatchetInitiator::times() const noexcept { return impl_->times; }

SessionKeys RatchetInitiator::take_keys() { return impl_->take_keys("ratchet"); }

}  // namespace pqcmav
