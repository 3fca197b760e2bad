// SPDX-License-Identifier: Apache-2.0
#include "shape/rate_finder.hpp"

#include <algorithm>
#include <cmath>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kApart = 20 * kMs;                          // between two samples of what left
constexpr std::uint64_t kKept = RateFinder::kSamplesMost * kApart;  // no sample is of use for longer
constexpr std::size_t kSamplesLeast = 16;
constexpr std::uint64_t kLongEnough = 400 * kMs;  // shorter than that says little about a rate
constexpr std::uint64_t kEnough = 1'000;          // bytes, of which a late one and a lost one are a small part
constexpr std::uint64_t kLeastFor = 15 * kS;      // the least delay is that of one or two of these
constexpr std::uint64_t kHoldMost = 40 * kS;      // each time it proves right, twice as long
constexpr std::uint64_t kUnused = 60 * kS;
constexpr std::uint64_t kClosedMost = 600 * kS;  // each time in a row, twice as long
constexpr std::uint64_t kInVainFor = 10 * kS;
constexpr unsigned kInVain = 4;  // times, if that is sooner
constexpr double kFullMs = 200, kQueueMs = 50, kClearMs = 30, kNoiseMost = 100;
constexpr double kFewer = 0.95;  // of what was sent
constexpr double kLossMost = 0.3;
constexpr double kStep = 0.02, kStepMost = 0.5;
constexpr unsigned kSmallSteps = 4;  // small ones, before each is twice the last
constexpr double kFasterBy = 4, kKbitMost = 100'000;

constexpr unsigned kAtShift = 14;  // of the times of samples, so that they are unlike for 19 hours

std::uint32_t low(std::uint64_t value) noexcept { return static_cast<std::uint32_t>(value); }
double ms(std::int64_t ns) noexcept { return static_cast<double>(ns) / static_cast<double>(kMs); }
std::int64_t minus(std::uint64_t a, std::uint64_t b) noexcept { return static_cast<std::int64_t>(a - b); }
double kbit_of(std::uint64_t bytes, std::uint64_t in_ns) noexcept {
  return static_cast<double>(bytes) * 8e6 / static_cast<double>(std::max<std::uint64_t>(in_ns, 1));
}

}  // namespace

void RateFinder::on_sent(std::uint64_t sequence, std::uint64_t bytes, std::uint64_t now) noexcept {
  if (count_ != 0 && sequence < newest_.sequence) count_ = 0;  // of another key
  const bool another = count_ == 0 || now >= newest_.at + kApart;
  newest_ = {sequence, bytes, another ? now : newest_.at};  // the time of the first of them
  if (another) {
    if (count_ == sent_.size()) make_room(now);
    next_ = (next_ + 1) % sent_.size();
    count_ = std::min(count_ + 1, sent_.size());
  }
  sent_[(next_ + sent_.size() - 1) % sent_.size()] = {low(sequence), low(bytes), low(newest_.at >> kAtShift)};
}

/// Of a drone that says little a few samples are all that a word can be about.
void RateFinder::make_room(std::uint64_t now) noexcept {
  if (sent_.size() == kSamplesMost) return;
  if (!sent_.empty() && whole(sent_[next_]).at + kKept <= now) return;
  std::ranges::rotate(sent_, sent_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = count_;
  sent_.resize(std::max(kSamplesLeast, 2 * count_));
}

RateFinder::Sent RateFinder::whole(const Short& each) const noexcept {
  const auto at = newest_.at >> kAtShift;
  return {newest_.sequence - (low(newest_.sequence) - each.sequence), newest_.bytes - (low(newest_.bytes) - each.bytes),
          (at - (low(at) - each.at)) << kAtShift};
}

/// The sample that the packet is in; what left within kApart is one. The oldest for what is older.
std::optional<RateFinder::Sent> RateFinder::find(std::uint64_t sequence) const noexcept {
  std::optional<Sent> found;
  for (std::size_t i = 1; i <= count_; ++i) {
    const auto each = whole(sent_[(next_ + sent_.size() - i) % sent_.size()]);
    if (each.sequence < sequence) return found;
    found = each;
  }
  return found;
}

void RateFinder::forget() noexcept {
  count_ = 0;
  mark_.reset();
  before_.reset();
  least_.reset();
  least_before_.reset();
  drained_from_ = 0;
  drain_until_ = 0;
  hold_ = kHold;
  closed_until_ = 0;
  in_vain_ = 0;
}

double RateFinder::above_least(std::int64_t delay, std::uint64_t now) noexcept {
  if (now >= least_since_ + kLeastFor) {
    least_before_ = least_;
    least_.reset();
    least_since_ = now;
  }
  least_ = std::min(delay, least_.value_or(delay));
  const auto least = std::min(*least_, least_before_.value_or(*least_));
  // The other end's clock is its own word, and the difference of two may be more than a signed number holds.
  return ms(minus(static_cast<std::uint64_t>(delay), static_cast<std::uint64_t>(least)));
}

void RateFinder::on_arrived(const Arrived& word, bool waiting, std::uint64_t now) noexcept {
  if (waiting) waited_at_ = now;
  const auto sent = find(word.highest);
  if (!sent) return;
  if (before_ && (word.bytes < before_->arrived_bytes || word.at < before_->arrived_at)) forget();  // it began anew
  if (before_ && word.at == before_->arrived_at) return;
  Seen seen{sent->at, sent->bytes, word.at, word.bytes, 0};
  seen.queue = above_least(minus(word.at, sent->at), now);
  if (rate_ == 0)
    look_for_full(seen, now);
  else
    follow(seen, waiting, now);
  if (before_ && seen.queue < kFullMs)
    noise_ += (std::min(std::abs(seen.queue - before_->queue), kNoiseMost) - noise_) / 8;
  before_ = seen;
}

/// What arrived between two words, with what is lost all the same, and what had been sent.
RateFinder::Carried RateFinder::between(const Seen& from, const Seen& to) const noexcept {
  return {kbit_of(to.arrived_bytes - from.arrived_bytes, to.arrived_at - from.arrived_at) / (1 - loss_),
          kbit_of(to.sent_bytes - from.sent_bytes, to.sent_at - from.sent_at)};
}

/// Two words in a row of packets that waited, between which less arrived than had been sent: a queue that grows, or one
/// that is full and loses the rest. A radio that stops for a moment catches up at once and says no second word.
void RateFinder::look_for_full(const Seen& seen, std::uint64_t now) noexcept {
  if (seen.queue < kFullMs + 2 * noise_ || now < closed_until_) return mark_.reset();
  if (!mark_) return void(mark_ = seen);
  if (seen.arrived_at < mark_->arrived_at + kLongEnough || seen.sent_bytes < mark_->sent_bytes + kEnough) return;
  const auto from = *mark_;
  const auto rate = between(from, seen);
  mark_ = seen;
  if (rate.carried >= kFewer * rate.offered) return;
  waited_at_ = clear_at_ = now;
  measured(rate.carried, now);
  drain(&from, seen, now);
}

/// A rate that was measured while packets waited in the link.
void RateFinder::measured(double kbit, std::uint64_t now) noexcept {
  if (now >= best_at_ + 10 * kS) {
    best_ /= 2;
    best_at_ = now;
  }
  best_ = std::max(best_, kbit);
  rate_ = std::clamp(kbit, std::max(best_ / kFloorPart, kLeastKbit), kKbitMost);
  when_full_ = rate_;
  raises_ = 0;
  full_at_ = now;
}

/// What is on its way and not yet out of the queue goes first, within a second if that leaves an eighth.
/// Of what left since, a queue that is full has dropped a part: it is no longer than it would be by growing as before.
void RateFinder::drain(const Seen* from, const Seen& seen, std::uint64_t now) noexcept {
  const auto since = ms(minus(now, seen.sent_at));
  const auto on_the_way = static_cast<double>(newest_.bytes - seen.sent_bytes) * 8;  // bits
  const auto served = rate_ * (since - seen.queue);                                  // since it came
  auto queued = std::clamp(on_the_way - served, 0.0, rate_ * 10'000);
  if (from != nullptr && seen.sent_at > from->sent_at) {
    const auto growth = std::max(seen.queue - from->queue, 0.0) / ms(minus(seen.sent_at, from->sent_at));
    queued = std::min(queued, rate_ * (seen.queue + growth * since));
  }
  drain_rate_ = std::max(rate_ - queued / 1'000, std::max(rate_ / kFloorPart, kLeastKbit));
  if (queued <= 0 || drain_rate_ >= rate_) return;
  drain_until_ = now + static_cast<std::uint64_t>(queued / (rate_ - drain_rate_)) * kMs;
  drained_from_ = std::max(seen.queue, queued / rate_);
}

void RateFinder::follow(const Seen& seen, bool waiting, std::uint64_t now) noexcept {
  if (now >= waited_at_ + kUnused) {
    rate_ = 0;
    return forget();
  }
  const auto high = seen.queue >= kQueueMs + 2 * noise_;
  if (drained_from_ > 0) {
    if (seen.queue < kClearMs + noise_ && now < drain_until_) drain_until_ = now;  // gone sooner than thought
    const auto grows = mark_ && seen.queue > drained_from_ + kFullMs;              // for it carries less than it did
    if (seen.sent_at < drain_until_ && !grows) return;
    drained_from_ = 0;
    if (high && mark_) still_high(*mark_, seen, now);
    mark_ = drained_from_ > 0 ? std::optional(seen) : std::nullopt;  // from which the next one is measured
    return;
  }
  if (high) {
    if (!mark_) {  // at least what was too much is taken back
      if (raises_ != 0) hold_ = raises_ <= kSmallSteps ? std::min(2 * hold_, kHoldMost) : kHold;
      mark_ = seen;
      rate_ = std::min(rate_, when_full_);
      raises_ = 0;
      full_at_ = now;
      return drain(nullptr, seen, now);
    }
    if (seen.arrived_at < mark_->arrived_at + kLongEnough) return;
    const auto from = *mark_;
    const auto rate = between(from, seen);
    mark_ = seen;
    if (rate.carried < kFewer * rate.offered && of_another(now)) return;
    measured(rate.carried, now);
    return drain(&from, seen, now);
  }
  mark_.reset();
  const auto clear = seen.queue < kClearMs + noise_;
  if (clear) {
    clear_at_ = now;
    in_vain_ = 0;
    closed_for_ = kClosed;
  }
  if (clear && before_ && seen.sent_bytes > before_->sent_bytes) {
    const auto rate = std::clamp(1 - static_cast<double>(seen.arrived_bytes - before_->arrived_bytes) /
                                         static_cast<double>(seen.sent_bytes - before_->sent_bytes),
                                 0.0, kLossMost);
    loss_ += (rate - loss_) / 16;
  }
  if (clear && waiting && seen.sent_at >= raised_at_ && now >= raised_at_ + kS && now >= full_at_ + hold_) raise(now);
}

/// Less leaves, time after time, and the queue stays: it is not this link's own traffic that fills it, and the less of it
/// leaves, the less arrives.
bool RateFinder::of_another(std::uint64_t now) noexcept {
  if (++in_vain_ < kInVain && now < clear_at_ + kInVainFor) return false;
  rate_ = 0;
  forget();
  closed_until_ = now + closed_for_;
  closed_for_ = std::min(2 * closed_for_, kClosedMost);
  return true;
}

/// The queue should be gone. A delay that is there all the same is the way's own, unless less arrives than was sent.
void RateFinder::still_high(const Seen& from, const Seen& seen, std::uint64_t now) noexcept {
  const auto rate = between(from, seen);
  if (in_vain_ != 0 || rate.carried < kFewer * rate.offered) {
    if (of_another(now)) return;
    measured(rate.carried, now);
    return drain(&from, seen, now);
  }
  least_ = minus(seen.arrived_at, seen.sent_at);
  least_before_.reset();
  least_since_ = now;
}

void RateFinder::raise(std::uint64_t now) noexcept {
  ++raises_;
  const auto doublings = raises_ > kSmallSteps ? static_cast<int>(std::min(raises_ - kSmallSteps, 8U)) : 0;
  rate_ *= 1 + std::min(std::ldexp(kStep, doublings), kStepMost);
  raised_at_ = now;
  if (rate_ < kFasterBy * when_full_ && rate_ < kKbitMost) return;
  rate_ = 0;  // it is another link now
  forget();
}

std::uint32_t RateFinder::kbit(std::uint64_t now) noexcept {
  if (rate_ == 0) return 0;
  const auto draining = now < drain_until_;
  return static_cast<std::uint32_t>(std::lround(draining ? drain_rate_ : rate_));
}

}  // namespace pqcmav
