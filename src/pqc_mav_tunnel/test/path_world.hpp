// SPDX-License-Identifier: Apache-2.0
// A simulated drone, link and attacker around a PathValidator: packets up, commands down, copies that race.
#pragma once

#include <arpa/inet.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>

#include "nanoseconds.hpp"
#include "net/path_validator.hpp"

namespace pqcmav::test {

inline SockAddr address(std::uint16_t port, std::uint32_t host = 0xc0000201) {
  SockAddr out;
  auto& in = out.storage.four;
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(host);
  in.sin_port = htons(port);
  out.size = sizeof in;
  return out;
}

/// Every value once.
inline RandomSource counting_values() {
  return [next = std::uint64_t{0}](MutableBytes out) mutable { store_be(out.data(), ++next); };
}

struct PathAttack {
  double race = 0;                                // share of the drone's packets that a copy from X overtakes by 30 ms
  bool answers = false;                           // X passes challenges on to the drone
  std::uint64_t forged_at = 0;                    // one original is lost, its copy comes from X
  std::uint64_t silent_from = ~std::uint64_t{0};  // the drone sends nothing any more
  std::uint64_t moves_at = ~std::uint64_t{0};     // from Y to Z; Y is dead then
  std::uint64_t late = 0;                         // by which packets over Y are late
  std::size_t command_bytes = 69;                 // UDP payload
  double loss = 0;                                // of every datagram, each way
};

class PathWorld {
 public:
  static constexpr std::uint64_t kOneWay = 50 * kMs, kRtt = 2 * kOneWay, kEnd = 60'000 * kMs;
  static constexpr std::size_t kPacketBytes = 69, kChallengeBytes = 49, kLowerHeaders = 28;
  static constexpr std::uint64_t kPto = 135 * kMs;

  const SockAddr y = address(1), x = address(2, 0xc6336401), z = address(3);
  PathValidator validator{counting_values()};
  int commands = 0, delivered = 0;
  int ended_at_x = 0;                                                // times at which X became the path
  std::size_t copies_bytes_x = 0, all_bytes_x = 0, datagrams_x = 0;  // UDP payload; all: challenges included

  explicit PathWorld(const PathAttack& attack, unsigned seed = 5) : attack_(attack), random_(seed) {}

  void run() {
    validator.reset(y, true, 0);
    for (std::uint64_t at = 0, sequence = 1; at < kEnd; at += 20 * kMs, ++sequence) send_up(at, sequence);
    for (std::uint64_t at = 0; at < kEnd; at += 25'510'000) events_.emplace(at, Event{Event::command, {}, 0, {}});
    while (!events_.empty()) {
      const auto [now, event] = *events_.begin();
      events_.erase(events_.begin());
      while (validator.deadline() < now) pump(std::max(validator.deadline(), now_));
      now_ = now;
      handle(event, now);
      pump(now);
    }
  }

 private:
  struct Event {
    enum Kind { packet, command, response } kind;
    SockAddr from;
    std::uint64_t sequence;
    ByteArray<8> value;
  };

  bool happens(double chance) { return std::uniform_real_distribution<>()(random_) < chance; }

  void send_up(std::uint64_t at, std::uint64_t sequence) {
    if (at >= attack_.silent_from) return;
    const bool moved = at >= attack_.moves_at;
    const bool forged = at == attack_.forged_at && at > 0;
    if (forged || happens(attack_.race)) arrive(at + kOneWay - 30 * kMs, x, sequence);
    if (!forged) arrive(at + kOneWay + (moved ? 0 : attack_.late), moved ? z : y, sequence);
  }
  void arrive(std::uint64_t at, const SockAddr& from, std::uint64_t sequence) {
    if (!happens(attack_.loss)) events_.emplace(at, Event{Event::packet, from, sequence, {}});
  }
  /// Does what is sent there now reach the drone, and over that address?
  bool reaches(const SockAddr& to, std::uint64_t now) {
    const bool moved = now + kOneWay >= attack_.moves_at;
    return to == (moved ? z : y) && !happens(attack_.loss);
  }
  void sent_to(const SockAddr& to, std::size_t bytes, bool copy) {
    if (to != x) return;
    all_bytes_x += bytes;
    ++datagrams_x;
    if (copy) copies_bytes_x += bytes;
  }

  void handle(const Event& event, std::uint64_t now) {
    const auto before = validator.path();
    switch (event.kind) {
      case Event::packet:
        if (!seen_.insert(event.sequence).second) return;  // the replay window
        validator.on_packet(event.from, event.sequence > highest_, kPacketBytes, now, kPto);
        highest_ = std::max(highest_, event.sequence);
        break;
      case Event::response:
        validator.on_response(event.value, now);
        break;
      case Event::command: {
        ++commands;
        bool here = reaches(validator.path(), now);
        sent_to(validator.path(), attack_.command_bytes, true);
        if (const auto* copy = validator.copy_to(attack_.command_bytes)) {
          sent_to(*copy, attack_.command_bytes, true);
          here = reaches(*copy, now) || here;
        }
        delivered += here;
      }
    }
    if (before != validator.path() && validator.path() == x) ++ended_at_x;
  }

  void pump(std::uint64_t now) {
    now_ = now;
    while (const auto challenge = validator.poll(now)) {
      sent_to(challenge->to, kChallengeBytes, false);
      const bool answered =
          challenge->to == x ? attack_.answers && !happens(attack_.loss) : reaches(challenge->to, now);
      if (answered && !happens(attack_.loss))
        events_.emplace(now + kRtt, Event{Event::response, challenge->to, 0, challenge->value});
    }
    if (validator.deadline() <= now) throw std::logic_error("the validator is due again at once");
  }

  PathAttack attack_;
  std::mt19937 random_;
  std::multimap<std::uint64_t, Event> events_;
  std::uint64_t now_ = 0, highest_ = 0;
  std::set<std::uint64_t> seen_;
};

}  // namespace pqcmav::test
