// SPDX-License-Identifier: Apache-2.0
#include "net/bundler.hpp"

#include <algorithm>
#include <utility>

namespace pqcmav {

Bundler::Bundler(std::uint64_t wait_ns, std::size_t bytes)
    : wait_ns_(wait_ns),
      bytes_(std::min(bytes, kBundleLongest)),
      buffers_(wait_ns == 0 ? 0 : kInFlight + 1, Bytes(kHeaderSize + bytes_ + kTagSize)) {}

void Bundler::add(ByteView datagram, std::uint64_t now) noexcept {
  auto* at = buffers_[current_].data() + kHeaderSize + used_;
  const auto prefix = bundle_prefix(datagram.size());
  write_bundle_prefix(datagram.size(), at);
  std::copy(datagram.begin(), datagram.end(), at + prefix);
  used_ += prefix + datagram.size();
  payload_ += datagram.size();
  if (count_++ == 0) due_ = now + wait_ns_;
}

Bundler::Packet Bundler::take() noexcept {
  const MutableBytes whole(buffers_[current_].data(), kHeaderSize + used_ + kTagSize);
  current_ = (current_ + 1) % buffers_.size();
  ++taken_;
  used_ = 0;
  due_ = kNever;
  const auto datagrams = std::exchange(count_, 0), payload = std::exchange(payload_, 0);
  if (datagrams > 1) return {FrameType::bundle, whole, datagrams, payload};
  // The room for the header may as well begin behind the length: it goes without one.
  return {FrameType::data, whole.subspan(bundle_prefix(payload)), datagrams, payload};
}

}  // namespace pqcmav
