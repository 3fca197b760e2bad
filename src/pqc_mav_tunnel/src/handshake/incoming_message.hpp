// SPDX-License-Identifier: Apache-2.0
// A message that arrives in fragments: reassembly, what an acknowledgement says of it, and lost parts rebuilt from
// parity (docs/protocol.md section 5, rules 4 and 11).
#pragma once

#include <array>

#include "handshake/fragment_layout.hpp"

namespace pqcmav {

class IncomingMessage {
 public:
  /// Makes room for layout.total bytes: check it against the message's limit before.
  IncomingMessage(std::uint8_t message, const FragmentLayout& layout);
  [[nodiscard]] std::uint8_t message() const noexcept { return message_; }
  [[nodiscard]] const FragmentLayout& layout() const noexcept { return layout_; }

  /// A fragment of this message, total and size. False when it was here.
  bool add(const Fragment& fragment);
  [[nodiscard]] bool complete() const noexcept { return here_ == layout_.count; }
  /// Fragments that came out of parity.
  [[nodiscard]] std::uint32_t rebuilt() const noexcept { return rebuilt_; }
  /// The frame; nothing is left.
  [[nodiscard]] Bytes take() noexcept { return std::move(frame_); }

  /// The lowest fragment that is missing; layout().count when none is.
  [[nodiscard]] std::uint32_t base() const noexcept { return base_; }
  using Bitmap = ByteArray<kAckBitmapMax>;
  /// Of what is here after base(); returns its length.
  std::size_t bitmap(Bitmap& out) const noexcept;

 private:
  [[nodiscard]] bool has(std::uint32_t index) const noexcept { return ((have_[index / 8] >> (index % 8)) & 1) != 0; }
  void mark(std::uint32_t index) noexcept;
  void rebuild(std::uint32_t group);

  std::uint8_t message_;
  FragmentLayout layout_;
  Bytes frame_, have_;                                                              // have_: one bit per fragment
  std::array<Bytes, FragmentLayout::kParityMost / FragmentLayout::kGroup> parity_;  // what came and was not needed yet
  std::uint32_t base_ = 0, highest_ = 0, here_ = 0, rebuilt_ = 0;
};

}  // namespace pqcmav
