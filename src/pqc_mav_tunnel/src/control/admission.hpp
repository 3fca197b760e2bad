// SPDX-License-Identifier: Apache-2.0
// Whom a gcs lets begin a handshake once the gate verified: limits against floods, and when an address must first be
// proven (docs/protocol.md sections 6 and 13). No sockets, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "constants.hpp"
#include "handshake/handshake_datagram.hpp"
#include "handshake/rate_limiter.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

struct AdmissionLimits {
  std::size_t max_handshakes = 16;  // without a return proof
  std::size_t drones = 1;           // configured: one more place each with a return proof
  double per_drone_s = 5;
};

/// M2s above this are kept in memory for a few attempts at once only. They are Classic McEliece's, from 261,120 bytes on;
/// the longest of any other suite has 71,000.
inline constexpr std::size_t kHeavyServerHello = 128 * 1024;

/// One attempt as the limits see it.
struct AttemptFacts {
  std::string drone;
  std::string source;     // its network (SockAddr::network_text); empty inside a session, whose path is known
  bool proven = false;    // M1 carried a good return proof
  bool answered = false;  // somebody who gets what is sent there answered: it is no recording that is played again
  bool heavy = false;     // its M2 may exceed kHeavyServerHello
  friend bool operator==(const AttemptFacts&, const AttemptFacts&) = default;
};

/// The attempts that run, counted when they come and go: to judge a newcomer costs the same among a thousand as among
/// none.
class Census {
 public:
  Census() = default;
  Census(const std::vector<AttemptFacts>& running) {
    for (const auto& each : running) add(each);
  }
  Census(std::initializer_list<AttemptFacts> running) : Census(std::vector<AttemptFacts>(running)) {}
  void add(const AttemptFacts& facts);
  /// As it was added.
  void remove(const AttemptFacts& facts);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t proven() const noexcept { return proven_; }
  [[nodiscard]] std::size_t answered() const noexcept { return answered_; }
  [[nodiscard]] std::size_t proven_and_answered() const noexcept { return both_; }
  [[nodiscard]] std::size_t heavy() const noexcept { return heavy_; }
  /// Those of one drone: a few, for Admission limits them.
  [[nodiscard]] const std::vector<AttemptFacts>& of(const std::string& drone) const;

 private:
  void count(const AttemptFacts& facts, std::size_t change) noexcept;

  std::size_t size_ = 0, proven_ = 0, answered_ = 0, both_ = 0, heavy_ = 0;
  std::unordered_map<std::string, std::vector<AttemptFacts>> by_drone_;  // none of them empty
};

class Admission {
 public:
  explicit Admission(const AdmissionLimits& limits);

  void set_drones(std::size_t count) noexcept { limits_.drones = count; }
  /// A drone was removed: nothing is kept of it.
  void forget(const std::string& drone) {
    ended_.erase(drone);
    proofs_.erase(drone);
    begun_.erase(drone);
  }
  /// A datagram of handshakes came, or a gate verified: what load is judged by.
  void on_datagram(std::uint64_t now) noexcept;
  void on_gate(std::uint64_t now) noexcept;

  enum class Verdict : std::uint8_t {
    begin,
    retry,  // it must answer first; nothing is kept
    busy
  };
  /// May it run beside those that run? Takes one of the drone's tokens when it may. `costly_suite`: see costly().
  Verdict judge(const AttemptFacts& newcomer, bool costly_suite, const Census& running, std::uint64_t now);

  /// An attempt ended: what still comes of it is dropped (replay).
  void ended(const std::string& drone, const AttemptId& attempt);
  [[nodiscard]] bool has_ended(const std::string& drone, const AttemptId& attempt) const;

  /// An attempt without a proof has an answer from this source. judge() knows of those that had it from the start.
  void begun(const std::string& drone, const std::string& source, std::uint64_t now);
  /// How many had in the last minute, since one of them completed. A thief of the PSK, who completes none where drones
  /// must sign, has more of them than the drone at each address that he uses again.
  [[nodiscard]] std::size_t unfinished(const std::string& drone, const std::string& source, std::uint64_t now) const;
  /// The drone itself was there.
  void completed(const std::string& drone) { begun_.erase(drone); }

  /// A good return proof, by its MAC, came with M1 of an attempt that began.
  void used_proof(const std::string& drone, ByteView mac, const AttemptId& attempt);
  /// Did it come with another attempt? An M1 is made for one; who has the PSK can put a recorded one into his own.
  [[nodiscard]] bool is_copied(const std::string& drone, ByteView mac, const AttemptId& attempt) const;

 private:
  struct UsedProof {
    ByteArray<kReturnProofSize - kReturnProofPrefix> mac;
    AttemptId attempt;
  };
  struct Begun {
    std::string source;
    std::uint64_t at_ns;
  };
  /// How often something happened in the last second, in steps of a tenth.
  class Rate {
   public:
    void add(std::uint64_t now) noexcept;
    [[nodiscard]] std::uint64_t last_second() const noexcept;

   private:
    void forget(std::uint64_t slot) noexcept;
    std::array<std::uint32_t, 10> slots_{};
    std::uint64_t slot_ = 0;
  };

  [[nodiscard]] bool may_begin_unanswered(const AttemptFacts& newcomer, bool costly_suite, const Census& running) const;
  [[nodiscard]] bool has_place(const AttemptFacts& newcomer, const Census& running) const;

  AdmissionLimits limits_;
  RateLimiter unanswered_, unproven_, unproven_of_source_, first_of_source_, proven_;
  Rate datagrams_, gates_;
  std::map<std::string, std::vector<AttemptId>> ended_;   // of each drone the newest
  std::map<std::string, std::vector<UsedProof>> proofs_;  // the same
  std::map<std::string, std::vector<Begun>> begun_;       // the same, of the last minute
};

/// Is answering this suite so much work or so many bytes that an address should be proven first? `sign_ns` is what a
/// signature took here lately, 0 when unknown.
[[nodiscard]] bool costly(const Suite& suite, std::uint64_t sign_ns) noexcept;
/// The greatest length in bytes of an M2 frame of this suite.
[[nodiscard]] std::size_t longest_server_hello(const Suite& suite, bool hybrid);

}  // namespace pqcmav
