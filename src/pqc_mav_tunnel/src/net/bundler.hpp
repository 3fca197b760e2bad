// SPDX-License-Identifier: Apache-2.0
// Datagrams of one link that wait a moment for company, to go as one packet (docs/protocol.md section 10). No socket, no
// clock. What happens before (which datagram comes next) and after (sealing, sending) is not its business.
#pragma once

#include <cstdint>
#include <vector>

#include "bytes.hpp"
#include "constants.hpp"
#include "session/bundle.hpp"
#include "session/frame.hpp"

namespace pqcmav {

class Bundler {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  /// So many packets may be taken before sent() has to be called: their bytes stay until then.
  static constexpr std::size_t kInFlight = 8;

  /// A datagram waits at most `wait_ns`; a bundle's content has at most `bytes`. Without a wait there is no bundling.
  Bundler(std::uint64_t wait_ns, std::size_t bytes);

  [[nodiscard]] bool on() const noexcept { return wait_ns_ != 0; }
  [[nodiscard]] std::uint64_t wait_ns() const noexcept { return wait_ns_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// When what waits has to go.
  [[nodiscard]] std::uint64_t due() const noexcept { return due_; }
  /// May a datagram of this size be in a bundle at all?
  [[nodiscard]] bool takes(std::size_t size) const noexcept { return bundle_prefix(size) + size <= bytes_; }
  /// Is there room for it beside what waits? If not, that goes first.
  [[nodiscard]] bool fits(std::size_t size) const noexcept {
    return count_ < kBundleMost && used_ + bundle_prefix(size) + size <= bytes_;
  }
  /// Bytes of what waits, with the lengths before each, if it went as a bundle.
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  /// And of the longest.
  [[nodiscard]] std::size_t most() const noexcept { return bytes_; }
  /// Bytes that fit beside it, with their lengths.
  [[nodiscard]] std::size_t room() const noexcept { return count_ < kBundleMost ? bytes_ - used_ : 0; }
  /// It takes it, and it fits.
  void add(ByteView datagram, std::uint64_t now) noexcept;

  struct Packet {
    FrameType type = FrameType::data;
    MutableBytes bytes;  // with room for header and tag
    std::size_t datagrams = 0;
    std::size_t payload = 0;  // bytes of the datagrams alone
  };
  /// What waits, which is not empty: a single datagram as a data frame.
  Packet take() noexcept;
  [[nodiscard]] bool must_send() const noexcept { return taken_ == kInFlight; }
  /// The bytes of the packets that were taken are of no use any more.
  void sent() noexcept { taken_ = 0; }

 private:
  std::uint64_t wait_ns_;
  std::size_t bytes_;
  std::vector<Bytes> buffers_;  // one is being filled, the others may be on their way
  std::size_t current_ = 0, taken_ = 0;
  std::size_t used_ = 0, count_ = 0, payload_ = 0;
  std::uint64_t due_ = kNever;
};

}  // namespace pqcmav
