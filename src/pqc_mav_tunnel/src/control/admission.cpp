// SPDX-License-Identifier: Apache-2.0
#include "control/admission.hpp"

#include <algorithm>

#include "handshake/handshake_messages.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kSlotNs = 100'000'000;
constexpr std::size_t kUnansweredAtOnce = 8;
constexpr std::uint64_t kGatesBeforeRetry = 200, kDatagramsBeforeRetry = 5'000;
constexpr std::uint64_t kSlowSignatureNs = 20'000'000;
constexpr std::size_t kPerDrone = 4, kPerProvenDrone = 6, kPerDroneAndSource = 2, kHeavyAtOnce = 4;
constexpr double kSourcesAtOnce = static_cast<double>(kPerDrone) / kPerDroneAndSource;
constexpr std::size_t kEndedKept = 256, kProofsKept = 256, kBegunKept = 1024;
constexpr std::uint64_t kBegunForNs = 60'000'000'000;

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
      unanswered_(std::max(4.0 * limits.per_drone_s, 4.0), limits.per_drone_s),
      unproven_(kSourcesAtOnce * std::max(4.0 * limits.per_drone_s, 4.0), kSourcesAtOnce * limits.per_drone_s),
      unproven_of_source_(unanswered_),
      first_of_source_(unanswered_),
      proven_(unanswered_) {}

void Admission::on_datagram(std::uint64_t now) noexcept { datagrams_.add(now); }
void Admission::on_gate(std::uint64_t now) noexcept { gates_.add(now); }

/// `change` is 1 or -1, modulo 2^64.
void Census::count(const AttemptFacts& facts, std::size_t change) noexcept {
  size_ += change;
  proven_ += facts.proven ? change : 0;
  answered_ += facts.answered ? change : 0;
  both_ += facts.proven && facts.answered ? change : 0;
  heavy_ += facts.heavy ? change : 0;
}

void Census::add(const AttemptFacts& facts) {
  count(facts, 1);
  by_drone_[facts.drone].push_back(facts);
}

void Census::remove(const AttemptFacts& facts) {
  const auto own = by_drone_.find(facts.drone);
  if (own == by_drone_.end()) return;
  const auto it = std::ranges::find(own->second, facts);
  if (it == own->second.end()) return;
  own->second.erase(it);
  if (own->second.empty()) by_drone_.erase(own);
  count(facts, ~std::size_t{0});
}

const std::vector<AttemptFacts>& Census::of(const std::string& drone) const {
  static const std::vector<AttemptFacts> kNone;
  const auto it = by_drone_.find(drone);
  return it == by_drone_.end() ? kNone : it->second;
}

/// What nobody answered may be a recording. It gets one place of its drone, and few in all; what it holds up there is
/// only others that did not answer either, and these are told how to.
bool Admission::may_begin_unanswered(const AttemptFacts& newcomer, bool costly_suite, const Census& running) const {
  if (costly_suite || newcomer.heavy) return false;
  if (running.size() - running.answered() >= kUnansweredAtOnce) return false;
  if (std::ranges::any_of(running.of(newcomer.drone), [](const auto& each) { return !each.answered; })) return false;
  const auto rivals = newcomer.proven ? running.size() : running.size() - running.proven();
  if (rivals >= limits_.max_handshakes + (newcomer.proven ? limits_.drones : 0)) return false;
  return gates_.last_second() <= kGatesBeforeRetry && datagrams_.last_second() <= kDatagramsBeforeRetry;
}

/// The same among those who answered. Places with a proof are the drone's own: whoever lacks one cannot take them. Of
/// those without, one source has half: a thief of the PSK can play the drone up to M3, and nothing before tells the two
/// apart.
bool Admission::has_place(const AttemptFacts& newcomer, const Census& running) const {
  const auto& own = running.of(newcomer.drone);
  const auto count = [&](const auto& which) {
    return static_cast<std::size_t>(
        std::ranges::count_if(own, [&](const auto& each) { return each.answered && which(each); }));
  };
  const auto of_source =
      count([&](const auto& each) { return each.source == newcomer.source && (each.proven || !newcomer.proven); });
  if (!newcomer.source.empty() && of_source >= kPerDroneAndSource) return false;
  const auto of_drone = count([&](const auto& each) { return newcomer.proven || !each.proven; });
  if (of_drone >= (newcomer.proven ? kPerProvenDrone : kPerDrone)) return false;
  if (newcomer.heavy && running.heavy() >= kHeavyAtOnce) return false;
  return newcomer.proven ? running.answered() < limits_.max_handshakes + limits_.drones
                         : running.answered() - running.proven_and_answered() < limits_.max_handshakes;
}

Admission::Verdict Admission::judge(const AttemptFacts& newcomer, bool costly_suite, const Census& running,
                                    std::uint64_t now) {
  const auto refused = newcomer.answered ? Verdict::busy : Verdict::retry;
  if (!(newcomer.answered ? has_place(newcomer, running) : may_begin_unanswered(newcomer, costly_suite, running)))
    return refused;
  // Who began none lately waits for nobody who does nothing else.
  const bool first = newcomer.answered && unfinished(newcomer.drone, newcomer.source, now) == 0;
  auto& tokens = !newcomer.answered ? unanswered_ : newcomer.proven ? proven_ : first ? first_of_source_ : unproven_;
  if (!tokens.allows(newcomer.drone, now)) return refused;
  if (newcomer.answered && !newcomer.proven) {
    const auto place = newcomer.drone + ' ' + newcomer.source;
    if (!unproven_of_source_.allows(place, now)) return refused;
    unproven_of_source_.charge(place, now);
    begun(newcomer.drone, newcomer.source, now);
  }
  tokens.charge(newcomer.drone, now);
  return Verdict::begin;
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

void Admission::begun(const std::string& drone, const std::string& source, std::uint64_t now) {
  auto& kept = begun_[drone];
  std::erase_if(kept, [&](const auto& each) { return now - each.at_ns > kBegunForNs; });
  if (kept.size() == kBegunKept) kept.erase(kept.begin());
  kept.push_back({source, now});
}

std::size_t Admission::unfinished(const std::string& drone, const std::string& source, std::uint64_t now) const {
  const auto it = begun_.find(drone);
  if (it == begun_.end()) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(
      it->second, [&](const auto& each) { return each.source == source && now - each.at_ns <= kBegunForNs; }));
}

void Admission::used_proof(const std::string& drone, ByteView mac, const AttemptId& attempt) {
  auto& kept = proofs_[drone];
  auto& added = kept.emplace_back(UsedProof{{}, attempt});
  std::copy_n(mac.begin(), std::min(mac.size(), added.mac.size()), added.mac.begin());
  if (kept.size() > kProofsKept) kept.erase(kept.begin());
}

bool Admission::is_copied(const std::string& drone, ByteView mac, const AttemptId& attempt) const {
  const auto it = proofs_.find(drone);
  return it != proofs_.end() && std::ranges::any_of(it->second, [&](const auto& each) {
           return each.attempt != attempt && std::ranges::equal(each.mac, mac);
         });
}

bool costly(const Suite& suite, std::uint64_t sign_ns) noexcept {
  return suite.kem->public_key + suite.sig->signature_max > kLargeServerHello || sign_ns > kSlowSignatureNs;
}

std::size_t longest_server_hello(const Suite& suite, bool hybrid) {
  return kFrameHeaderSize + server_hello_limits(suite, hybrid).front().greatest;
}

}  // namespace pqcmav
