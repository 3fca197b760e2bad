// SPDX-License-Identifier: Apache-2.0
#include "control/client_attempt.hpp"

#include "control/admission.hpp"
#include "handshake/retry_cookie.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kNextTargetNs =
    1'000'000'000;                        // a name with several addresses: the next one is tried after this
constexpr std::size_t kPerFragment = 30;  // overhead of a datagram around a fragment

}  // namespace

ClientAttempt::ClientAttempt(const InitiatorParams& params, std::vector<SockAddr> targets, std::uint64_t now)
    : targets_(std::move(targets)), proven_(params.ticket.has_value()) {
  random_bytes(options_.attempt);
  keys_ = derive_fragment_keys(params.psk, options_.attempt);
  options_.in_session = targets_.empty();
  options_.datagram_limit = params.max_datagram;
  const auto longest = longest_server_hello(*params.suite, params.hybrid);
  const std::size_t fragments = longest / (params.max_datagram - 50) + 1;
  need_ = longest + kPerFragment * fragments;
  if (!in_session()) limit_ns_ = now + to_ns(kHandshakeLimit) + longest / 1024 * to_ns(seconds(1));
}

ClientAttempt::ClientAttempt() {
  random_bytes(options_.attempt);
  options_.in_session = true;
}

void ClientAttempt::begin(Bytes hello, std::vector<FrameLimits> answers, const KnownLink& known, std::uint64_t wire_ns,
                          std::uint64_t now) {
  answers_ = std::move(answers);
  options_.known = known;
  options_.wire_ns = wire_ns;
  if (wire_ns != 0) options_.datagram_limit = kDatagramSmall;
  transport_.emplace(options_, keys_.clone());
  next_target_ns_ = now + kNextTargetNs;
  transport_->expect(answers_);
  if (in_session())
    transport_->start(std::move(hello), now);
  else
    transport_->start_hello(std::move(hello), need_, proven_, now);
}

HandshakeDrop ClientAttempt::on_datagram(ByteView datagram, const SockAddr& source, std::uint64_t now) {
  if (std::ranges::find(targets_, source) == targets_.end()) return HandshakeDrop::unknown;
  if (datagram[0] == kRetryType) {
    const auto cookie = open_retry(datagram, name(), keys_.from_gcs);
    if (!cookie) return HandshakeDrop::tag;
    silent_ = false;
    transport_->set_cookie(*cookie, now);
    return HandshakeDrop::taken;
  }
  const auto header = parse_handshake_header(datagram);
  if (!header || header->from != HandshakeSide::gcs) return HandshakeDrop::malformed;
  if (header->attempt != name()) return HandshakeDrop::unknown;
  if (!tag_good(keys_.from_gcs, datagram)) return HandshakeDrop::tag;
  return take(datagram, source, now);
}

bool ClientAttempt::on_session_part(ByteView value, std::uint64_t now) {
  if (!in_session() || value.size() < kAttemptSize) return false;
  if (!std::equal(name().begin(), name().end(), value.begin())) return false;
  (void)take(value, SockAddr{}, now);
  return true;
}

HandshakeDrop ClientAttempt::take(ByteView datagram, const SockAddr& source, std::uint64_t now) {
  silent_ = false;
  const auto took = transport_->on_datagram(datagram, 0, now);
  // The address that answers is the gcs: the others are tried no more.
  if (transport_->arriving() && targets_.size() > 1) {
    targets_ = {source};
    target_ = 0;
  }
  if (auto message = transport_->take_message()) {
    busy_ = false;
    incoming_ = Incoming{std::move(*message), source};
  }
  return took == Transport::Took::taken      ? HandshakeDrop::taken
         : took == Transport::Took::repeated ? HandshakeDrop::repeated
                                             : HandshakeDrop::malformed;
}

void ClientAttempt::reply(Bytes frame, std::vector<FrameLimits> expecting, std::uint64_t now) {
  transport_->expect(std::move(expecting));
  transport_->start(std::move(frame), now);
}

void ClientAttempt::ask_again(std::uint16_t after_ms, std::uint64_t now) {
  const auto wait = std::clamp<std::uint64_t>(after_ms, kBusyRetryMin.count(), kBusyRetryMax.count());
  transport_->expect(answers_);  // an M2 is welcome even so
  held_until_ns_ = now + wait * 1'000'000;
  transport_->hold_hello(held_until_ns_);
  busy_ = true;
}

std::optional<Bytes> ClientAttempt::poll(std::uint64_t now) {
  if (targets_.size() > 1 && now >= next_target_ns_) {
    target_ = (target_ + 1) % targets_.size();
    next_target_ns_ = now + kNextTargetNs;
  }
  auto out = transport_->poll(now);
  return out ? std::optional(std::move(out->datagram)) : std::nullopt;
}

std::uint64_t ClientAttempt::deadline() const noexcept {
  const auto due = std::min({transport_->deadline(), limit_ns_, gives_up_ns()});
  return targets_.size() > 1 ? std::min(due, next_target_ns_) : due;
}

}  // namespace pqcmav
