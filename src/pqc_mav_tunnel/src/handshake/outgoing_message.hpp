// SPDX-License-Identifier: Apache-2.0
// A message that leaves in fragments: its parts and parity, what is on its way, acknowledged or lost, and what goes
// next (docs/protocol.md section 5, rules 1, 5, 8 and 11).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "handshake/fragment_layout.hpp"
#include "handshake/path_ledger.hpp"

namespace pqcmav {

/// How large a fragment may be.
struct CutTerms {
  bool in_session = false;
  std::size_t datagram_limit = kDatagramLimit;
  bool parity = true;
};

class OutgoingMessage {
 public:
  enum class State : std::uint8_t { unsent, on_its_way, lost, acked };

  /// `first_packet`: the number the next datagram will have.
  OutgoingMessage(Bytes frame, const CutTerms& terms, std::uint32_t first_packet);
  /// Rule 8: begins again with smaller fragments.
  void cut_again(const CutTerms& terms, std::uint32_t first_packet);

  [[nodiscard]] std::uint8_t message() const noexcept { return frame_[kFrameHeaderSize - 1]; }
  [[nodiscard]] const FragmentLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] std::uint32_t first_packet() const noexcept { return first_packet_; }
  [[nodiscard]] bool done() const noexcept { return base_ == layout_.count; }
  [[nodiscard]] bool acked(std::uint32_t index) const noexcept { return parts_[index].state == State::acked; }
  [[nodiscard]] std::uint32_t on_its_way() const noexcept { return on_its_way_; }
  /// Was there an acknowledgement of this cut?
  [[nodiscard]] bool heard_of() const noexcept { return heard_of_; }
  /// Does it have datagrams above the small size, and was none of them acknowledged?
  [[nodiscard]] bool large_unheard() const noexcept;

  /// Appends a FRAGMENT.
  void append_to(Bytes& out, std::uint32_t index) const;

  /// The oldest lost fragment.
  [[nodiscard]] std::optional<std::uint32_t> next_lost() const noexcept;
  /// What that path gets next for the first time, unless `window` is full.
  [[nodiscard]] std::optional<std::uint32_t> next_new(std::uint8_t path, std::uint32_t window) noexcept;
  [[nodiscard]] std::uint32_t position(std::uint8_t path) const noexcept { return positions_[path]; }
  void advance(std::uint8_t path) noexcept { ++positions_[path]; }
  void on_sent(std::uint32_t index, std::uint32_t packet) noexcept;

  struct AckNews {
    bool fresh = false;  // it said something new
    std::uint32_t lost = 0;
  };
  AckNews on_ack(const Ack& ack) noexcept;
  /// A time-out: the two oldest fragments on their way count as lost. Returns how many there were.
  std::uint32_t on_timeout() noexcept;
  /// `path` is another address from now on, which got nothing.
  void begin_again(std::uint8_t path) noexcept { positions_[path] = 0; }
  /// The peer answered: it has everything.
  void finish() noexcept;

 private:
  struct Part {
    std::uint32_t newest = 0;  // the number of the datagram that carried it last
    State state = State::unsent;
  };
  void cut(const CutTerms& terms);
  bool take_ack(std::uint32_t index) noexcept;
  [[nodiscard]] std::uint32_t reach() const noexcept;
  void set(Part& part, State state) noexcept;

  Bytes frame_;
  FragmentLayout layout_;
  std::uint32_t first_packet_, base_ = 0, on_its_way_ = 0, lost_ = 0;
  std::vector<Part> parts_;
  std::array<std::uint32_t, PathLedger::kPaths> positions_{};
  bool heard_of_ = false, large_heard_ = false;
};

}  // namespace pqcmav
