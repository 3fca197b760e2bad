// SPDX-License-Identifier: Apache-2.0
// A clock that jumps from event to event, and one direction of a link: rate, byte-limited queue, delay, loss singly or
// in dead times, reordering, copies, flipped bits. The same seed gives the same run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "bytes.hpp"
#include "nanoseconds.hpp"

namespace pqcmav::test {

class Clockwork {
 public:
  [[nodiscard]] std::uint64_t now() const noexcept { return now_; }
  void at(std::uint64_t time, std::function<void()> what) {
    events_.push({std::max(time, now_), count_++, std::move(what)});
  }
  /// Until `done`, or until nothing happens before `limit`.
  void run(std::uint64_t limit, const std::function<bool()>& done) {
    while (!events_.empty() && !done()) {
      if (events_.top().time > limit) return void(now_ = std::max(now_, limit));
      auto event = events_.top();
      events_.pop();
      now_ = event.time;
      event.what();
    }
  }

 private:
  struct Event {
    std::uint64_t time, order;
    std::function<void()> what;
    bool operator<(const Event& other) const noexcept {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  std::priority_queue<Event> events_;
  std::uint64_t now_ = 1'000'000'000, count_ = 0;
};

struct LinkTerms {
  double loss = 0;
  bool bursts = false;  // dead times of 100 ms that take the share `loss` of the time
  std::uint64_t round_trip = 100 * kMs;
  double bits_per_second = 10e6;
  double reordered = 0, doubled = 0, bent = 0;  // shares of the datagrams
  double queue = 0;                             // bytes; as its rate is if 0
  std::size_t largest = 65535;                  // of a UDP payload; larger ones are lost
};

class SimulatedLink {
 public:
  SimulatedLink(Clockwork& clock, const LinkTerms& terms, std::uint64_t seed)
      : clock_(clock),
        terms_(terms),
        random_(seed),
        queue_(terms.queue > 0 ? terms.queue : std::max(24000.0, terms.bits_per_second / 16)) {
    if (!terms_.bursts || terms_.loss <= 0) return;
    dead_ = chance(terms_.loss);
    phase_end_ = clock.now() + (dead_ ? static_cast<std::uint64_t>(uniform() * kDead) : good_time());
  }

  void send(Bytes datagram, const std::function<void(Bytes)>& deliver) {
    const auto now = clock_.now();
    const auto size = static_cast<double>(datagram.size() + 28);
    const auto waiting = free_ > now ? static_cast<double>(free_ - now) * 1e-9 * terms_.bits_per_second / 8 : 0;
    if (waiting + size > queue_) return;
    free_ = std::max(now, free_) + static_cast<std::uint64_t>(size * 8e9 / terms_.bits_per_second);
    bytes_ += datagram.size() + 28;
    if (datagram.size() > terms_.largest || lost(free_)) return;
    auto arrival = free_ + terms_.round_trip / 2;
    if (chance(terms_.reordered)) arrival += static_cast<std::uint64_t>(uniform() * 30.0 * kMs);
    if (chance(terms_.doubled)) clock_.at(arrival + 5 * kMs, [deliver, datagram] { deliver(datagram); });
    if (chance(terms_.bent)) datagram[random_() % datagram.size()] ^= static_cast<std::uint8_t>(1U << random_() % 8);
    clock_.at(arrival, [deliver, datagram = std::move(datagram)] { deliver(datagram); });
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }  // with IP and UDP headers

 private:
  static constexpr double kDead = 100.0 * kMs;

  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  bool chance(double share) { return share > 0 && uniform() < share; }
  std::uint64_t good_time() {
    return static_cast<std::uint64_t>(
        std::exponential_distribution<double>(1 / (kDead * (1 - terms_.loss) / terms_.loss))(random_));
  }
  bool lost(std::uint64_t time) {
    if (terms_.loss <= 0) return false;
    if (!terms_.bursts) return chance(terms_.loss);
    while (time > phase_end_) {
      dead_ = !dead_;
      phase_end_ += dead_ ? static_cast<std::uint64_t>(kDead) : good_time();
    }
    return dead_;
  }

  Clockwork& clock_;
  LinkTerms terms_;
  std::mt19937_64 random_;
  double queue_;
  std::uint64_t free_ = 0, phase_end_ = 0, bytes_ = 0;
  bool dead_ = false;
};

}  // namespace pqcmav::test
