// SPDX-License-Identifier: Apache-2.0
// Datagrams that wait for a stream which takes its time. When there are too many the oldest whole one goes: old
// telemetry is worth less than new. One that the stream has begun to take stays, for half a frame would cost the reader
// the next one, too.
#pragma once

#include <cstdint>
#include <deque>

#include "bytes.hpp"

namespace pqcmav {

class OutQueue {
 public:
  explicit OutQueue(std::size_t most_bytes) : most_(most_bytes) {}
  /// Puts it at the end; returns how many datagrams went for it (itself, where nothing else can).
  std::size_t push(ByteView datagram);
  /// What the stream is to take next.
  [[nodiscard]] ByteView next() const noexcept { return ByteView(bytes_).subspan(begin_); }
  /// The stream took so many bytes of it; returns how many datagrams are complete with that.
  std::size_t taken(std::size_t bytes) noexcept;
  [[nodiscard]] bool empty() const noexcept { return sizes_.empty(); }
  /// Bytes.
  [[nodiscard]] std::size_t waiting() const noexcept { return bytes_.size() - begin_; }
  /// The stream is gone; returns how many datagrams are with it.
  std::size_t clear() noexcept;

 private:
  bool drop_oldest();

  std::size_t most_;
  Bytes bytes_;                    // from begin_ on: the rest of the first datagram and all others
  std::size_t begin_ = 0;          // before it: what was taken
  std::deque<std::size_t> sizes_;  // what is left of each
  bool begun_ = false;             // the first one is on its way
};

}  // namespace pqcmav
