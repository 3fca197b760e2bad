// SPDX-License-Identifier: Apache-2.0
#include "control/station_choice.hpp"

#include <algorithm>
#include <numeric>

namespace pqcmav {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
// While the active station is silent the standby is asked every 0.25 s: one that answers was heard so lately.
constexpr std::uint64_t kFreshNs = kSecondNs;
// After an outage of the drone's own both answer again: the active one has so much time to do so, too.
constexpr std::uint64_t kTurnNs = 300'000'000;
// Otherwise it is asked every 5 s.
constexpr std::uint64_t kHealthyNs = 6 * kSecondNs;
// A station that ended its session is asked after the others for so long: whoever restarts stations one after the other,
// or empties a machine of them, takes more than one from a drone.
constexpr std::uint64_t kLeftNs = 10 * kSecondNs;
// What a captured station could tell to leave the drone no higher term.
constexpr std::uint32_t kTermMost = 0x7fffffff;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

}  // namespace

StationChoice::StationChoice(std::size_t count, bool standby, const StationTimers& timers, std::uint32_t term)
    : stations_(count), order_(count), with_standby_(standby && count > 1), timers_(timers), term_(term) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

void StationChoice::heard(std::size_t station, std::uint64_t at, std::uint64_t answered) noexcept {
  auto& one = stations_[station];
  if (!one.session || at <= one.heard) return;
  // A standby that was away is healthy from now on.
  if (standby_ == station && (!one.well || at - one.heard > kHealthyNs)) one.since = at;
  one.well = true;
  if (at - one.heard > kFreshNs) one.fresh_since = at;
  one.heard = at;
  one.answered = std::max(one.answered, answered);
  if (one.token == 0) return;
  if (one.answered > one.token)
    one.token = one.token_until = 0;
  else if (at > one.token)
    one.token_until = std::max(one.token_until, at + timers_.failover);
}

void StationChoice::restarted(std::size_t station, std::uint64_t wait, std::uint64_t at, std::uint64_t now) noexcept {
  auto& one = stations_[station];
  if (standby_ == station) {
    ended(station, now);
    one.left_until = 0;
    return;
  }
  if (one.answered > at) return;
  one.token = at;
  one.token_until = one.heard > at ? one.heard + timers_.failover : now + wait;
  one.connect_after = 0;
}

void StationChoice::ended(std::size_t station, std::uint64_t now) noexcept {
  auto& one = stations_[station];
  one.session = false;
  one.token = one.token_until = 0;
  one.left_until = now + kLeftNs;
  one.join_after = std::min(one.join_after, now);
  if (standby_ == station) standby_.reset();
}

bool StationChoice::told(std::uint32_t term) noexcept {
  if (term <= term_ || term > kTermMost) return false;
  term_ = term + 1;
  return true;
}

void StationChoice::prefer(std::optional<std::size_t> station) noexcept {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (station) std::stable_partition(order_.begin(), order_.end(), [&](auto each) { return each == *station; });
  wanted_ = station;
  if (station) stations_[*station].connect_after = 0;
}

bool StationChoice::silent(std::size_t station, std::uint64_t now) const noexcept {
  const auto& one = stations_[station];
  return now >= std::max(one.heard, one.since) + timers_.failover;
}

bool StationChoice::heard_within(std::size_t station, std::uint64_t time, std::uint64_t now) const noexcept {
  return stations_[station].session && now <= stations_[station].heard + time;
}

bool StationChoice::answers(std::size_t station, std::uint64_t now) const noexcept {
  return heard_within(station, kFreshNs, now) && now >= stations_[station].fresh_since + kTurnNs;
}

bool StationChoice::doubtful(std::size_t station, std::uint64_t now) const noexcept {
  return now < stations_[station].left_until || (stations_[station].session && !heard_within(station, kFreshNs, now));
}

bool StationChoice::better(std::size_t one, std::size_t other) const noexcept {
  return std::ranges::find(order_, one) < std::ranges::find(order_, other);
}

bool StationChoice::in_trouble(std::uint64_t now) const noexcept {
  if (!active_ || !stations_[*active_].session) return true;
  return stations_[*active_].token != 0 || silent(*active_, now);
}

StationChoice::Step StationChoice::next(std::uint64_t now) {
  if (standby_ && now >= stations_[*standby_].heard + timers_.standby_lost) return {Act::forget, *standby_};
  // With nobody else to ask there is no hurry.
  if (attempt_ && !attempt_->answered && count() > 1 && now >= attempt_->began + timers_.failover) failed(0, now);
  return in_trouble(now) ? in_trouble_step(now) : calm_step(now);
}

StationChoice::Step StationChoice::in_trouble_step(std::uint64_t now) {
  if (!looking_) {
    looking_ = true;
    cursor_ = active_ == order_.front() && count() > 1 ? 1 : 0;
    for (auto& each : stations_) each.tried = false;
  }
  const bool session = active_ && stations_[*active_].session;
  const bool token = session && stations_[*active_].token != 0;
  if (standby_) {
    // Only silence may be the drone's own: then a standby that answers is the proof that it is not.
    const bool announced = !session || (token && now >= stations_[*active_].token_until);
    if (announced || (silent(*active_, now) && answers(*standby_, now))) return {Act::take_over, *standby_};
  }
  if (attempt_ && attempt_->step.act == Act::connect) return attempt_->step;
  // One that shows the token is there, and the quickest to be had.
  if (token && now < stations_[*active_].token_until)
    return stations_[*active_].connect_after <= now ? Step{Act::connect, *active_} : Step{};
  for (const bool any : {false, true})
    for (std::size_t i = 0; i < count(); ++i) {
      const auto station = order_[(cursor_ + i) % count()];
      const auto& one = stations_[station];
      if (one.connect_after <= now && (any || !(one.tried || doubtful(station, now)))) return {Act::connect, station};
    }
  return {};
}

StationChoice::Step StationChoice::calm_step(std::uint64_t now) {
  looking_ = false;
  const auto active = *active_;
  if (wanted_ == active) wanted_.reset();
  const auto target = [&]() -> std::optional<std::size_t> {
    if (wanted_) return wanted_;
    if (timers_.failback == 0) return std::nullopt;
    if (with_standby_) {
      const bool ripe = standby_ && better(*standby_, active) && stations_[*standby_].well &&
                        now >= stations_[*standby_].since + timers_.failback;
      return ripe ? standby_ : std::nullopt;
    }
    const bool ripe = order_.front() != active && now >= failback_from_ + timers_.failback;
    return ripe ? std::optional(order_.front()) : std::nullopt;
  }();
  if (target) {
    if (standby_ == target && heard_within(*target, kHealthyNs, now)) return {Act::take_over, *target};
    const Step step{Act::connect, *target};
    if (attempt_ && attempt_->step == step) return step;
    if (standby_ != target && stations_[*target].connect_after <= now) return step;
  }
  // One that began because the active station was silent has nothing to do any more, one that began in calm has.
  if (attempt_ && attempt_->step.act == Act::connect && !attempt_->in_trouble) return attempt_->step;
  return with_standby_ ? standby_step(now) : Step{};
}

/// The best station besides the active one, or one that is better than the standby.
StationChoice::Step StationChoice::standby_step(std::uint64_t now) const noexcept {
  if (attempt_ && attempt_->step.act == Act::join) return attempt_->step;
  for (const bool any : {false, true})
    for (const auto station : order_) {
      if (station == active_) continue;
      const auto& one = stations_[station];
      if (station == standby_) {
        const bool old = timers_.renew != 0 && now >= one.keys_since + timers_.renew;
        return old && one.join_after <= now ? Step{Act::join, station} : Step{};
      }
      if (one.join_after <= now && (any || now >= one.left_until)) return {Act::join, station};
    }
  return {};
}

void StationChoice::begin(const Step& attempt, std::uint64_t now) noexcept {
  attempt_ = Attempt{attempt, now, in_trouble(now), false};
}

void StationChoice::answered() noexcept {
  if (attempt_) attempt_->answered = true;
}

void StationChoice::failed(std::uint64_t wait, std::uint64_t now) noexcept {
  if (!attempt_) return;
  const auto station = attempt_->step.station;
  auto& one = stations_[station];
  if (attempt_->step.act == Act::join) {
    one.join_after = now + std::max(wait, timers_.retry);
  } else {
    one.tried = true;
    one.connect_after = now + (attempt_->in_trouble ? wait : std::max(wait, timers_.retry));
    failback_from_ = now;
    cursor_ = (static_cast<std::size_t>(std::ranges::find(order_, station) - order_.begin()) + 1) % count();
  }
  attempt_.reset();
}

void StationChoice::succeeded(const Step& step, std::uint64_t now) noexcept {
  attempt_.reset();
  auto& one = stations_[step.station];
  const bool again = one.session;
  one.session = one.well = true;
  one.heard = one.fresh_since = one.keys_since = now;
  one.token = one.token_until = one.connect_after = one.join_after = one.left_until = 0;
  if (step.act == Act::join) {
    if (standby_ != step.station || !again) one.since = now;
    if (standby_ && standby_ != step.station) stations_[*standby_].session = false;
    standby_ = step.station;
    return;
  }
  one.since = now;
  if (standby_ == step.station) standby_.reset();
  if (active_ == step.station) return;
  term_ = term_of(step);
  if (active_) stations_[*active_].session = false;
  active_ = step.station;
  failback_from_ = now;
}

void StationChoice::keys_changed() noexcept {
  for (auto& one : stations_)
    if (!one.session) one.connect_after = one.join_after = one.left_until = 0;
}

void StationChoice::took_over(std::uint64_t now) noexcept {
  const auto before = active_;
  // One that was left because it is silent has to be heard again before it counts as healthy.
  if (before) stations_[*before].well = !in_trouble(now);
  term_ = term_of({Act::take_over, *standby_});
  if (before && stations_[*before].token != 0) {  // it was restarted, so its session is over; it is there all the same
    ended(*before, now);
    stations_[*before].left_until = 0;
  }
  active_ = standby_;
  standby_.reset();
  if (before && stations_[*before].session) standby_ = before;
  stations_[*active_].since = now;
  stations_[*active_].token = stations_[*active_].token_until = 0;
  if (standby_) stations_[*standby_].since = now;
  failback_from_ = now;
  looking_ = false;
}

std::uint32_t StationChoice::term_of(const Step& step) const noexcept {
  const bool changes = step.act != Act::join && step.station != active_;
  return changes && term_ != ~std::uint32_t{0} ? term_ + 1 : term_;
}

std::uint64_t StationChoice::deadline() const noexcept {
  if (!active_ || !stations_[*active_].session) return kNever;
  const auto& one = stations_[*active_];
  return one.token != 0 ? one.token_until : std::max(one.heard, one.since) + timers_.failover;
}

}  // namespace pqcmav
