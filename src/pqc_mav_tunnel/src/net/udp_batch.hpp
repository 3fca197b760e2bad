// SPDX-License-Identifier: Apache-2.0
// Many datagrams per system call: recvmmsg with optional UDP GRO, sendmmsg with optional UDP GSO. No allocation after
// construction.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "net/net.hpp"

namespace pqcmav {

/// Room for what goes with a datagram besides its bytes: the length of a run's segments, and our own address.
struct alignas(cmsghdr) ControlSpace {
  std::uint8_t bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(in6_pktinfo))];
};

/// The address of ours that a control message names; nothing changes when it names none.
void read_local(const cmsghdr* message, ByteArray<16>& local) noexcept;

/// Sends one datagram, from `to.local` where that is known. False when the kernel did not take it.
bool send_one(int fd, ByteView datagram, const SockAddr& to) noexcept;

/// Receives into fixed slots. With GRO one slot may hold a run of datagrams of `segment` bytes each, the last one
/// possibly shorter.
class UdpReceiver {
 public:
  struct Slot {
    MutableBytes bytes;
    std::size_t segment;  // = bytes.size() without GRO
    bool truncated;
  };
  /// Each slot leaves `headroom` and `tailroom` bytes around up to `capacity` bytes of datagram, so that it can be
  /// sealed in place.
  UdpReceiver(std::size_t slots, std::size_t capacity, std::size_t headroom, std::size_t tailroom, bool names);
  /// Number of slots filled, 0 when nothing waits.
  std::size_t receive(int fd) noexcept;
  [[nodiscard]] std::size_t capacity() const noexcept { return headers_.size(); }
  [[nodiscard]] Slot slot(std::size_t i) noexcept;
  /// The slot's datagram with head- and tailroom.
  [[nodiscard]] MutableBytes with_room(std::size_t i) noexcept;
  /// Where it came from, and, of a socket that tells (UdpOptions::locals), to which of our addresses.
  [[nodiscard]] const SockAddr& source(std::size_t i) noexcept;
  /// The address of ours out of source(i), which is then as where the system chooses.
  ByteArray<16> take_local(std::size_t i) noexcept { return std::exchange(sources_[i].local, {}); }
  /// It came by this path.
  void came_by(std::size_t i, std::uint8_t path) noexcept { sources_[i].path = path; }

 private:
  std::size_t headroom_, tailroom_, stride_;
  std::unique_ptr<std::uint8_t[]> memory_;
  std::vector<mmsghdr> headers_;
  std::vector<iovec> vectors_;
  std::vector<SockAddr> sources_;
  std::vector<ControlSpace> controls_;
};

/// Collects datagrams for one destination and sends them, runs of equal size as one GSO message where allowed.
class UdpSender {
 public:
  static constexpr std::size_t kCapacity = 128;
  explicit UdpSender(bool gso) noexcept;
  [[nodiscard]] bool full() const noexcept { return count_ == kCapacity; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// What was added and not yet sent.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < count_; ++i)
      visit(ByteView(static_cast<const std::uint8_t*>(vectors_[i].iov_base), vectors_[i].iov_len));
  }
  void add(MutableBytes datagram) noexcept { vectors_[count_++] = iovec{datagram.data(), datagram.size()}; }
  /// What was added last a second time, if there is any; returns its bytes.
  std::size_t again() noexcept {
    if (empty() || full()) return 0;
    vectors_[count_] = vectors_[count_ - 1];
    return vectors_[count_++].iov_len;
  }
  struct Sent {
    std::size_t packets = 0, bytes = 0, dropped = 0;
  };
  /// Sends what was added and forgets it. What the kernel does not take at once is dropped and counted: late telemetry
  /// is worth nothing.
  Sent flush(int fd, const SockAddr& to) noexcept;

 private:
  static constexpr std::size_t kMaxSegments = 64, kMaxRunBytes = 65000;
  struct Run {
    std::size_t first, count;
  };
  std::size_t plan_runs() noexcept;
  void prepare(std::size_t index, const Run& run, const SockAddr& to) noexcept;
  void send_single(int fd, const SockAddr& to, const Run& run, Sent& out) noexcept;
  void account(const Run& run, Sent& out) const noexcept;

  bool gso_;
  std::size_t count_ = 0;
  std::array<iovec, kCapacity> vectors_{};
  std::array<Run, kCapacity> runs_{};
  std::array<mmsghdr, kCapacity> headers_{};
  std::array<ControlSpace, kCapacity> controls_{};
};

}  // namespace pqcmav
