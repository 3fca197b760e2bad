// SPDX-License-Identifier: Apache-2.0
#include "paths/path_choice.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace pqcmav {
namespace {

constexpr unsigned kOutcomes = 32;

}  // namespace

PathChoice::PathChoice(const std::vector<PathPace>& paths) : order_(paths.size()) {
  for (const auto& pace : paths) paths_.push_back({.pace = pace, .rtt = {}});
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

void PathChoice::begin(std::size_t path, std::uint64_t now) noexcept {
  for (auto& each : paths_) {
    each.heard = each.replied = each.answered = each.counted = each.probed = each.asked = 0;
    each.good_since = each.taken = 0;
  }
  active_ = path;
  active_since_ = now;
}

void PathChoice::probed(std::size_t path, std::uint64_t now) noexcept {
  auto& one = paths_[path];
  if (one.probed != 0) {
    one.outcomes <<= 1;
    if (one.answered > one.probed) one.outcomes |= 1;
    one.settled = std::min(one.settled + 1, kOutcomes);
  }
  one.probed = now;
  if (one.asked == 0) one.asked = now;
}

void PathChoice::replied(std::size_t path, std::uint64_t sent, std::uint64_t now) noexcept {
  if (now - sent > kRttMost) return;  // somebody may have held it back
  paths_[path].replied = std::max(paths_[path].replied, sent);
  look(path, now);
}

void PathChoice::heard(std::size_t path, std::uint64_t now) noexcept {
  paths_[path].heard = now;
  look(path, now);
}

/// Is there an answer that was not counted yet?
void PathChoice::look(std::size_t path, std::uint64_t now) noexcept {
  auto& one = paths_[path];
  if (one.replied <= one.counted || one.heard < one.replied) return;
  if (!lives(path, now)) one.good_since = now;
  one.counted = one.replied;
  one.rtt = now - one.replied;
  one.answered = now;
  one.asked = 0;
}

void PathChoice::moved(std::size_t path, std::uint64_t now) noexcept {
  if (active_ && active_ != path) {
    auto& before = paths_[*active_];
    if (silent(*active_, now)) {
      const bool again = before.taken != 0 && now - before.taken < kRelapse;
      before.hold = again ? std::clamp(2 * before.hold, kHold, kHoldMost) : kHold;
      before.asked = std::max(before.answered, active_since_);
      before.answered = 0;  // it lives again once it answers
    }
  }
  paths_[path].taken = now;
  active_ = path;
  active_since_ = now;
}

bool PathChoice::use(std::size_t path, bool on) noexcept {
  const auto others =
      std::ranges::count_if(paths_, [&](const Path& each) { return &each != &paths_[path] && each.on; });
  if (!on && others == 0) return false;
  paths_[path].on = on;
  if (order_.front() == path) std::ranges::sort(order_);  // at its own place again
  return true;
}

void PathChoice::prefer(std::size_t path) noexcept {
  paths_[path].on = true;
  paths_[path].hold = 0;
  std::ranges::sort(order_);
  std::ranges::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(path),
                      order_.begin() + static_cast<std::ptrdiff_t>(path) + 1);
}

std::uint64_t PathChoice::limit(const Path& path) const noexcept {
  return path.pace.silent + std::min(path.rtt.value_or(0), kRttMost);
}

std::uint64_t PathChoice::silence(std::size_t path, std::uint64_t now) const noexcept {
  const auto& one = paths_[path];
  if (active_ == path) return now - std::min(now, std::max(one.answered, active_since_));
  return one.asked == 0 ? 0 : now - std::min(now, one.asked);
}

bool PathChoice::silent(std::size_t path, std::uint64_t now) const noexcept {
  return silence(path, now) >= limit(paths_[path]);
}

bool PathChoice::lives(std::size_t path, std::uint64_t now) const noexcept {
  return paths_[path].answered != 0 && !silent(path, now);
}

bool PathChoice::is_heard(std::size_t path, std::uint64_t now) const noexcept {
  const auto& one = paths_[path];
  return one.asked != 0 && one.heard > one.asked && now - one.heard < limit(one);
}

bool PathChoice::is_replied(std::size_t path, std::uint64_t now) const noexcept {
  const auto& one = paths_[path];
  return one.replied != 0 && now - one.replied < limit(one) + kDeadEvery;  // it is asked that seldom by now
}

bool PathChoice::in_doubt(std::uint64_t now) const noexcept {
  return active_ && 2 * silence(*active_, now) >= limit(paths_[*active_]);
}

std::size_t PathChoice::rank(std::size_t path) const noexcept {
  return static_cast<std::size_t>(std::ranges::find(order_, path) - order_.begin());
}

std::optional<std::size_t> PathChoice::next(std::uint64_t now) const noexcept {
  if (!active_) return std::nullopt;
  const auto first = [&](const auto& good) -> std::optional<std::size_t> {
    const auto found = std::ranges::find_if(
        order_, [&](auto path) { return path != *active_ && paths_[path].on && good(path, paths_[path]); });
    return found == order_.end() ? std::nullopt : std::optional(*found);
  };
  const auto answers = [&](auto path, const Path& one) { return lives(path, now) && now - one.answered < limit(one); };
  const bool off = !paths_[*active_].on;
  if (!off && !silent(*active_, now))
    return first([&](auto path, const Path& one) {
      return rank(path) < rank(*active_) && answers(path, one) && now >= one.good_since + one.hold;
    });
  // One that has just answered, one that did when it was asked last. Where none lives both ways, one whose way up does:
  // its PROBEs are answered by another path. Then, as replies come by the active path, one that is only heard.
  auto to = first(answers);
  if (!to) to = first([&](auto path, const Path&) { return lives(path, now); });
  if (!to && !off && is_replied(*active_, now)) return std::nullopt;
  if (!to) to = first([&](auto path, const Path&) { return is_replied(path, now); });
  if (!to) to = first([&](auto path, const Path&) { return is_heard(path, now); });
  // Where none lives, it may be this one that comes back first.
  return to || !off ? to : first([](auto, const Path&) { return true; });
}

std::size_t PathChoice::down(std::uint64_t now) const noexcept {
  if (!silent(*active_, now) || is_heard(*active_, now)) return *active_;
  const auto heard = std::ranges::find_if(order_, [&](auto path) { return paths_[path].on && is_heard(path, now); });
  return heard == order_.end() ? *active_ : *heard;
}

bool PathChoice::probe_due(std::size_t path, std::uint64_t now) const noexcept {
  const auto& one = paths_[path];
  if (!active_ || !one.on) return false;
  const bool better = rank(path) < rank(*active_), needed = path == *active_ || in_doubt(now);
  // A path of which nothing is known yet counts as one that has just fallen silent.
  const bool dead = one.answered == 0 || silent(path, now);
  auto every = one.pace.probe;
  if (dead) {
    const auto since = now - std::max(one.asked, std::min(now, active_since_));
    if (since >= kDeadLong && !needed && !better)
      every = one.pace.idle;
    else if (since >= kHold)
      every = std::max(every, kDeadEvery);
  } else if (!better && !needed) {
    every = one.asked != 0 ? one.pace.probe : one.pace.idle;
  }
  return one.probed == 0 || now >= one.probed + every;
}

PathChoice::State PathChoice::state(std::size_t path, std::uint64_t now) const noexcept {
  const auto& one = paths_[path];
  if (!one.on) return State::off;
  if (!active_) return State::unknown;
  if (silent(path, now)) return State::dead;
  if (path == *active_) return State::best;
  return one.answered != 0 ? State::good : State::unknown;
}

std::optional<double> PathChoice::loss(std::size_t path) const noexcept {
  const auto& one = paths_[path];
  if (one.settled == 0) return std::nullopt;
  const auto mask = one.settled == kOutcomes ? ~std::uint32_t{0} : (std::uint32_t{1} << one.settled) - 1;
  return 1.0 - std::popcount(one.outcomes & mask) / static_cast<double>(one.settled);
}

}  // namespace pqcmav
