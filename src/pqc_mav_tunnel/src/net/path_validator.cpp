// SPDX-License-Identifier: Apache-2.0
#include "net/path_validator.hpp"

#include <algorithm>
#include <utility>

#include "crypto/kdf.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kHeaders = 28;                                  // IP and UDP
constexpr std::size_t kChallengeSize = kOverhead + 3 + 8 + kHeaders;  // with the long header
constexpr std::size_t kEntriesMost = kPathsLiving + kPathsWaiting;
constexpr std::size_t kEntriesNumbered = kPathsMost * kPathsLiving + kPathsWaiting;

constexpr std::int64_t credit_for(std::size_t size) noexcept {
  return static_cast<std::int64_t>(kUnvalidatedFactor * (size + kHeaders));
}

}  // namespace

PathValidator::PathValidator(RandomSource random) : random_(std::move(random)) {}

/// Numbers are asked for at once.
void PathValidator::reset(std::span<const SockAddr> answered, std::uint64_t now, bool numbered) {
  entries_.clear();
  first_ = 0;
  numbered_ = numbered;
  told_ = false;
  slot_end_ = kNever;
  slot_heard_ = 0;
  joined_ = now - std::min(now, to_ns(kPathJoinAfter));
  for (const auto& address : answered.first(std::min(answered.size(), kPathsLiving))) {
    Entry entry;
    entry.address = address;
    entry.answered = entry.living = true;
    entry.heard = now;
    if (numbered) entry.path = kNoPath;
    if (numbered || answered.size() > 1) entry.next = now;
    entries_.push_back(entry);
  }
  ++revision_;
  due_ = numbered || answered.size() > 1 ? now : kNever;
}

void PathValidator::on_told(const PathsTold& word, std::uint64_t now) {
  if (!numbered_ || entries_.empty() || (told_ && word.serial <= word_.serial)) return;
  word_ = word;
  told_ = true;
  ++revision_;
  find_first();
  due_ = now;
}

/// Where none of that path is known yet, what lives longest stands for it.
void PathValidator::find_first() noexcept {
  const auto first = std::ranges::find_if(entries_, [this](const Entry& each) { return each.living && is_main(each); });
  first_ = first == entries_.end() ? 0 : static_cast<std::size_t>(first - entries_.begin());
}

void PathValidator::on_packet(const SockAddr& from, std::size_t size, std::uint64_t now, std::uint64_t pto_ns) {
  if (entries_.empty()) return;
  pto_ = pto_ns;
  const auto known = std::ranges::find(entries_, from, &Entry::address);
  if (known == entries_.end()) return hear_of(from, size, now);
  known->heard = now;
  if (!known->living)
    known->credit = std::min(known->credit + credit_for(size), static_cast<std::int64_t>(kPathCreditMost));
}

/// Who puts many sources on copies of a packet must not keep the drone's own address from its turn, only make it wait:
/// each packet of a slot has the same chance, and nobody knows when the slot ends.
void PathValidator::hear_of(const SockAddr& from, std::size_t size, std::uint64_t now) {
  if (slot_end_ == kNever) {
    if (now - joined_ >= to_ns(kPathJoinAfter)) return join(from, size, now);
    slot_end_ = now + to_ns(kPathSlotLeast) + random_below(to_ns(kPathSlotMost) - to_ns(kPathSlotLeast));
    due_ = std::min(due_, slot_end_);
  }
  const auto place = slot_heard_ < kPathsPerSlot ? slot_heard_ : random_below(slot_heard_ + 1);
  ++slot_heard_;
  if (place < kPathsPerSlot) slot_kept_[place] = {from, size};
}

void PathValidator::join(const SockAddr& from, std::size_t size, std::uint64_t now) {
  joined_ = now;
  const auto waiting = entries_.size() - living();
  if (waiting >= kPathsWaiting) {
    // One makes room that had a time-out's worth of time for its answer, whichever.
    std::size_t late = 0, victim = entries_.size();
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (!entries_[i].answered && now >= entries_[i].joined + pto_ && random_below(++late) == 0) victim = i;
    if (victim == entries_.size()) return;
    erase(victim);
  }
  // The last challenge has a time-out's worth of time for its answer, like all others.
  const auto span = std::max(3 * pto_, to_ns(kPathDecisionMin));
  Entry entry;
  entry.address = from;
  entry.credit = credit_for(size);
  entry.heard = entry.next = entry.joined = now;
  entry.last_wait = pto_;
  entry.interval = (span - pto_) / (kPathChallenges - 1);
  entries_.reserve(numbered_ ? kEntriesNumbered : kEntriesMost);
  entries_.push_back(entry);
  due_ = std::min(due_, now);
}

void PathValidator::on_response(const ByteArray<8>& challenge, std::uint64_t now, std::uint8_t path) {
  if (numbered_ != (path != kNoPath)) return;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    for (unsigned k = 0; k < kPathChallenges; ++k)
      if ((entries_[i].sent_bits >> k & 1) != 0 && constant_time_equal(entries_[i].sent[k], challenge)) {
        entries_[i].sent_bits &= ~(1U << k);
        return answered(i, now, numbered_ ? path : 0);
      }
}

void PathValidator::answered(std::size_t index, std::uint64_t now, std::uint8_t path) {
  auto& entry = entries_[index];
  entry.unanswered = 0;
  const bool known = std::exchange(entry.answered, true);
  if (std::exchange(entry.path, path) == path && known) return;
  if (!known) entry.next = now + to_ns(kPathWatch);
  if (entry.living) {
    ++revision_;
    contest(index, now);
  } else if (living_on(path) < kPathsLiving) {
    enliven(index, now);
  }
  find_first();
  due_ = now;
}

/// Where an address became the second of a path, the first has had no challenge so far: its time begins.
void PathValidator::contest(std::size_t index, std::uint64_t now) {
  if (living_on(entries_[index].path) != 2) return;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto& first = entries_[i];
    if (i == index || !first.living || first.path != entries_[index].path) continue;
    first.heard = first.next = now;
    first.unanswered = 0;
  }
}

/// It gets what its path gets from now on.
void PathValidator::enliven(std::size_t index, std::uint64_t now) {
  const auto place = living();
  entries_[index].living = true;
  std::rotate(entries_.begin() + static_cast<std::ptrdiff_t>(place),
              entries_.begin() + static_cast<std::ptrdiff_t>(index),
              entries_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  ++revision_;
  due_ = now;
  contest(place, now);
}

std::optional<PathValidator::Challenge> PathValidator::poll(std::uint64_t now) {
  if (now < due_) return std::nullopt;
  if (now >= slot_end_) {
    const auto kept = std::span(slot_kept_).first(std::min<std::size_t>(slot_heard_, kPathsPerSlot));
    slot_end_ = kNever;
    slot_heard_ = 0;
    const auto first = random_below(kept.size());  // not all may find a place
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const auto& each = kept[(first + i) % kept.size()];
      if (std::ranges::find(entries_, each.from, &Entry::address) == entries_.end()) join(each.from, each.size, now);
    }
  }
  for (std::size_t i = 0; i < entries_.size();) {
    if (now < entries_[i].next) {
      ++i;
    } else if (auto out = serve(i, now)) {
      return out;
    }
  }
  due_ = slot_end_;
  for (const auto& each : entries_) due_ = std::min(due_, each.next);
  return std::nullopt;
}

/// What is due for one of them: a challenge, or its end. Afterwards nothing of it is due.
std::optional<PathValidator::Challenge> PathValidator::serve(std::size_t index, std::uint64_t now) {
  auto& entry = entries_[index];
  if (!entry.answered) {
    if (entry.rounds == kPathChallenges) {
      erase(index);
      return std::nullopt;
    }
    ++entry.rounds;
    entry.next = now + (entry.rounds < kPathChallenges ? entry.interval : entry.last_wait);
  } else {
    const bool gone = entry.unanswered >= kPathWatchUnanswered || now - entry.heard >= to_ns(kPathUnheard);
    if (gone && another_is_heard(entry, now)) {
      drop(index, now);
      return std::nullopt;
    }
    if (entry.living && entry.path != kNoPath && living_on(entry.path) == 1) {  // there is nothing to decide
      entry.next = kNever;
      entry.unanswered = 0;
      return std::nullopt;
    }
    entry.next = now + std::max(to_ns(kPathWatch), pto_);
  }
  if (!entry.living) {
    if (entry.credit < static_cast<std::int64_t>(kChallengeSize)) return std::nullopt;
    entry.credit -= static_cast<std::int64_t>(kChallengeSize);
  }
  if (entry.answered) ++entry.unanswered;
  return challenge(entry);
}

PathValidator::Challenge PathValidator::challenge(Entry& entry) {
  const auto at = entry.sent_at++ % kPathChallenges;
  random_(entry.sent[at]);
  entry.sent_bits |= 1U << at;
  return {entry.address, entry.sent[at]};
}

/// One that waits for a place counts, too: or four that fell silent together would keep the drone's new address out.
bool PathValidator::another_is_heard(const Entry& entry, std::uint64_t now) const noexcept {
  return std::ranges::any_of(entries_, [&](const Entry& each) {
    const bool beside = each.path == entry.path || entry.path == kNoPath;
    return &each != &entry && each.answered && beside && now - each.heard < to_ns(kPathHeardLately);
  });
}

/// Room for the next challenge stays, or copies of large packets would keep the address from ever being proven.
bool PathValidator::spend_on_copy(Entry& entry, std::size_t bytes) noexcept {
  const bool more = entry.answered || entry.rounds < kPathChallenges;
  const auto cost = static_cast<std::int64_t>(bytes + kHeaders);
  if (entry.credit < cost + (more ? static_cast<std::int64_t>(kChallengeSize) : 0)) return false;
  entry.credit -= cost;
  return true;
}

void PathValidator::erase(std::size_t index) noexcept {
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
}

/// One that answered waits for this place, or none.
void PathValidator::drop(std::size_t index, std::uint64_t now) {
  const bool lived = entries_[index].living;
  const auto path = entries_[index].path;
  erase(index);
  if (!lived) return;
  ++revision_;
  const auto next = std::ranges::find_if(
      entries_, [path](const Entry& each) { return each.answered && !each.living && each.path == path; });
  if (next != entries_.end()) enliven(static_cast<std::size_t>(next - entries_.begin()), now);
  find_first();
}

std::size_t PathValidator::living() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(entries_, &Entry::living));
}

std::size_t PathValidator::living_on(std::uint8_t path) const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(entries_, [path](const Entry& each) { return each.living && each.path == path; }));
}

std::uint64_t PathValidator::random_below(std::uint64_t bound) {
  ByteArray<8> value;
  random_(value);
  return load_be<std::uint64_t>(value.data()) % bound;
}

}  // namespace pqcmav
