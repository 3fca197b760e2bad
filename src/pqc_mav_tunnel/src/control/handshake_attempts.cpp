// SPDX-License-Identifier: Apache-2.0
#include "control/handshake_attempts.hpp"

#include <algorithm>

namespace pqcmav {

HandshakeAttempt& HandshakeAttempts::add(std::unique_ptr<Attempt> attempt) {
  auto& added = *attempt;
  all_.emplace(added.id, std::move(attempt));
  if (!added.session) by_name_.emplace(key_of(added.name), &added);
  by_link_[added.link].push_back(&added);
  for (const auto& path : added.paths) sources_.add(path);
  census_.add(added.facts);
  return added;
}

void HandshakeAttempts::remove(Attempt& attempt) {
  const auto forget = [&attempt](auto& table, std::uint64_t key) {
    const auto [first, last] = table.equal_range(key);
    const auto it = std::find_if(first, last, [&attempt](const auto& each) { return each.second == &attempt; });
    if (it != last) table.erase(it);
  };
  if (!attempt.session) forget(by_name_, key_of(attempt.name));
  if (attempt.makes) forget(offered_, key_of(*attempt.makes));
  if (const auto it = by_link_.find(attempt.link); it != by_link_.end()) {
    std::erase(it->second, &attempt);
    if (it->second.empty()) by_link_.erase(it);
  }
  for (const auto& path : attempt.paths) sources_.remove(path);
  if (attempt.phase != Attempt::Phase::lingering) census_.remove(attempt.facts);
  withdraw(attempt);
  all_.erase(attempt.id);
}

HandshakeAttempt* HandshakeAttempts::find(std::uint64_t id) const {
  const auto it = all_.find(id);
  return it == all_.end() ? nullptr : it->second.get();
}

HandshakeAttempt* HandshakeAttempts::in_session(std::size_t link, const SessionId& session) const {
  const auto it = by_link_.find(link);
  if (it == by_link_.end()) return nullptr;
  const auto found = std::ranges::find_if(it->second, [&](const auto* each) { return each->session == session; });
  return found == it->second.end() ? nullptr : *found;
}

std::vector<HandshakeAttempt*> HandshakeAttempts::of_link(std::size_t link) const {
  const auto it = by_link_.find(link);
  return it == by_link_.end() ? std::vector<Attempt*>{} : it->second;
}

void HandshakeAttempts::set_path(Attempt& attempt, PathIndex path, const SockAddr& address) {
  if (path == attempt.paths.size()) attempt.paths.emplace_back();
  auto& place = attempt.paths.at(path);
  sources_.remove(place);
  place = address;
  sources_.add(place);
}

void HandshakeAttempts::offer(Attempt& attempt, const SessionId& session) {
  if (attempt.makes || session == SessionId{}) return;
  attempt.makes = session;
  offered_.emplace(key_of(session), &attempt);
}

void HandshakeAttempts::set_answered(Attempt& attempt) {
  if (attempt.facts.answered) return;
  const bool counted = attempt.phase != Attempt::Phase::lingering;
  if (counted) census_.remove(attempt.facts);
  attempt.facts.answered = true;
  if (counted) census_.add(attempt.facts);
}

void HandshakeAttempts::linger(Attempt& attempt) {
  if (attempt.phase != Attempt::Phase::lingering) census_.remove(attempt.facts);
  attempt.phase = Attempt::Phase::lingering;
}

void HandshakeAttempts::withdraw(Attempt& attempt) {
  if (attempt.due_ns_ != kNever) queue_.erase({attempt.due_ns_, attempt.id});
}

void HandshakeAttempts::schedule(Attempt& attempt, std::uint64_t due_ns) {
  if (due_ns == attempt.due_ns_) return;
  withdraw(attempt);
  attempt.due_ns_ = due_ns;
  if (due_ns != kNever) queue_.emplace(due_ns, attempt.id);
}

std::vector<std::uint64_t> HandshakeAttempts::due(std::uint64_t now) const {
  std::vector<std::uint64_t> out;
  for (auto it = queue_.begin(); it != queue_.end() && it->first <= now; ++it) out.push_back(it->second);
  return out;
}

}  // namespace pqcmav
