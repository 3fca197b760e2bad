// SPDX-License-Identifier: Apache-2.0
// The frames of the handshake's messages, `u32 length | u8 type | body`: a reader that refuses before it allocates, and
// the way to build one.
#pragma once

#include <cstddef>
#include <vector>

#include "bytes.hpp"

namespace pqcmav {

enum class MessageType : std::uint8_t {
  challenge = 0,
  client_hello = 1,
  server_hello = 2,
  client_finish = 3,
  server_finish = 4,
  ratchet_hello = 5,
  ratchet_answer = 6,
  reject = 9
};

/// A message that may legally come next, with the least and greatest length of its body in bytes.
struct FrameLimits {
  MessageType type;
  std::size_t least, greatest;
};

/// Collects one frame out of a stream. The header is checked against the limits before any room is made for the body,
/// and room is made for what has arrived, not for what was announced: never more than twice the bytes received (or one
/// page).
class FrameReader {
 public:
  enum class State { partial, complete, refused };

  /// Forgets what it holds and waits for one of `allowed`.
  void expect(std::vector<FrameLimits> allowed);
  [[nodiscard]] const std::vector<FrameLimits>& expecting() const noexcept { return allowed_; }
  /// Takes from the front of `in` what belongs to the frame. Complete and refused last until expect().
  State feed(ByteView& in);

  [[nodiscard]] bool started() const noexcept { return !frame_.empty(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return frame_.capacity(); }
  // Valid once complete:
  [[nodiscard]] MessageType type() const noexcept;
  [[nodiscard]] ByteView frame() const noexcept { return frame_; }
  [[nodiscard]] ByteView body() const noexcept;
  /// The whole frame, header included; the reader holds nothing afterwards.
  [[nodiscard]] Bytes take() noexcept;

 private:
  void take_from(ByteView& in, std::size_t up_to);
  [[nodiscard]] bool header_allowed() const noexcept;

  std::vector<FrameLimits> allowed_;
  Bytes frame_;
  State state_ = State::refused;  // nothing is expected before expect()
};

/// The header of a frame whose body will have `body_size` bytes, with room reserved for all of it.
Bytes start_frame(MessageType type, std::size_t body_size);

}  // namespace pqcmav
