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

bool Admission::wants_retry(const AttemptFacts& newcomer, bool costly_suite,
                            const std::vector<AttemptFacts>& running) const noexcept {
  if (newcomer.validated || newcomer.proven) return false;
  if (costly_suite) return true;
  const auto unvalidated = [](const AttemptFacts& each) { return !each.validated; };
  if (static_cast<std::size_t>(std::count_if(running.begin(), running.end(), unvalidated)) >= kUnvalidatedBeforeRetry)
    return true;
  if (std::any_of(running.begin(), running.end(),
                  [&](const auto& each) { return unvalidated(each) && each.drone == newcomer.drone; }))
    return true;
  return gates_.last_second() > kGatesBeforeRetry || datagrams_.last_second() > kDatagramsBeforeRetry;
}

bool Admission::admit(const AttemptFacts& newcomer, const std::vector<AttemptFacts>& running, std::uint64_t now) {
  const auto count = [&](const auto& which) {
    return static_cast<std::size_t>(std::count_if(running.begin(), running.end(), which));
  };
  const auto same_drone = [&](const AttemptFacts& each) { return each.drone == newcomer.drone; };
  const auto same_kind = [&](const AttemptFacts& each) { return each.proven == newcomer.proven; };
  const auto same_source = [&](const AttemptFacts& each) { return same_drone(each) && each.source == newcomer.source; };
  if (!newcomer.source.empty() && count(same_source) >= kPerDroneAndSource) return false;
  // Places with a proof are the drone's own: whoever lacks one cannot take them.
  const auto of_drone = newcomer.proven ? count(same_drone)
                                        : count([&](const auto& each) { return same_drone(each) && same_kind(each); });
  if (of_drone >= (newcomer.proven ? kPerProvenDrone : kPerDrone)) return false;
  if (newcomer.proven ? running.size() >= limits_.max_handshakes + limits_.drones
                      : count(same_kind) >= limits_.max_handshakes)
    return false;
  if (newcomer.heavy && count([](const auto& each) { return each.heavy; }) >= kHeavyAtOnce) return false;
  auto& tokens = newcomer.proven ? proven_ : unproven_;
  if (!tokens.allows(newcomer.drone, now)) return false;
  tokens.charge(newcomer.drone, now);
  return true;
}

void Admission::ended(const std::string& drone, const AttemptId& attempt) {
  auto& kept = ended_[drone];
  kept.push_back(attempt);
  if (kept.size() > kEndedKept) kept.pop_front();
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
