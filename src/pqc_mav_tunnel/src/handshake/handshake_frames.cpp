// SPDX-License-Identifier: Apache-2.0
#include "handshake/handshake_frames.hpp"

#include <algorithm>
#include <utility>

#include "constants.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kFirstRoom = 4096;

std::size_t announced(const Bytes& frame) noexcept { return load_be<std::uint32_t>(frame.data()); }

}  // namespace

void FrameReader::expect(std::vector<FrameLimits> allowed) {
  allowed_ = std::move(allowed);
  frame_ = Bytes();
  state_ = State::partial;
}

FrameReader::State FrameReader::feed(ByteView& in) {
  if (state_ != State::partial) return state_;
  if (frame_.size() < kFrameHeaderSize) {
    take_from(in, kFrameHeaderSize);
    if (frame_.size() < kFrameHeaderSize) return state_;
    if (!header_allowed()) return state_ = State::refused;
  }
  const auto total = kFrameHeaderSize + announced(frame_);
  take_from(in, total);
  if (frame_.size() == total) state_ = State::complete;
  return state_;
}

void FrameReader::take_from(ByteView& in, std::size_t up_to) {
  const auto count = std::min(in.size(), up_to - frame_.size());
  const auto needed = frame_.size() + count;
  if (needed > frame_.capacity()) frame_.reserve(std::min(up_to, std::max({needed, 2 * frame_.size(), kFirstRoom})));
  append(frame_, in.first(count));
  in = in.subspan(count);
}

bool FrameReader::header_allowed() const noexcept {
  const auto size = announced(frame_);
  return std::any_of(allowed_.begin(), allowed_.end(), [&](const FrameLimits& limits) {
    return type() == limits.type && size >= limits.least && size <= limits.greatest;
  });
}

MessageType FrameReader::type() const noexcept { return static_cast<MessageType>(frame_[kFrameHeaderSize - 1]); }

ByteView FrameReader::body() const noexcept { return ByteView(frame_).subspan(kFrameHeaderSize); }

Bytes FrameReader::take() noexcept {
  state_ = State::refused;
  return std::exchange(frame_, Bytes());
}

Bytes start_frame(MessageType type, std::size_t body_size) {
  Bytes frame;
  frame.reserve(kFrameHeaderSize + body_size);
  append_be(frame, static_cast<std::uint32_t>(body_size));
  append_be(frame, static_cast<std::uint8_t>(type));
  return frame;
}

}  // namespace pqcmav
