// SPDX-License-Identifier: Apache-2.0
// The data plane beside a simulated rekey: packets both ways over the same link, PROBEs and LINK_REPORTs, and an end
// that yields as the engine's does.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>

#include "net/yield.hpp"
#include "simulated_link.hpp"

namespace pqcmav::test {

struct BusyTerms {
  double bits_per_second = 0;  // that the applications offer, each way, with all headers
  bool yields = true;
  std::uint64_t idle = 10'000 * kMs, busy = 30'000 * kMs;  // what the session did before the rekey
};

class BusySession {
 public:
  BusySession(Clockwork& clock, SimulatedLink& up, SimulatedLink& down, const BusyTerms& terms, std::uint64_t seed)
      : clock_(clock), terms_(terms), random_(seed) {
    ends_[0].out = &up;
    ends_[1].out = &down;
    for (const int end : {0, 1}) {
      clock_.at(clock_.now() + between(kEvery), [this, end] { report(end); });
      clock_.at(clock_.now() + between(kEvery), [this, end] { probe(end); });
      clock_.at(clock_.now() + terms_.idle + between(20 * kMs), [this, end] { offer(end); });
    }
  }

  /// An end's rekey has come so far. True when the end makes room for it.
  bool consider(bool drone, std::uint32_t timeouts) {
    auto& end = ends_[drone ? 0 : 1];
    if (terms_.yields) end.yield.consider({timeouts, end.probe, end.least, end.arriving_milli}, clock_.now());
    return end.yield.active();
  }
  void over() {
    for (auto& end : ends_) end.yield.over();
  }
  [[nodiscard]] std::uint64_t held_back() const { return ends_[0].held_back + ends_[1].held_back; }

 private:
  static constexpr std::uint64_t kEvery = 1'000 * kMs, kWindow = 5'000 * kMs;
  static constexpr std::size_t kHeaders = 28, kPacket = 106 - kHeaders, kReport = 117, kProbe = 53, kReply = 69;
  struct End {
    SimulatedLink* out = nullptr;
    Yield yield;
    std::deque<std::uint64_t> arrivals;
    std::uint32_t arriving_milli = 0;  // by the other end's report
    std::optional<std::uint64_t> probe, least;
    std::uint64_t held_back = 0;
  };

  std::uint64_t between(std::uint64_t most) { return random_() % most; }
  End& other(int end) { return ends_[1 - end]; }
  void send(int end, std::size_t size, std::function<void()> arrived) {
    ends_[end].out->send(Bytes(size), [this, end, arrived = std::move(arrived)](const Bytes&) {
      auto& at = other(end).arrivals;
      at.push_back(clock_.now());
      while (at.front() + kWindow < clock_.now()) at.pop_front();
      if (arrived) arrived();
    });
  }
  void offer(int end) {
    if (terms_.bits_per_second <= 0) return;
    auto& from = ends_[end];
    from.yield.admits(clock_.now()) ? send(end, kPacket, {}) : void(++from.held_back);
    const double mean = (kPacket + kHeaders) * 8e9 / terms_.bits_per_second;
    clock_.at(clock_.now() + static_cast<std::uint64_t>(std::exponential_distribution<double>(1 / mean)(random_)),
              [this, end] { offer(end); });
  }
  void report(int end) {
    const auto arriving = static_cast<std::uint32_t>(ends_[end].arrivals.size() * 1'000'000 / (kWindow / kMs));
    send(end, kReport, [this, end, arriving] { other(end).arriving_milli = arriving; });
    clock_.at(clock_.now() + kEvery, [this, end] { report(end); });
  }
  void probe(int end) {
    const auto begun = clock_.now();
    send(end, kProbe, [this, end, begun] {
      send(1 - end, kReply, [this, end, begun] {
        auto& from = ends_[end];
        from.probe = clock_.now() - begun;
        from.least = std::min(from.least.value_or(*from.probe), *from.probe);
      });
    });
    clock_.at(clock_.now() + kEvery, [this, end] { probe(end); });
  }

  Clockwork& clock_;
  BusyTerms terms_;
  std::mt19937_64 random_;
  std::array<End, 2> ends_;
};

}  // namespace pqcmav::test
