// SPDX-License-Identifier: Apache-2.0
// Datagrams inside MAVLink messages, for radios that look at messages or pass nothing else (docs/protocol.md, Over a
// serial line). ENCAPSULATED_DATA has the fewest bytes before its data of those that all of them know, and MAVLink 1 four
// bytes less around a message than MAVLink 2; nor does it cut zeros off. A damaged message costs itself alone:
// MavlinkFramer looks for the next one inside what a false header seemed to cover.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "line/line_frame.hpp"
#include "route/mavlink_framer.hpp"

namespace pqcmav {

inline constexpr std::size_t kCarrierPart = 223;  // with all around it what a SiK radio takes as one message
inline constexpr std::size_t kCarrierParts = (kLineDatagramMost + kCarrierPart - 1) / kCarrierPart;
inline constexpr std::size_t kCarrierAround = 6 + 2 + 2;
/// The parts of a datagram come within this time of the first. An air may pause so long inside a message, too: radios take
/// turns.
inline constexpr std::uint64_t kPartsWithinNs = 1'000'000'000;
/// The longest datagram with all its messages.
inline constexpr std::size_t kCarrierMost = kLineDatagramMost + kCarrierParts * kCarrierAround;

class MavlinkCarrierWriter {
 public:
  /// Writes the messages of a datagram of at most kLineDatagramMost bytes, and returns their length. `out` has room for
  /// kCarrierMost.
  std::size_t write(LineAddress line, ByteView datagram, MutableBytes out) noexcept;

 private:
  std::uint8_t sequence_ = 0;
};

/// What one message carries.
struct CarriedPart {
  LineAddress line;
  std::uint8_t sequence = 0, part = 0, parts = 0;  // parts = 0: it is damaged
  ByteView bytes;
};

/// Puts the parts of datagrams together. The senders of several drones may take turns between two parts.
class PartJoiner {
 public:
  /// The datagram, if it is complete with that; good until the next call.
  std::optional<MutableBytes> take(const CarriedPart& carried, std::uint64_t now) noexcept;
  /// Gives up what has begun.
  void reset() noexcept;
  /// Parts that fitted nothing, and datagrams of which only a part came.
  [[nodiscard]] std::uint64_t errors() const noexcept { return errors_; }

 private:
  struct Open {
    LineAddress line;
    std::uint8_t sequence = 0, next = 0, parts = 0;  // of the part that follows; parts = 0: none is open
    std::size_t size = 0;
    std::uint64_t since = 0;
    ByteArray<kCarrierParts * kCarrierPart> bytes;
  };
  [[nodiscard]] Open& place_of(LineAddress line) noexcept;

  std::array<Open, 8> open_{};
  std::uint64_t errors_ = 0;
};

class MavlinkCarrierReader {
 public:
  /// Visits each datagram that `bytes` complete: visit(LineAddress, MutableBytes); and each other message:
  /// other(ByteView message). Both are good during the visit.
  template <typename Visit, typename Other>
  void feed(ByteView bytes, std::uint64_t now, Visit visit, Other other) {
    framer_.feed(bytes, now, [&](ByteView message) { on_message(message, now, visit, other); });
  }
  [[nodiscard]] std::uint64_t due() const noexcept { return framer_.due(); }
  /// The line has been silent: real messages behind a false start come out.
  template <typename Visit, typename Other>
  void poll(std::uint64_t now, Visit visit, Other other) {
    framer_.poll(now, [&](ByteView message) { on_message(message, now, visit, other); });
  }
  void reset() noexcept {
    framer_.reset();
    joiner_.reset();
  }
  [[nodiscard]] std::uint64_t errors() const noexcept { return errors_ + joiner_.errors(); }
  /// Whole messages of ours so far, also of datagrams that are not complete.
  [[nodiscard]] std::uint64_t parts() const noexcept { return parts_; }

 private:
  /// Whether the bytes begin with a whole message of ours.
  [[nodiscard]] static bool is_sure(ByteView bytes) noexcept;
  /// Nothing for messages that are not ours. Counts one of ours that is damaged.
  [[nodiscard]] std::optional<CarriedPart> carried_by(ByteView message) noexcept;

  template <typename Visit, typename Other>
  void on_message(ByteView message, std::uint64_t now, Visit& visit, Other& other) {
    const auto carried = carried_by(message);
    if (!carried) return other(message);
    if (carried->parts == 0) return;
    ++parts_;
    if (const auto datagram = joiner_.take(*carried, now)) visit(carried->line, *datagram);
  }

  MavlinkFramer framer_{kPartsWithinNs, is_sure};
  PartJoiner joiner_;
  std::uint64_t errors_ = 0, parts_ = 0;
};

}  // namespace pqcmav
