// SPDX-License-Identifier: Apache-2.0
#include "control/admission.hpp"

#include <algorithm>

#include "handshake/handshake_messages.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kSlotNs = 100'000'000;
constexpr std::size_t kUnvalidatedBeforeRetry = 8;
constexpr std::uint64_t kGatesBeforeRetry = 200, kDatagramsBeforeRetry = 5'000;
constexpr std::uint64_t kSlowSignatureNs = 20'000'000;
constexpr std::size_t kPerDrone = 2, kPerProvenDrone = 4, kPerDroneAndSource = 2, kHeavyAtOnce = 4;
constexpr std::size_t kEndedKept = 256;

}  // namespace

void Admission::Rate::forget(std::uint64_t slot) noexcept {
  if (slot <= slot_) return;
  for (auto i = std::max(slot_ + 1, slot >= slots_.size() ? slot - slots_.size() + 1 : 0); i <= slot; ++i)
    slots_[i % slots_.size()] = 0;
  slot_ = slot;
}

void Admission::Rate::add(std::uint64_t now) noexcept {
  forget(now / kSlotNs);
  ++slots_[slot_ % slots_.size()];
}

std::uint64_t Admission::Rate::last_second() const noexcept {
  std::uint64_t total = 0;
  for (const auto count : slots_) total += count;
  return total;
}

Admission::Admission(const AdmissionLimits& limits)
    : limits_(limits),
      unproven_(std::max(4.0 * limits.per_drone_s, 4.0), limits.per_drone_s),
      proven_(std::max(4.0 * limits.per_drone_s, 4.0), limits.per_drone_s) {}

void Admission::on_datagram(std::uint64_t now) noexcept { datagrams_.add(now); }
void Admission::on_gate(std::uint64_t now) noexcept { gates_.add(now); }

void Census::add(const AttemptFacts& facts) {
  ++size_;
  proven_ += facts.proven ? 1 : 0;
  validated_ += facts.validated ? 1 : 0;
  heavy_ += facts.heavy ? 1 : 0;
  by_drone_[facts.drone].push_back(facts);
}

void Census::remove(const AttemptFacts& facts) {
  const auto own = by_drone_.find(facts.drone);
  if (own == by_drone_.end()) return;
  const auto it = std::ranges::find(own->second, facts);
  if (it == own->second.end()) return;
  own->second.erase(it);
  if (own->second.empty()) by_drone_.erase(own);
  --size_;
  proven_ -= facts.proven ? 1 : 0;
  validated_ -= facts.validated ? 1 : 0;
  heavy_ -= facts.heavy ? 1 : 0;
}

const std::vector<AttemptFacts>& Census::of(const std::string& drone) const {
  static const std::vector<AttemptFacts> kNone;
  const auto it = by_drone_.find(drone);
  return it == by_drone_.end() ? kNone : it->second;
}

bool Admission::wants_retry(const AttemptFacts& newcomer, bool costly_suite, const Census& running) const noexcept {
  if (newcomer.validated || newcomer.proven) return false;
  if (costly_suite) return true;
  if (running.size() - running.validated() >= kUnvalidatedBeforeRetry) return true;
  if (std::ranges::any_of(running.of(newcomer.drone), [](const auto& each) { return !each.validated; })) return true;
  return gates_.last_second() > kGatesBeforeRetry || datagrams_.last_second() > kDatagramsBeforeRetry;
}

bool Admission::admit(const AttemptFacts& newcomer, const Census& running, std::uint64_t now) {
  const auto& own = running.of(newcomer.drone);
  const auto count = [&](const auto& which) { return static_cast<std::size_t>(std::ranges::count_if(own, which)); };
  if (!newcomer.source.empty() &&
      count([&](const auto& each) { return each.source == newcomer.source; }) >= kPerDroneAndSource)
    return false;
  // Places with a proof are the drone's own: whoever lacks one cannot take them.
  const auto of_drone = newcomer.proven ? own.size() : count([](const auto& each) { return !each.proven; });
  if (of_drone >= (newcomer.proven ? kPerProvenDrone : kPerDrone)) return false;
  if (newcomer.proven ? running.size() >= limits_.max_handshakes + limits_.drones
                      : running.size() - running.proven() >= limits_.max_handshakes)
    return false;
  if (newcomer.heavy && running.heavy() >= kHeavyAtOnce) return false;
  auto& tokens = newcomer.proven ? proven_ : unproven_;
  if (!tokens.allows(newcomer.drone, now)) return false;
  tokens.charge(newcomer.drone, now);
  return true;
}

void Admission::ended(const std::string& drone, const AttemptId& attempt) {
  auto& kept = ended_[drone];
  kept.push_back(attempt);
  if (kept.size() > kEndedKept) kept.erase(kept.begin());
}

bool Admission::has_ended(const std::string& drone, const AttemptId& attempt) const {
  const auto it = ended_.find(drone);
  return it != ended_.end() && std::find(it->second.begin(), it->second.end(), attempt) != it->second.end();
}

bool costly(const Suite& suite, std::uint64_t sign_ns) noexcept {
  return suite.kem->public_key + suite.sig->signature_max > kLargeServerHello || sign_ns > kSlowSignatureNs;
}

std::size_t longest_server_hello(const Suite& suite, bool hybrid) {
  return kFrameHeaderSize + server_hello_limits(suite, hybrid).front().greatest;
}

}  // namespace pqcmav
