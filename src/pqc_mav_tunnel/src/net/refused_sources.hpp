// SPDX-License-Identifier: Apache-2.0
// Where the datagrams come from that are refused: the networks with the largest shares, in a fixed amount of memory.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "net/net.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

/// The /24 of an IPv4 address, the /48 of an IPv6 one: as in SockAddr::ip16(), with the rest 0.
ByteArray<16> network_of(const SockAddr& source) noexcept;

/// The Misra-Gries summary ("Finding repeated elements", 1982): a network's count is never more than what came from it,
/// and less by at most the sum divided by kNetworks + 1. So a share is a lower bound, however many networks there are.
/// What is older weighs less: half after 1.2 s. A source address may be forged.
class RefusedSources {
 public:
  static constexpr std::size_t kNetworks = 16;
  /// A network's least share that is worth saying: twice the largest error.
  static constexpr double kLeastShare = 2.0 / (kNetworks + 1);

  struct Entry {
    ByteArray<16> network{};  // as in SockAddr::ip16(), with the host's part 0
    double weight = 0;        // 0 = free
  };
  struct Summary {
    std::array<Entry, kNetworks> entries{};
    double sum = 0;
  };

  /// Data thread.
  void add(const SockAddr& source) noexcept;
  /// Data thread, often: shows what came to the others, who are not waited for.
  void tick(std::uint64_t now) noexcept;
  /// Any thread: what tick() showed last.
  [[nodiscard]] Summary shown() const;

  /// The network with the largest share of all that several data threads refused; nothing below kLeastShare.
  static std::optional<RefusedShare> largest(std::span<const Summary> threads);

 private:
  Summary now_;
  std::uint64_t next_ns_ = 0;
  mutable std::mutex mutex_;
  Summary shown_;
};

}  // namespace pqcmav
