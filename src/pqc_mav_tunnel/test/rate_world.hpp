// SPDX-License-Identifier: Apache-2.0
// A sender with a shaper, a link of a rate that changes, with delay, jitter, loss and stops, and the words that come back
// about what arrived. The clock jumps; the same seed gives the same run.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "mavlink_bytes.hpp"
#include "shape/rate_finder.hpp"
#include "shape/shaper.hpp"
#include "simulated_link.hpp"

namespace pqcmav::test {

struct AirTerms {
  double kbit = 64, queue_bytes = 16'000;
  double loss = 0;
  std::uint64_t delay = 20 * kMs, jitter = 0;  // one way
  std::uint64_t stop_every = 0, stop_for = 0;  // nothing leaves the link meanwhile
  std::uint64_t changes_at = 0;                // after that:
  double kbit_then = 0;
  std::uint64_t delay_then = 0;
  double offered_kbit = 192;
  std::uint64_t word_every = 500 * kMs;
  std::uint64_t held_back = 0;  // by an attacker, each packet for as long
  double other_kbit = 0;        // what else goes through the link, as a video in packets of 1,200 bytes
};

struct AirFigures {
  double answered = 0;            // share of the commands, within a second
  double p50_ms = 0, p95_ms = 0;  // what a command waited, with its way
  double filled = 0;              // share of the link
  double shaped = 0;              // share of the time
  std::uint32_t least_kbit = ~0U, last_kbit = 0;
};

class RateWorld {
 public:
  enum class Mode { off, by_hand, found };
  static constexpr std::size_t kAround = 30;  // header and tag

  RateWorld(AirTerms terms, Mode mode, std::uint64_t seed = 1) : terms_(terms), mode_(mode), random_(seed) {
    if (mode == Mode::by_hand) shaper_.set_kbit(static_cast<std::uint32_t>(terms.kbit), clock_.now());
  }

  AirFigures run(std::uint64_t from = 3 * kS, std::uint64_t to = 33 * kS) {
    const auto zero = clock_.now();
    from_ = zero + from;
    end_ = zero + to;
    zero_ = zero;
    clock_.at(zero, [this] { offer(); });
    clock_.at(zero + 7 * kMs, [this] { command(); });
    clock_.at(zero + terms_.word_every, [this] { word(); });
    clock_.at(zero + 100 * kMs, [this] { tick(); });
    if (terms_.other_kbit > 0) clock_.at(zero, [this] { other(); });
    clock_.run(end_ + 10 * kS, [this] { return clock_.now() >= end_ + 10 * kS; });
    AirFigures out;
    std::vector<double> waits;
    std::size_t answered = 0, sent = 0;
    for (const auto& [number, at] : commands_) {
      ++sent;
      const auto it = came_.find(number);
      if (it == came_.end()) continue;
      const auto wait = static_cast<double>(it->second - at) / static_cast<double>(kMs);
      waits.push_back(wait);
      if (wait + static_cast<double>(delay() / kMs) <= 1'000) ++answered;
    }
    std::sort(waits.begin(), waits.end());
    out.answered = static_cast<double>(answered) / static_cast<double>(std::max<std::size_t>(sent, 1));
    if (!waits.empty()) {
      out.p50_ms = waits[waits.size() / 2];
      out.p95_ms = waits[waits.size() * 95 / 100];
    }
    out.filled = static_cast<double>(carried_) * 8 / (could_);
    out.shaped = static_cast<double>(shaped_) / static_cast<double>(std::max(ticks_, 1U));
    out.least_kbit = least_;
    out.last_kbit = last_;
    return out;
  }

 private:
  [[nodiscard]] bool changed() const { return terms_.changes_at != 0 && clock_.now() >= zero_ + terms_.changes_at; }
  [[nodiscard]] double rate() const { return (changed() ? terms_.kbit_then : terms_.kbit) * 1e3; }
  [[nodiscard]] std::uint64_t delay() const {
    return changed() && terms_.delay_then != 0 ? terms_.delay_then : terms_.delay;
  }
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  void offer() {
    const auto now = clock_.now();
    if (now >= end_) return;
    static constexpr std::uint8_t kIds[] = {1, 24, 27, 30, 31, 32, 33, 35, 36, 62, 65, 74, 116, 141, 193, 241};
    give(mavlink2(kIds[offered_++ % std::size(kIds)], 28), now);
    const double bits = (40 + kAround + 28) * 8;
    clock_.at(now + static_cast<std::uint64_t>(bits / terms_.offered_kbit * 1e6 * (0.5 + uniform())),
              [this] { offer(); });
  }
  void command() {
    const auto now = clock_.now();
    if (now >= end_) return;
    auto message = mavlink2(77, 10);
    message[12] = static_cast<std::uint8_t>(number_ >> 8);
    message[13] = static_cast<std::uint8_t>(number_);
    if (now >= from_) commands_[number_] = now;
    ++number_;
    give(message, now);
    clock_.at(now + 100 * kMs, [this] { command(); });
  }
  void give(const Bytes& message, std::uint64_t now) {
    if (!shaper_.on()) return leave(message, now);
    shaper_.take(message, now);
    send(now);
  }
  void send(std::uint64_t now) {
    const Shaper::Overhead overhead{kAround + 28, kAround + 28};
    while (const auto leaving = shaper_.next(now, overhead))
      leave(Bytes(leaving->packet.begin() + kHeaderSize, leaving->packet.end() - kTagSize), now);
    const auto due = shaper_.due(now, overhead);
    if (due == Shaper::kNever || (armed_ > now && armed_ <= due)) return;
    armed_ = due;
    clock_.at(due, [this] { send(clock_.now()); });
  }
  void leave(const Bytes& message, std::uint64_t now) {
    const auto size = message.size() + kAround + 28;
    sent_bytes_ += size;
    const auto sequence = sequence_++;
    finder_.on_sent(sequence, sent_bytes_, now);
    if (terms_.stop_every != 0) {  // what comes during a stop waits for its end
      const auto into = (now - zero_) % terms_.stop_every;
      if (into < terms_.stop_for) free_ = std::max(free_, now + terms_.stop_for - into);
    }
    if (!queued(size, now)) return;
    if (free_ >= from_ && free_ < end_) carried_ += size;
    if (uniform() < terms_.loss) return;
    const auto jitter = static_cast<std::uint64_t>(uniform() * static_cast<double>(terms_.jitter));
    const bool is_command = message.size() > 13 && message[7] == 77;
    const auto number = is_command ? static_cast<unsigned>(message[12] << 8 | message[13]) : 0;
    clock_.at(free_ + delay() + jitter + terms_.held_back, [this, sequence, size, is_command, number] {
      arrived_.bytes += size;
      const bool first = arrived_.at == 0;
      if (sequence >= arrived_.highest) {
        arrived_.highest = sequence;
        arrived_.at = clock_.now() + 3'600 * kS;  // a clock of its own
      }
      if (first && terms_.word_every < kS) say();
      if (is_command) came_.try_emplace(number, clock_.now());
    });
  }
  /// Whether the link's queue has room for it; beside others for a packet of theirs, as one that counts packets.
  bool queued(std::size_t size, std::uint64_t now) {
    const auto backlog = free_ > now ? static_cast<double>(free_ - now) * 1e-9 * rate() / 8 : 0;
    if (backlog + static_cast<double>(terms_.other_kbit > 0 ? 1'200 : size) >
        terms_.queue_bytes + static_cast<double>(terms_.stop_for) * 1e-9 * rate() / 8)
      return false;
    free_ = std::max(now, free_) + static_cast<std::uint64_t>(static_cast<double>(size) * 8e9 / rate());
    return true;
  }
  void other() {
    const auto now = clock_.now();
    if (now >= end_) return;
    queued(1'200, now);
    clock_.at(now + static_cast<std::uint64_t>(1'200 * 8e6 / terms_.other_kbit * (0.5 + uniform())),
              [this] { other(); });
  }
  void word() {
    if (clock_.now() >= end_) return;
    say();
    clock_.at(clock_.now() + terms_.word_every, [this] { word(); });
  }
  void say() {
    const auto said = arrived_;
    if (said.at != 0 && uniform() >= terms_.loss)
      clock_.at(clock_.now() + delay(), [this, said] {
        if (mode_ != Mode::found) return;
        finder_.on_arrived(said, waited_, clock_.now());
        waited_ = false;
        follow();
      });
  }
  void tick() {
    const auto now = clock_.now();
    if (now >= end_) return;
    if (now >= from_) could_ += rate() / 10;
    for (const auto& each : shaper_.counts(now)) waited_ = waited_ || each.oldest_ms >= 20;
    if (mode_ == Mode::found) follow();
    ++ticks_;
    if (shaper_.on()) ++shaped_;
    clock_.at(now + 100 * kMs, [this] { tick(); });
  }
  void follow() {
    const auto now = clock_.now();
    last_ = finder_.kbit(now);
    if (last_ != 0) least_ = std::min(least_, last_);
    if (last_ == shaper_.kbit()) return;
    shaper_.set_kbit(last_, now);
    send(now);
  }

  AirTerms terms_;
  Mode mode_;
  std::mt19937_64 random_;
  Clockwork clock_;
  Shaper shaper_{kHeaderSize, 1'200, kTagSize, MessageClasses()};
  RateFinder finder_;
  RateFinder::Arrived arrived_{};
  std::map<unsigned, std::uint64_t> commands_, came_;
  std::uint64_t from_ = 0, end_ = 0, zero_ = 0, free_ = 0, armed_ = 0, sent_bytes_ = 0, sequence_ = 0, carried_ = 0;
  double could_ = 0;
  unsigned offered_ = 0, number_ = 0, ticks_ = 0, shaped_ = 0;
  std::uint32_t least_ = ~0U, last_ = 0;
  bool waited_ = false;
};

}  // namespace pqcmav::test
