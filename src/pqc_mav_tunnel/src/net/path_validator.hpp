// SPDX-License-Identifier: Apache-2.0
// Where a ground station sends, when its drone's packets come from another address (docs/protocol.md section 14).
// Addresses, times and random challenges in, decisions out; no socket, no clock.
//
// A packet proves that the drone sent it, not where from: a copy with another source may have overtaken it. So the new
// address and the old one are both challenged. Who answered decides, and where both did, the one that was proven first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "bytes.hpp"
#include "constants.hpp"
#include "handshake/handshake.hpp"
#include "net/net.hpp"

namespace pqcmav {

/// One drone's addresses. One thread only.
class PathValidator {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  explicit PathValidator(RandomSource random = random_bytes);
  /// The first path of a session that a first handshake made. Unless `validated`, it is challenged from now on.
  void reset(const SockAddr& path, bool validated, std::uint64_t now);
  /// An authentic packet, never seen before, under the newest keys. `newest`: its sequence is the highest so far;
  /// `size`: bytes of UDP payload; `pto_ns`: rule 6's time-out with the round trips of this session.
  void on_packet(const SockAddr& from, bool newest, std::size_t size, std::uint64_t now, std::uint64_t pto_ns);
  /// A PATH_RESPONSE, wherever it came from: it proves the address its challenge was sent to.
  void on_response(const ByteArray<8>& challenge, std::uint64_t now);

  struct Challenge {
    SockAddr to;
    ByteArray<8> value;
  };
  /// The next PATH_CHALLENGE to send. To be called until nullopt after every other call, and at deadline().
  std::optional<Challenge> poll(std::uint64_t now);
  [[nodiscard]] std::uint64_t deadline() const noexcept;

  /// Where everything goes.
  [[nodiscard]] const SockAddr& path() const noexcept { return path_; }
  [[nodiscard]] bool path_validated() const noexcept { return path_validated_; }
  /// While a new address is being validated: that address, if a copy of a packet of `bytes` may go there, too, and then
  /// it is counted as sent. Else nullptr.
  const SockAddr* copy_to(std::size_t bytes) noexcept;
  /// May `bytes` go to path()? Always, once it is validated; before that they are counted and limited like copies.
  bool may_send(std::size_t bytes) noexcept;

  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }  // validations that changed nothing

 private:
  /// What an address that may be a stranger's is allowed to get: less than three times what came from it, in bytes and
  /// in datagrams, so that the headers below UDP are covered as well.
  class Credit {
   public:
    void came(std::size_t bytes) noexcept;
    [[nodiscard]] bool covers(std::size_t bytes, std::size_t datagrams = 1) const noexcept;
    bool spend(std::size_t bytes) noexcept;

   private:
    std::size_t bytes_in_ = 0, bytes_out_ = 0, in_ = 0, out_ = 0;
  };
  struct Validation {
    SockAddr candidate;
    Credit credit;
    unsigned rounds = 0;
    std::uint64_t interval = 0, last_wait = 0, next = 0;
    bool candidate_lives = false, path_lives = false;
  };
  struct Ignored {
    SockAddr address;
    std::uint64_t until = 0;
  };
  struct Suspect {
    SockAddr address;
    std::uint64_t last = 0, pto = 0;
    std::size_t size = 0;
  };
  struct Sent {
    SockAddr to;
    ByteArray<8> value{};
  };
  static constexpr std::size_t kOutstanding = 2 * kPathChallenges + kPathWatchUnanswered + 1;

  void start(const SockAddr& candidate, std::size_t size, std::uint64_t now, std::uint64_t pto_ns);
  void next_round(std::uint64_t now);
  void watch(std::uint64_t now);
  void decide(std::uint64_t now);
  void ignore(const SockAddr& address, std::uint64_t now);
  void move_to(const SockAddr& path);
  void challenge(const SockAddr& to);
  void set_validated();
  [[nodiscard]] std::size_t seniority(const SockAddr& address) const noexcept;  // 0 is the oldest
  [[nodiscard]] bool candidate_is_senior() const noexcept;
  [[nodiscard]] bool is_ignored(const SockAddr& address, std::uint64_t now) const noexcept;

  RandomSource random_;
  SockAddr path_;
  bool path_validated_ = false;
  Credit path_credit_;            // while the path is not validated
  std::vector<SockAddr> proven_;  // paths of this session that were validated, the oldest first
  std::vector<Ignored> ignored_;
  std::optional<Validation> validation_;
  std::optional<Suspect> suspect_;     // an ignored address from which alone the newest packets come
  std::uint64_t watch_next_ = kNever;  // the path is challenged outside a validation
  unsigned watch_unanswered_ = 0;
  std::array<Sent, kOutstanding> sent_{};
  std::size_t sent_at_ = 0;
  std::vector<Challenge> due_;
  std::uint64_t changes_ = 0, refused_ = 0;
};

}  // namespace pqcmav
