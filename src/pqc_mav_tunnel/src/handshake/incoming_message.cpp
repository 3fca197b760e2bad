// SPDX-License-Identifier: Apache-2.0
#include "handshake/incoming_message.hpp"

#include <algorithm>

namespace pqcmav {

IncomingMessage::IncomingMessage(std::uint8_t message, const FragmentLayout& layout)
    : message_(message), layout_(layout), frame_(layout.total), have_((layout.count + 7) / 8) {}

bool IncomingMessage::add(const Fragment& fragment) {
  if (layout_.is_parity(fragment.index)) {
    const auto group = fragment.index - layout_.count;
    if (!parity_[group].empty()) return false;
    parity_[group].assign(fragment.bytes.begin(), fragment.bytes.end());
    const auto before = rebuilt_;
    rebuild(group);
    return rebuilt_ > before || !complete();
  }
  if (has(fragment.index)) return false;
  std::copy(fragment.bytes.begin(), fragment.bytes.end(), frame_.begin() + layout_.offset(fragment.index));
  mark(fragment.index);
  if (layout_.groups > 0 && fragment.index / FragmentLayout::kGroup < layout_.groups)
    rebuild(fragment.index / FragmentLayout::kGroup);
  return true;
}

void IncomingMessage::mark(std::uint32_t index) noexcept {
  have_[index / 8] = static_cast<std::uint8_t>(have_[index / 8] | (1U << (index % 8)));
  ++here_;
  highest_ = std::max(highest_, index);
  while (base_ < layout_.count && has(base_)) ++base_;
}

void IncomingMessage::rebuild(std::uint32_t group) {
  if (parity_[group].empty()) return;
  std::uint32_t missing = layout_.count, absent = 0;
  for (auto i = layout_.group_begin(group); i < layout_.group_end(group); ++i)
    if (!has(i)) missing = i, ++absent;
  if (absent != 1) return;
  auto content = parity_[group];
  for (auto i = layout_.group_begin(group); i < layout_.group_end(group); ++i) {
    if (i == missing) continue;
    for (std::uint32_t at = 0; at < layout_.length(i); ++at) content[at] ^= frame_[layout_.offset(i) + at];
  }
  std::copy_n(content.begin(), layout_.length(missing), frame_.begin() + layout_.offset(missing));
  ++rebuilt_;
  mark(missing);
}

std::size_t IncomingMessage::bitmap(Bitmap& out) const noexcept {
  out.fill(0);
  if (highest_ <= base_) return 0;
  const auto bits = std::min<std::uint32_t>(highest_ - base_, 8 * kAckBitmapMax);
  std::size_t length = 0;
  for (std::uint32_t bit = 0; bit < bits; ++bit) {
    if (!has(base_ + 1 + bit)) continue;
    out[bit / 8] = static_cast<std::uint8_t>(out[bit / 8] | (1U << (bit % 8)));
    length = bit / 8 + 1;
  }
  return length;
}

}  // namespace pqcmav
