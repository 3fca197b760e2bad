// SPDX-License-Identifier: Apache-2.0
// What a Transport makes of a datagram.
#include <algorithm>
#include <utility>

#include "handshake/transport_impl.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kAnswerQuiet = 10 * kMs, kLastApart = 10 * kMs;
constexpr std::size_t kSessionHeader = 12;  // attempt, packet

}  // namespace

/// The frames of a datagram of this attempt from the other end.
std::optional<ByteView> Transport::Impl::open(ByteView datagram, std::uint32_t& packet) const noexcept {
  if (options.in_session) {
    if (datagram.size() < kSessionHeader) return std::nullopt;
    if (!std::equal(options.attempt.begin(), options.attempt.end(), datagram.begin())) return std::nullopt;
    packet = load_be<std::uint32_t>(datagram.data() + options.attempt.size());
    return datagram.subspan(kSessionHeader);
  }
  const auto header = parse_handshake_header(datagram);
  if (!header || header->from == options.side || header->attempt != options.attempt) return std::nullopt;
  packet = header->packet;
  return frames_of(datagram);
}

bool Transport::Impl::allowed_total(const Fragment& fragment) const noexcept {
  return std::any_of(allowed.begin(), allowed.end(), [&](const FrameLimits& limits) {
    return static_cast<std::uint8_t>(limits.type) == fragment.message &&
           fragment.total >= kFrameHeaderSize + limits.least && fragment.total <= kFrameHeaderSize + limits.greatest;
  });
}

Transport::Took Transport::Impl::on_datagram(ByteView datagram, PathIndex path, std::uint64_t now) {
  std::uint32_t packet = 0;
  const auto content = path <= kElsewhere ? open(datagram, packet) : std::nullopt;
  if (!content) return Took::malformed;
  if (path != kElsewhere) ledger.on_received(path, datagram.size());
  ++counts.received;
  counts.received_bytes += datagram.size();
  heard_since_start = more = true;
  const auto frames = parse_frames(*content, options.in_session                   ? FramesOf::session
                                             : options.side == HandshakeSide::gcs ? FramesOf::drone
                                                                                  : FramesOf::gcs);
  if (!frames) return Took::malformed;
  const auto fragments = std::span(frames->fragments).first(frames->fragment_count);
  for (const auto& fragment : fragments)
    if (!is_done(fragment.message) && !allowed_total(fragment)) return Took::malformed;
  // A Reject is made without any state: its number says nothing about the others.
  if (fragments.empty() || fragments[0].message != kReject) on_packet(packet, now);
  auto took = Took::repeated;
  for (const auto& ack : std::span(frames->acks).first(frames->ack_count))
    if (on_ack(ack, datagram.size(), now)) took = Took::taken;
  for (const auto& fragment : fragments) {
    const auto this_one = on_fragment(fragment, path, now);
    if (this_one == Took::malformed) return this_one;
    if (this_one == Took::taken) took = this_one;
    if (this_one == Took::taken) repeats = 0;
    if (this_one == Took::repeated) ++counts.repeated_fragments, ++repeats;
  }
  if (!fragments.empty() && is_done(fragments[0].message) && fragments[0].message == last_answers)
    if (took == Took::repeated && !last.empty() && (path == kElsewhere || now >= last_again[path])) {
      if (path != kElsewhere) last_again[path] = now + kLastApart;
      send_last(path, now);
    }
  return took;
}

void Transport::Impl::on_packet(std::uint32_t packet, std::uint64_t now) {
  const bool first_of_drone = !highest && options.side == HandshakeSide::gcs;
  if ((highest && packet > *highest + 1) || (first_of_drone && packet > 0)) lossy = true;
  if (highest && packet <= *highest) return;
  highest = packet;
  highest_at = now;
}

bool Transport::Impl::on_ack(const Ack& ack, std::size_t with, std::uint64_t now) {
  if (ack.echo < options.first_packet || ack.echo >= log.next_packet()) return false;
  bool news = false;
  if (auto* record = log.find(ack.echo)) {
    answered_by(record->path);
    const auto delay = ack.delay_ms * kMs;
    if (!record->echoed && now >= record->at + delay) {
      news = true;
      const auto round_trip = now - record->at - delay;
      rtt.sample(round_trip);
      if (window) window->on_rtt(round_trip);
      on_round_trip(round_trip, std::max<std::size_t>(record->size, with));
    }
    record->echoed = true;
  }
  if (hello && ack.message == kM1 && ack.base > 0) {
    hello->on_progress();
    last_progress = now;
  }
  if (!outgoing || ack.message != outgoing->message()) return news;
  const auto said = outgoing->on_ack(ack);
  for (std::uint32_t i = 0; i < said.lost; ++i) window->on_lost();
  counts.lost += said.lost;
  lossy |= said.lost > 0;
  if (ack.echo >= outgoing->first_packet()) window->on_ack(ack.echo, log.next_packet(), rtt);
  if (said.fresh) {
    timeouts = repeats = 0;
    arm(now);
  }
  if (said.fresh || ack.base >= outgoing->layout().count) last_progress = now;
  return news || said.fresh || said.lost > 0;
}

/// `size`: of the larger datagram of the two that made this round trip.
void Transport::Impl::on_round_trip(std::uint64_t round_trip, std::size_t size) noexcept {
  if (size < kFragmentSizeLeast) return;
  full_round_trip = std::min(full_round_trip.value_or(round_trip), round_trip);
}

Transport::Took Transport::Impl::on_fragment(const Fragment& fragment, PathIndex path, std::uint64_t now) {
  if (is_done(fragment.message)) return Took::repeated;
  const auto layout = FragmentLayout::of(fragment.total, fragment.size).value();  // parse_frames() saw to it
  if (fragment.message == kReject) {
    if (ready || layout.count > 1) return layout.count > 1 ? Took::malformed : Took::repeated;
    return deliver(Bytes(fragment.bytes.begin(), fragment.bytes.end()), kReject, 1, path, now);
  }
  if (incoming && (incoming->message() != fragment.message || incoming->layout().total != fragment.total))
    return Took::malformed;
  if (incoming && fragment.size > incoming->layout().size) return Took::repeated;
  on_answer(fragment.message, now);
  // The gcs may have sent what rule 3 allows, and waits to know the address.
  const bool awaited = !incoming && fragment.message == kM2 && !options.in_session;
  if (!incoming || fragment.size < incoming->layout().size) incoming.emplace(fragment.message, layout);
  const auto rebuilt = incoming->rebuilt();
  const bool fresh = incoming->add(fragment);
  counts.rebuilt += incoming->rebuilt() - rebuilt;
  if (fresh) last_progress = now;
  if (incoming->complete()) return deliver(incoming->take(), fragment.message, layout.count, path, now);
  ack_timer.on_fragment(now, awaited);
  return fresh ? Took::taken : Took::repeated;
}

/// The peer has all of what this answers.
void Transport::Impl::on_answer(std::uint8_t message, std::uint64_t now) {
  // On a quick link M2 comes whole before an acknowledgement is due: then this is all there is to know, and a bound.
  if (outgoing && !answered && !full_round_trip) on_round_trip(now - started_at, outgoing->layout().length(0));
  arriving = answered = true;
  hello.reset();
  if (outgoing) outgoing->finish();
  // M2 went nowhere else.
  if (message == kM3 && !ledger.any_answered()) answered_by(0);
}

Transport::Took Transport::Impl::deliver(Bytes frame, std::uint8_t message, std::uint32_t count, PathIndex path,
                                         std::uint64_t now) {
  if (message != kReject) {
    incoming.reset();
    ack_timer.stop();
  }
  if (load_be<std::uint32_t>(frame.data()) != frame.size() - kFrameHeaderSize || frame[kFrameHeaderSize - 1] != message)
    return Took::malformed;
  ready = std::move(frame);
  if (message == kReject) return Took::taken;
  done |= std::uint64_t{1} << message;
  if (message == kM2) hello_frame = {};
  complete_message = message;
  complete_count = count;
  complete_path = path;
  if (message != kM4 && message != kR2) complete_due = now + kAnswerQuiet;
  return Took::taken;
}

void Transport::Impl::answered_by(PathIndex path) noexcept {
  if (path >= kPaths || ledger.free() || ledger.has_answered(path)) return;
  ledger.answered(path);
  more = true;
}

PathIndex Transport::Impl::join(std::size_t used) {
  const auto path = ledger.place(used);
  ledger.answered(path);
  last_again[path] = 0;
  if (outgoing) outgoing->begin_again(path);
  more = true;
  return path;
}

void Transport::Impl::lift() noexcept {
  ledger.lift(0, kFirstContactWindow * (options.datagram_limit + PathLedger::kHeaders));
  more = true;
}

}  // namespace pqcmav
