// SPDX-License-Identifier: Apache-2.0
#include "handshake/outgoing_message.hpp"

#include <algorithm>
#include <utility>

namespace pqcmav {
namespace {

// What surrounds the bytes of a fragment: header, FRAGMENT and tag; inside a session the packet around it.
constexpr std::size_t kAround = kDatagramLeast + kFragmentHeaderSize, kAroundInSession = 62;
// The same with the ACK of the former message.
constexpr std::size_t kAroundCut = 50, kAroundCutInSession = 73;
constexpr std::uint32_t kAckReach = 8 * kAckBitmapMax;
constexpr std::uint32_t kAtTimeout = 2;

}  // namespace

OutgoingMessage::OutgoingMessage(Bytes frame, const CutTerms& terms, std::uint32_t first_packet)
    : frame_(std::move(frame)), first_packet_(first_packet) {
  cut(terms);
}

void OutgoingMessage::cut(const CutTerms& terms) {
  const auto limit = terms.datagram_limit;
  const bool whole = frame_.size() <= limit - (terms.in_session ? kAroundInSession : kAround);
  const auto size = whole ? frame_.size() : limit - (terms.in_session ? kAroundCutInSession : kAroundCut);
  layout_ = FragmentLayout::of(static_cast<std::uint32_t>(frame_.size()), static_cast<std::uint32_t>(size)).value();
  if (!terms.parity) layout_.groups = 0;
  parts_.assign(layout_.all(), Part{});
}

void OutgoingMessage::cut_again(const CutTerms& terms, std::uint32_t first_packet) {
  first_packet_ = first_packet;
  base_ = on_its_way_ = lost_ = 0;
  positions_ = {};
  heard_of_ = false;
  cut(terms);
}

bool OutgoingMessage::large_unheard() const noexcept {
  return !large_heard_ && layout_.length(0) + kAround > kDatagramSmall;
}

void OutgoingMessage::append_to(Bytes& out, std::uint32_t index) const {
  append_fragment_header(
      out, {message(), layout_.total, static_cast<std::uint16_t>(layout_.size), static_cast<std::uint16_t>(index), {}});
  const ByteView frame(frame_);
  if (!layout_.is_parity(index)) return append(out, frame.subspan(layout_.offset(index), layout_.length(index)));
  const auto at = out.size();
  out.resize(at + layout_.size);
  const auto group = index - layout_.count;
  for (auto i = layout_.group_begin(group); i < layout_.group_end(group); ++i)
    for (std::uint32_t k = 0; k < layout_.length(i); ++k) out[at + k] ^= frame[layout_.offset(i) + k];
}

/// One above the last fragment that may be sent: acknowledgements reach no further.
std::uint32_t OutgoingMessage::reach() const noexcept { return std::min(layout_.count, base_ + kAckReach + 1); }

void OutgoingMessage::set(Part& part, State state) noexcept {
  on_its_way_ += (state == State::on_its_way) - (part.state == State::on_its_way);
  lost_ += (state == State::lost) - (part.state == State::lost);
  part.state = state;
}

std::optional<std::uint32_t> OutgoingMessage::next_lost() const noexcept {
  if (lost_ == 0) return std::nullopt;
  std::optional<std::uint32_t> oldest;
  for (auto i = base_; i < reach(); ++i)
    if (parts_[i].state == State::lost && (!oldest || parts_[i].newest < parts_[*oldest].newest)) oldest = i;
  return oldest;
}

std::optional<std::uint32_t> OutgoingMessage::next_new(std::uint8_t path, std::uint32_t window) noexcept {
  auto& at = positions_[path];
  // Acknowledged meanwhile, or waiting to be sent again: not new any more.
  while (at < layout_.all()) {
    const auto state = parts_[layout_.nth(at)].state;
    if (state != State::acked && state != State::lost) break;
    ++at;
  }
  if (at == layout_.all() || done()) return std::nullopt;
  const auto index = layout_.nth(at);
  if (!layout_.is_parity(index) && index >= reach()) return std::nullopt;
  // What other paths were sent already takes no more of the window.
  if (parts_[index].state == State::unsent && on_its_way_ >= window) return std::nullopt;
  return index;
}

void OutgoingMessage::on_sent(std::uint32_t index, std::uint32_t packet) noexcept {
  parts_[index].newest = packet;
  set(parts_[index], State::on_its_way);
}

bool OutgoingMessage::take_ack(std::uint32_t index) noexcept {
  if (acked(index)) return false;
  set(parts_[index], State::acked);
  if (layout_.length(index) + kAround > kDatagramSmall) large_heard_ = true;
  return true;
}

OutgoingMessage::AckNews OutgoingMessage::on_ack(const Ack& ack) noexcept {
  AckNews news;
  if (ack.echo < first_packet_ || ack.base > layout_.count) return news;
  heard_of_ = true;
  const auto end = reach();
  for (auto i = base_; i < end; ++i)
    if (ack.has(i)) news.fresh |= take_ack(i);
  // Messages with parity are short: all of them is in reach.
  const auto last = layout_.groups > 0 ? layout_.all() : end;
  for (auto i = base_; i < last; ++i) {
    // A shorter bitmap than 32 bytes says that nothing above it is here.
    if (parts_[i].state != State::on_its_way || parts_[i].newest > ack.echo) continue;
    if (layout_.is_parity(i)) {
      set(parts_[i], State::acked);  // sent once, whatever became of it
    } else if (i <= ack.base + kAckReach) {
      set(parts_[i], State::lost);
      ++news.lost;
    }
  }
  while (base_ < layout_.count && acked(base_)) ++base_;
  return news;
}

std::uint32_t OutgoingMessage::on_timeout() noexcept {
  std::uint32_t marked = 0;
  for (; marked < kAtTimeout; ++marked) {
    Part* oldest = nullptr;
    for (auto i = base_; i < reach(); ++i)
      if (parts_[i].state == State::on_its_way && (oldest == nullptr || parts_[i].newest < oldest->newest))
        oldest = &parts_[i];
    if (oldest == nullptr) break;
    set(*oldest, State::lost);
  }
  return marked;
}

void OutgoingMessage::finish() noexcept {
  base_ = layout_.count;
  on_its_way_ = lost_ = 0;
}

}  // namespace pqcmav
