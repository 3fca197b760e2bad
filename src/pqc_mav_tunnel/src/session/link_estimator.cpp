// SPDX-License-Identifier: Apache-2.0
#include "session/link_estimator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace pqcmav {
namespace {

constexpr std::uint64_t kSlotNs = 100'000'000;
constexpr auto kBlackoutNs = static_cast<std::uint64_t>(nanoseconds(kBlackout).count());

// The histogram: bucket 0 holds gaps below 4 us, then five buckets per octave, up to 180 s and beyond in the last one.
constexpr std::uint64_t kFirstBoundNs = 4'000;
constexpr std::array<double, 5> kSteps{1.0, 1.148698354997035, 1.319507910772894, 1.515716566510398,
                                       1.741101126592248};  // 2^(i/5)

/// Lowest gap of each bucket in nanoseconds, so that the packet path only compares integers.
constexpr auto kLowest = [] {
  std::array<std::uint64_t, 128> out{};
  double octave = static_cast<double>(kFirstBoundNs);
  for (std::size_t bucket = 1; bucket < out.size(); ++bucket) {
    out[bucket] = static_cast<std::uint64_t>(octave * kSteps[(bucket - 1) % kSteps.size()]);
    if (bucket % kSteps.size() == 0) octave *= 2;
  }
  return out;
}();

std::size_t bucket_of(std::uint64_t gap_ns) noexcept {
  if (gap_ns < kFirstBoundNs) return 0;
  const auto octave = static_cast<std::size_t>(std::bit_width(gap_ns / kFirstBoundNs) - 1);
  auto bucket = std::min(kSteps.size() * (octave + 1), kLowest.size() - 1);
  while (gap_ns < kLowest[bucket]) --bucket;
  return bucket;
}

/// The geometric middle of a bucket: at most 7.2 % away from anything in it.
double middle_ns(std::size_t bucket) noexcept {
  if (bucket == 0) return static_cast<double>(kFirstBoundNs) / 2;
  return static_cast<double>(kFirstBoundNs) *
         std::exp2((static_cast<double>(bucket) - 0.5) / static_cast<double>(kSteps.size()));
}

std::uint32_t saturate(double value) noexcept {
  constexpr auto kMax = std::numeric_limits<std::uint32_t>::max();
  return value >= static_cast<double>(kMax) ? kMax : static_cast<std::uint32_t>(std::llround(std::max(0.0, value)));
}

std::uint32_t to_us(std::uint64_t ns) noexcept { return saturate(static_cast<double>(ns) / 1000.0); }

std::uint64_t distance(std::uint64_t a, std::uint64_t b) noexcept { return a > b ? a - b : b - a; }

}  // namespace

void LinkEstimator::Gaps::add(std::size_t bucket) noexcept {
  const auto number = came++;
  if (!counts) {
    if (number < first.size()) {
      first[number] = static_cast<std::uint8_t>(bucket);
      return;
    }
    counts = std::make_unique<Histogram>();
    for (const auto each : first) count(each);
  }
  if ((number & ((1u << shift) - 1)) == 0) count(bucket);
}

void LinkEstimator::Gaps::count(std::size_t bucket) noexcept {
  if ((*counts)[bucket] == std::numeric_limits<std::uint8_t>::max()) {
    for (auto& each : *counts) each /= 2;
    ++shift;
  }
  ++(*counts)[bucket];
}

/// The histogram stays: a link that was busy will be again.
void LinkEstimator::Gaps::clear() noexcept {
  if (counts) counts->fill(0);
  came = 0;
  shift = 0;
}

LinkEstimator::Slot& LinkEstimator::slot_at(std::uint64_t now_ns) noexcept {
  const auto index = now_ns / kSlotNs;
  if (!slots_.empty() && slots_[newest_slot_].index == index) return slots_[newest_slot_];
  const auto old = std::ranges::find_if(slots_, [&](const Slot& slot) { return !live(slot, now_ns); });
  newest_slot_ = static_cast<std::size_t>(old - slots_.begin());
  if (old == slots_.end()) {
    if (slots_.size() == slots_.capacity())  // a vector's own growth would end with room for 64
      slots_.reserve(std::clamp<std::size_t>(2 * slots_.size(), 8, kSlots));
    slots_.emplace_back();
  }
  auto& slot = slots_[newest_slot_];
  auto gaps = std::move(slot.gaps);
  gaps.clear();
  slot = Slot{};
  slot.gaps = std::move(gaps);
  slot.index = index;
  return slot;
}

bool LinkEstimator::live(const Slot& slot, std::uint64_t now_ns) const noexcept {
  const auto index = now_ns / kSlotNs;
  return slot.index <= index && slot.index + kSlots > index;
}

LinkEstimator::Arrival LinkEstimator::on_packet(std::uint64_t now_ns, std::uint64_t key_tag,
                                                std::uint64_t sequence) noexcept {
  now_ns = std::max(now_ns, last_arrival_ns_);  // a batch may carry stamps out of order
  auto& slot = slot_at(now_ns);
  ++slot.packets;
  const auto arrival = on_sequence(slot, now_ns, key_tag, sequence);
  if (!seen_) {
    seen_ = true;
    first_arrival_ns_ = last_arrival_ns_ = now_ns;
    return arrival;
  }
  const auto gap = now_ns - last_arrival_ns_;
  static_assert(kLowest.size() == kBuckets);
  slot.gaps.add(bucket_of(gap));
  slot.longest_gap_ns = std::max(slot.longest_gap_ns, gap);
  if (gap > kBlackoutNs) ++slot.blackouts;
  if (gaps_seen_++ > 0) {
    slot.jitter_sum_ns += distance(gap, last_gap_ns_);
    ++slot.jitter_samples;
  }
  last_gap_ns_ = gap;
  last_arrival_ns_ = now_ns;
  return arrival;
}

void LinkEstimator::on_aside(std::uint64_t key_tag) noexcept {
  for (auto& key : keys_)
    if (key.number != 0 && key.tag == key_tag) ++key.aside_heard;
}

/// What is missing of the newest slots goes first: the peer tells each second.
void LinkEstimator::on_aside_told(std::uint64_t now_ns, std::uint64_t key_tag, std::uint64_t count) noexcept {
  now_ns = std::max(now_ns, last_arrival_ns_);
  for (auto& key : keys_) {
    if (key.number == 0 || key.tag != key_tag || count <= key.aside_heard + key.aside_forgiven) continue;
    auto left = count - key.aside_heard - key.aside_forgiven;
    key.aside_forgiven += left;
    const auto index = now_ns / kSlotNs;
    for (std::uint64_t back = 0; back < std::min<std::uint64_t>(kSlots, index + 1) && left > 0; ++back) {
      const auto slot = std::ranges::find(slots_, index - back, &Slot::index);
      if (slot == slots_.end()) continue;
      const auto taken = std::min(left, slot->missing);
      slot->missing -= taken;
      left -= taken;
    }
  }
}

bool LinkEstimator::lately(std::uint64_t now_ns, std::uint64_t key_tag, std::uint64_t sequence) const noexcept {
  now_ns = std::max(now_ns, last_arrival_ns_);
  const auto index = now_ns / kSlotNs;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    if (keys_[k].number == 0 || keys_[k].tag != key_tag) continue;
    for (const auto at : {index, index - std::min<std::uint64_t>(index, 1)}) {
      const auto slot = std::ranges::find(slots_, at, &Slot::index);
      if (slot == slots_.end() || slot->range_keys[k] != keys_[k].number) continue;
      if (sequence >= slot->ranges[k].first && sequence <= slot->ranges[k].last) return true;
    }
  }
  return false;
}

LinkEstimator::Arrival LinkEstimator::on_sequence(Slot& slot, std::uint64_t now_ns, std::uint64_t key_tag,
                                                  std::uint64_t sequence) noexcept {
  std::size_t k = newest_key_;
  if (keys_[k].number == 0 || keys_[k].tag != key_tag) {
    k = 1 - newest_key_;
    if (keys_[k].number == 0 || keys_[k].tag != key_tag) {  // a new key takes the place of the older of the two
      if (++last_number_ == 0) ++last_number_;
      keys_[k] = Key{key_tag, sequence, sequence, last_number_, 0, 0};
      newest_key_ = k;
      slot.ranges[k] = Range{sequence, sequence};
      slot.range_keys[k] = last_number_;
      return {};
    }
  }
  auto& key = keys_[k];
  auto& range = slot.ranges[k];
  if (slot.range_keys[k] != key.number) {
    range = Range{key.highest + 1, key.highest};  // empty
    slot.range_keys[k] = key.number;
  }
  std::uint64_t skipped = 0;
  if (sequence > key.highest) {
    skipped = sequence - key.highest - 1;
    range.last = key.highest = sequence;
  } else if (sequence < key.lowest) {  // the range grows downwards, and what lies between has yet to come
    skipped = key.lowest - sequence - 1;
    range.first = key.lowest = sequence;
  } else {
    on_late(now_ns, k, sequence);
    return {0, true};
  }
  slot.missing += skipped;
  return {skipped, false};
}

void LinkEstimator::on_late(std::uint64_t now_ns, std::size_t key, std::uint64_t sequence) noexcept {
  for (auto& slot : slots_) {
    const auto& range = slot.ranges[key];
    if (!live(slot, now_ns) || slot.range_keys[key] != keys_[key].number) continue;
    if (sequence >= range.first && sequence <= range.last) {
      if (slot.missing > 0) --slot.missing;
      return;
    }
  }
}

LinkReport LinkEstimator::report(std::uint64_t now_ns) const noexcept {
  LinkReport result;
  if (!seen_) return result;
  now_ns = std::max(now_ns, last_arrival_ns_);
  const auto index = now_ns / kSlotNs;
  const auto oldest_ns = index >= kSlots - 1 ? (index - (kSlots - 1)) * kSlotNs : 0;
  const auto window_ns = now_ns - std::max(first_arrival_ns_, oldest_ns);

  std::uint64_t packets = 0, missing = 0, jitter_ns = 0, jitter_samples = 0, gap_count = 0;
  std::uint64_t longest = now_ns - last_arrival_ns_;
  std::uint64_t longest_ended = 0;
  std::uint32_t blackouts = longest > kBlackoutNs ? 1 : 0;
  std::array<std::uint64_t, kBuckets> gaps{};
  for (const auto& slot : slots_) {
    if (!live(slot, now_ns)) continue;
    packets += slot.packets;
    missing += slot.missing;
    jitter_ns += slot.jitter_sum_ns;
    jitter_samples += slot.jitter_samples;
    blackouts += slot.blackouts;
    longest_ended = std::max(longest_ended, slot.longest_gap_ns);
    slot.gaps.for_each([&](std::size_t bucket, std::uint64_t count) {
      gaps[bucket] += count;
      gap_count += count;
    });
  }
  longest = std::max(longest, longest_ended);

  result.window_ms = saturate(static_cast<double>(window_ns) * 1e-6);
  if (window_ns > 0)
    result.packets_per_s_milli = saturate(static_cast<double>(packets) * 1e12 / static_cast<double>(window_ns));
  if (gap_count > 0) {
    auto rank = (gap_count * 95 + 99) / 100;
    std::size_t b = 0;
    while (gaps[b] < rank) rank -= gaps[b++];
    result.gap_p95_us = saturate(std::min(middle_ns(b), static_cast<double>(longest_ended)) / 1000.0);
  }
  result.longest_silence_us = to_us(longest);
  if (jitter_samples > 0) result.jitter_us = to_us(jitter_ns / jitter_samples);
  if (missing > 0) {
    result.loss_ppm =
        saturate(static_cast<double>(missing) * 1e6 / (static_cast<double>(missing) + static_cast<double>(packets)));
  }
  result.blackouts = blackouts;
  return result;
}

}  // namespace pqcmav
