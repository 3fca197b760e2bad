// SPDX-License-Identifier: Apache-2.0
// What a Transport sends, and when.
#include <algorithm>
#include <utility>

#include "handshake/transport_impl.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kApart = HelloSchedule::kApart;
constexpr std::uint64_t kPaceSlack = 2 * kMs;  // what a caller's timer may be late without slowing us down
constexpr std::uint64_t kCompleteRepeat = 1'000 * kMs;
constexpr std::uint32_t kTimeoutsToSmall = 2, kTimeoutsMost = 100, kCopiedFragments = 2, kLastFragments = 4;
constexpr std::size_t kInSessionAround = 41;  // what a packet of the session adds to a value of TLV 32

}  // namespace

void Transport::Impl::start_hello(Bytes m1, std::uint32_t hello_copies, HelloSchedule::Sizes sizes, std::uint64_t now) {
  last_progress = now;
  hello_frame = std::move(m1);
  hello.emplace(options.wire_ns != 0 ? HelloSchedule::kApartByWire : HelloSchedule::kApart)
      .start(hello_copies, sizes, now, rtt);
}

void Transport::Impl::start(Bytes frame, std::uint64_t now) {
  const auto type = frame.at(kFrameHeaderSize - 1);
  last_progress = now;
  complete_due = kNever;
  ack_timer.stop();
  if (type == kM1) return start_hello(std::move(frame), lossy ? 2 : 1, {0, 0}, now);
  hello.reset();
  if (type == kM4 || type == kReject) return start_last(std::move(frame), now);
  outgoing.emplace(std::move(frame), terms(), log.next_packet());
  open_window();
  timeouts = cut_timeouts = forced = 0;
  timeout_at = kNever;
  next_send = started_at = now;
  more = true;
  forbidden = answered = false;
  heard_since_start = type == kM3 && acked_whole;
  copies.clear();
  if (type == kM3 && lossy && outgoing->layout().count <= kCopiedFragments)
    for (std::uint32_t i = 0; i < outgoing->layout().count; ++i) copies.push_back({now + (i + 1) * kApart, i});
}

void Transport::Impl::open_window() {
  const auto first = options.wire_ns != 0 ? kWireWindow : kFirstContactWindow;
  window.emplace(options.in_session ? options.known.window : first, !options.in_session, log.next_packet());
}

void Transport::Impl::start_last(Bytes frame, std::uint64_t now) {
  outgoing.reset();
  last = std::move(frame);
  last_answers = complete_message;
  last_path = complete_path;
  last_due = {now};
  if (options.wire_ns != 0)
    last_due.push_back(now + HelloSchedule::kApartByWire);
  else if (lossy)
    last_due.push_back(now + kApart);
}

void Transport::Impl::work(std::uint64_t now) {
  send_hellos(now);
  send_acks(now);
  while (!last_due.empty() && now >= last_due.front()) {
    last_due.pop_front();
    for (PathIndex path = 0; path < kPaths; ++path)
      if (path == last_path || ledger.is_target(path)) send_last(path, now);
    if (last_path == kElsewhere) send_last(kElsewhere, now);
  }
  send_copies(now);
  pump(now);
  if (sending() && !forbidden && now >= timeout_at) {
    on_timeout(now);
    pump(now);
  } else if (unanswered() && now >= timeout_at) {
    ask_again(now);
  }
}

// --- M1 -----------------------------------------------------------------------------------------------------------

void Transport::Impl::send_hellos(std::uint64_t now) {
  if (!hello) return;
  while (const auto size = hello->take(now)) send_hello(*size, now);
  if (now < hello->due()) return;
  if (hello->timed_out(now, rtt)) {
    lossy = true;
    ++counts.timeouts;
  }
  while (const auto size = hello->take(now)) send_hello(*size, now);
}

void Transport::Impl::send_hello(std::size_t size, std::uint64_t now) {
  const auto length = hello_frame.size();
  auto datagram = begin();
  append_fragment_header(datagram,
                         {kM1, static_cast<std::uint32_t>(length), static_cast<std::uint16_t>(length), 0, {}});
  append(datagram, hello_frame);
  if (!options.in_session) {
    if (cookie) append_cookie(datagram, *cookie);
    append_pad(datagram, size > kDatagramTagSize ? size - kDatagramTagSize : 0);
  }
  send(std::move(datagram), 0, SentLog::kNoFragment, now);
}

// --- Acknowledgements ---------------------------------------------------------------------------------------------

Ack Transport::Impl::stamped(std::uint64_t now) const noexcept {
  Ack ack;
  ack.echo = highest.value_or(0);
  ack.delay_ms = static_cast<std::uint16_t>(std::min<std::uint64_t>((now - highest_at) / kMs, 0xffff));
  return ack;
}

Ack Transport::Impl::ack_of_complete(std::uint64_t now) const noexcept {
  auto ack = stamped(now);
  ack.message = complete_message;
  ack.base = static_cast<std::uint16_t>(complete_count);
  return ack;
}

void Transport::Impl::send_acks(std::uint64_t now) {
  if (now >= complete_due) {
    complete_due = now + kCompleteRepeat;
    last_progress = now;
    acked_whole = true;
    send_ack(ack_of_complete(now), now);
  }
  if (incoming && now >= ack_timer.due()) {
    const auto srtt = rtt.srtt();
    ack_timer.on_sent(now, srtt && wide ? std::min(*srtt, kWideWait) : srtt, kWireTimeoutParts * options.wire_ns);
    send_state(now);
  }
}

void Transport::Impl::send_state(std::uint64_t now) {
  IncomingMessage::Bitmap bitmap;
  auto ack = stamped(now);
  ack.message = incoming->message();
  ack.base = static_cast<std::uint16_t>(incoming->base());
  ack.bitmap = ByteView(bitmap).first(incoming->bitmap(bitmap));
  send_ack(ack, now);
}

void Transport::Impl::send_ack(const Ack& ack, std::uint64_t now) {
  for (PathIndex path = 0; path < kPaths; ++path)
    if (ledger.is_target(path)) send_ack_to(path, ack, now);
}

void Transport::Impl::send_ack_to(PathIndex path, const Ack& ack, std::uint64_t now) {
  auto datagram = begin();
  append_ack(datagram, ack);
  send(std::move(datagram), path, SentLog::kNoFragment, now);
}

// --- Fragments ----------------------------------------------------------------------------------------------------

void Transport::Impl::send_copies(std::uint64_t now) {
  while (!copies.empty() && now >= copies.front().at) {
    const auto index = copies.front().fragment;
    copies.pop_front();
    if (!sending() || outgoing->acked(index)) continue;
    for (PathIndex path = 0; path < kPaths; ++path)
      if (ledger.is_target(path)) send_fragment(path, index, now);
  }
}

void Transport::Impl::on_timeout(std::uint64_t now) {
  timeouts = std::min(timeouts + 1, kTimeoutsMost);
  cut_timeouts = std::min(cut_timeouts + 1, kTimeoutsMost);
  ++counts.timeouts;
  lossy = true;
  more = true;
  if (cut_timeouts >= kTimeoutsToSmall && heard_since_start && options.datagram_limit > kDatagramSmall &&
      outgoing->large_unheard()) {
    options.datagram_limit = kDatagramSmall;
    outgoing->cut_again(terms(), log.next_packet());
    open_window();
    copies.clear();
    forced = 0;
  } else {
    forced = outgoing->on_timeout();
  }
  arm(now);
}

bool Transport::Impl::asks(std::uint8_t message) noexcept { return message == kM3 || message == kR1; }

void Transport::Impl::ask_again(std::uint64_t now) {
  timeouts = std::min(timeouts + 1, kTimeoutsMost);
  ++counts.timeouts;
  lossy = true;
  auto datagram = begin();
  outgoing->append_to(datagram, 0);
  send(std::move(datagram), 0, SentLog::kNoFragment, now);
  arm(now);
}

void Transport::Impl::pump(std::uint64_t now) {
  while (more && sending() && now >= next_send) {
    const auto sent = send_next(now);
    const bool was_forbidden = std::exchange(forbidden, sent == Sent::forbidden);
    if (sent == Sent::yes) {
      if (timeout_at == kNever || was_forbidden) arm(now);
      next_send = std::max(next_send, now - std::min(now, kPaceSlack)) + std::max(window->gap(rtt), options.wire_ns);
    } else {
      if (was_forbidden && !forbidden) arm(now);
      more = false;
    }
  }
}

Transport::Impl::Sent Transport::Impl::send_next(std::uint64_t now) {
  if (forced > 0 || outgoing->on_its_way() < window->size()) {
    if (const auto index = outgoing->next_lost()) {
      if (forced > 0) --forced;
      return send_lost(*index, now);
    }
    forced = 0;
  }
  return send_new(now);
}

Transport::Impl::Sent Transport::Impl::send_lost(std::uint32_t index, std::uint64_t now) {
  auto sent = Sent::forbidden;
  for (PathIndex path = 0; path < kPaths; ++path)
    if (ledger.is_target(path) && send_fragment(path, index, now)) sent = Sent::yes;
  return sent;
}

/// The path that got least comes first: what one may not get does not hold up the others.
Transport::Impl::Sent Transport::Impl::send_new(std::uint64_t now) {
  auto result = Sent::no;
  std::array<bool, kPaths> tried{};
  while (true) {
    std::optional<PathIndex> best;
    for (PathIndex path = 0; path < kPaths; ++path) {
      if (tried[path] || !ledger.is_target(path) || !outgoing->next_new(path, window->size())) continue;
      if (!best || outgoing->position(path) < outgoing->position(*best)) best = path;
    }
    if (!best) return result;
    tried[*best] = true;
    if (send_fragment(*best, *outgoing->next_new(*best, window->size()), now)) {
      outgoing->advance(*best);
      return Sent::yes;
    }
    result = Sent::forbidden;
  }
}

/// Does a fragment of the answer to M1 (or R1) carry its ACK, so that both ends have a round trip from it?
bool Transport::Impl::acks_hello(const Bytes& datagram, std::uint32_t index) const noexcept {
  if ((outgoing->message() != kM2 && outgoing->message() != kR2) || outgoing->heard_of() || complete_count == 0)
    return false;
  const auto around = options.in_session ? kInSessionAround : kDatagramTagSize;
  return datagram.size() + kAckHeaderSize + kFragmentHeaderSize + outgoing->layout().length(index) + around <=
         options.datagram_limit;
}

bool Transport::Impl::send_fragment(PathIndex path, std::uint32_t index, std::uint64_t now) {
  auto datagram = begin();
  if (acks_hello(datagram, index)) append_ack(datagram, ack_of_complete(now));
  outgoing->append_to(datagram, index);
  const auto packet = log.next_packet();
  if (!send(std::move(datagram), path, index, now)) return false;
  outgoing->on_sent(index, packet);
  window->on_sent();
  return true;
}

void Transport::Impl::send_last(PathIndex path, std::uint64_t now) {
  if (last.empty()) return;
  auto whole = terms();
  whole.parity = false;
  const OutgoingMessage message(last, whole, log.next_packet());
  for (std::uint32_t i = 0; i < std::min(message.layout().count, kLastFragments); ++i) {
    auto datagram = begin();
    message.append_to(datagram, i);
    send(std::move(datagram), path, SentLog::kNoFragment, now);
  }
}

// --- Datagrams ----------------------------------------------------------------------------------------------------

Bytes Transport::Impl::begin() const {
  Bytes datagram;
  datagram.reserve(options.datagram_limit);
  if (options.in_session) {
    append(datagram, options.attempt);
    append_be(datagram, log.next_packet());
  } else {
    append_handshake_header(datagram, {options.side, options.attempt, log.next_packet()});
  }
  return datagram;
}

/// False where rule 3 forbids it. The answer to an M3 from elsewhere is far shorter than what it answers.
bool Transport::Impl::send(Bytes datagram, PathIndex path, std::uint32_t fragment, std::uint64_t now) {
  const auto size = datagram.size() + (options.in_session ? 0 : kDatagramTagSize);
  if (path != kElsewhere && !ledger.may_send(path, size)) return false;
  if (!options.in_session) append_tag(keys.from(options.side), datagram);
  if (path != kElsewhere) ledger.on_sent(path, size);
  log.add({now, fragment, static_cast<std::uint16_t>(size), path, false});
  ++counts.sent;
  counts.sent_bytes += size;
  out.push_back({path, std::move(datagram)});
  return true;
}

std::uint64_t Transport::Impl::deadline() const noexcept {
  if (!out.empty()) return 0;
  auto next = complete_due;
  const auto sooner = [&next](std::uint64_t at) { next = std::min(next, at); };
  if (hello) sooner(hello->due());
  if (incoming) sooner(ack_timer.due());
  if (!last_due.empty()) sooner(last_due.front());
  if (!copies.empty()) sooner(copies.front().at);
  if (sending() && more) sooner(next_send);
  if ((sending() && !forbidden) || unanswered()) sooner(timeout_at);
  return next;
}

}  // namespace pqcmav
