// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "crypto/x25519.hpp"
#include "handshake/handshake_clock.hpp"
#include "handshake/handshake_end.hpp"
#include "handshake/key_schedule.hpp"
#include "handshake/ratchet.hpp"
#include "handshake/ratchet_keys.hpp"
#include "handshake/ratchet_messages.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {

struct RatchetResponder::Impl : HandshakeEnd {
  explicit Impl(RatchetTerms&& given) : terms(std::move(given)) {
    const auto& session = terms.session;
    const bool compact = (session.features & features::kCompact) != 0;
    if (session.suite == nullptr || session.chain.empty() || (compact && !terms.receive_index))
      throw TunnelError(Errc::state, "A ratchet needs a running session.");
    suite = session.suite;
    reader.expect(ratchet_hello_limits());
  }

  HandshakeStep fail(HandshakeError why, Bytes last_words = {}) {
    error = why;
    status = HandshakeStatus::failed;
    forget();
    keys = {};
    times.bytes_sent += last_words.size();
    return {status, std::move(last_words), {}};
  }

  HandshakeStep reject(Reject code, std::uint16_t detail = 0) {
    reject_code = static_cast<std::uint8_t>(code);
    const auto mac = ratchet_reject_mac(terms.psk, reader.frame(), reject_code, detail);
    return fail(HandshakeError::refused_locally, encode_reject({code, detail, mac}));
  }

  void forget() {
    terms.psk = Psk();
    terms.session.chain = SecretBytes();
  }

  HandshakeStep take(ByteView message) {
    clock.seen(1);
    if (reader.feed(message) != FrameReader::State::complete || !message.empty())
      return fail(HandshakeError::bad_frame);
    const auto hello = parse_ratchet_hello(reader.body());
    if (!hello) return fail(HandshakeError::malformed);
    flags = hello->flags;
    // Its fresh share is of ML-KEM whatever the suite's own KEM is.
    const bool kem_avoided = !hello->kem_public.empty() && terms.avoided.has(ratchet_kem(*suite));
    if (kem_avoided || terms.avoided.has(*suite)) return reject(Reject::suite_not_allowed, terms.avoided.bits());
    if (!allowed(*hello)) return reject(Reject::epoch);
    return on_hello(*hello);
  }

  [[nodiscard]] bool allowed(const RatchetHello& hello) {
    const auto& session = terms.session;
    if (bar_of(session.features, session.ratchets, terms.key_old) != RatchetBar::none) return false;
    if (hello.flags != 0 && hello.flags != ratchet_flags(session.hybrid, true)) return false;
    if (!hello.kem_public.empty() && hello.kem_public.size() != ratchet_kem(*suite).public_key) return false;
    if ((session.features & features::kCompact) == 0) return true;
    keys.own_index = terms.receive_index();
    return keys.own_index.value().has_value();
  }

  HandshakeStep on_hello(const RatchetHello& hello) {
    const auto& session = terms.session;
    RatchetAnswer said;
    said.session_id = fresh_session_id(terms.random, terms.takes_id);
    if (said.session_id == session.id)
      throw TunnelError(Errc::crypto, "The source of randomness gave a session id that is in use.");
    said.index = keys.own_index.value().value_or(0);
    terms.random(said.nonce);
    Secret<32> ss_x25519;
    ByteView x25519_part;
    std::optional<X25519> x25519;
    if (!hello.x25519_public.empty()) {
      Secret<32> scalar;
      terms.random(scalar.mut());
      const auto theirs = hello.x25519_public.first<kX25519Size>();
      const bool strong = timed(times.x25519, [&] {
        x25519.emplace(scalar.view());
        return x25519->derive(theirs, ss_x25519);
      });
      if (!strong) return fail(HandshakeError::weak_key);
      said.x25519_public = x25519->public_key();
      x25519_part = ss_x25519.view();
    }
    SecretBytes ss_kem;
    Bytes ciphertext;
    if (!hello.kem_public.empty())
      ciphertext =
          timed(times.kem_encaps, [&] { return Kem(ratchet_kem(*suite)).encapsulate(hello.kem_public, ss_kem); });
    said.ciphertext = ciphertext;
    times.public_key = hello.kem_public.size();
    times.ciphertext = ciphertext.size();
    auto r2 = encode_ratchet_answer(said);
    timed(times.kdf, [&] {
      const auto th = transcript_ratchet(reader.frame(), r2);
      auto secrets = derive_secrets(terms.psk, ss_kem.view(), x25519_part, session.chain.view(), th, suite->id,
                                    said.session_id, next_epoch(session));
      auto own_index = std::move(keys.own_index);
      keys = ratcheted(session, said.session_id, secrets);
      keys.own_index = std::move(own_index);
      keys.peer_index = hello.index;
      append(r2, confirm_ratchet(secrets.k_cs, th));
    });
    id = said.session_id;
    forget();
    status = HandshakeStatus::done;
    return answer(2, std::move(r2));
  }

  RatchetTerms terms;
  const Suite* suite = nullptr;
  std::uint8_t flags = kRatchetKem;
  SessionId id{};
};

RatchetResponder::RatchetResponder(RatchetTerms terms) : impl_(std::make_unique<Impl>(std::move(terms))) {}
RatchetResponder::~RatchetResponder() = default;

HandshakeStep RatchetResponder::take(ByteView message, std::uint64_t now_ns) {
  auto& self = *impl_;
  return step_of(self, message, now_ns, [&] { return self.take(message); });
}

const std::vector<FrameLimits>& RatchetResponder::expecting() const noexcept { return impl_->reader.expecting(); }
HandshakeError RatchetResponder::error() const noexcept { return impl_->error; }
std::uint8_t RatchetResponder::reject_code() const noexcept { return impl_->reject_code; }
const Suite* RatchetResponder::suite() const noexcept { return impl_->suite; }
const SessionId& RatchetResponder::session_id() const noexcept { return impl_->id; }
const HandshakeTimes& RatchetResponder::times() const noexcept { return impl_->times; }
HandshakeKind RatchetResponder::kind() const noexcept {
  return impl_->flags == 0 ? HandshakeKind::ratchet_plain : HandshakeKind::ratchet;
}
std::string RatchetResponder::reason() const { return describe_ratchet(impl_->error, impl_->reject_code, false); }

SessionKeys RatchetResponder::take_keys() { return impl_->take_keys("ratchet"); }

}  // namespace pqcmav
