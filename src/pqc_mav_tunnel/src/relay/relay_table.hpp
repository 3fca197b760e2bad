// SPDX-License-Identifier: Apache-2.0
// For which drones this one passes datagrams on, and how much of them (docs/paths.md). No socket, no clock. It holds no
// keys: whoever is passed on for proves to the ground station who it is, and this drone reads nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "bytes.hpp"
#include "nanoseconds.hpp"
#include "net/net.hpp"
#include "relay/network.hpp"
#include "shape/token_bucket.hpp"

namespace pqcmav {

class RelayTable {
 public:
  static constexpr std::size_t kClients = 8;
  static constexpr std::uint64_t kIdle = 60 * kS;          // an answered client's place is kept for so long
  static constexpr std::uint64_t kUnanswered = 3 * kS;     // and one that the ground station has not answered
  static constexpr std::uint64_t kBurst = kS / 10;         // of the rate at once
  static constexpr std::int64_t kLeastBurstBytes = 8'192;  // a handshake's first flight
  static constexpr unsigned kStrangersShare = 8;           // 1/8 of the rate is for all that are not answered yet

  enum class Verdict : std::uint8_t { pass, stranger, malformed, hops, full, rate };
  struct Up {
    Verdict verdict = Verdict::pass;
    std::size_t place = 0;
    bool fresh = false;    // the place had another client, or none
    std::uint8_t ttl = 0;  // with which it is to leave
  };

  RelayTable(std::vector<Network> from, std::uint32_t kbit);

  /// A datagram towards the ground station. `ttl` is that with which it came.
  [[nodiscard]] Up up(const SockAddr& client, ByteView datagram, std::uint8_t ttl, std::uint64_t now) noexcept;
  /// One from the ground station to the client of that place: may it go, and is it the first answer?
  struct Down {
    bool pass = false, first = false;
  };
  [[nodiscard]] Down down(std::size_t place, ByteView datagram, std::uint64_t now) noexcept;
  /// The next client whose time is over; call until there is none.
  [[nodiscard]] std::optional<std::size_t> expire(std::uint64_t now) noexcept;

  /// Empty where nobody has the place.
  [[nodiscard]] const SockAddr& client(std::size_t place) const noexcept { return places_[place].client; }

  /// The time to live with which a datagram leaves that came with this one; nothing after three drones passed it on. Each
  /// drone puts it down to the next multiple of 16, so routers between them, up to 15, count as nothing, and a datagram
  /// in a circle of drones ends.
  [[nodiscard]] static std::optional<std::uint8_t> next_ttl(std::uint8_t ttl) noexcept;

 private:
  struct Place {
    SockAddr client;
    bool answered = false;
    std::uint64_t heard = 0;  // of an answered client: from either side
    TokenBucket share;
  };
  [[nodiscard]] std::optional<std::size_t> place_for(const SockAddr& client) noexcept;
  void share_anew(std::uint64_t now) noexcept;

  const std::vector<Network> from_;
  const std::uint64_t bits_per_s_;
  std::array<Place, kClients> places_;
  TokenBucket strangers_;
};

}  // namespace pqcmav
