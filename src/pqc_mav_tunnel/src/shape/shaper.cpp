// SPDX-License-Identifier: Apache-2.0
#include "shape/shaper.hpp"

#include <algorithm>
#include <numeric>

#include "constants.hpp"
#include "nanoseconds.hpp"
#include "session/bundle.hpp"

namespace pqcmav {
namespace {

constexpr std::array<std::size_t, kShapeClasses> kPlaces = {kShapeCommands, kShapeTransfers, kShapeStreams, kShapeRest,
                                                            kShapeRekey};
constexpr std::size_t kAllPlaces = kShapeCommands + kShapeTransfers + kShapeStreams + kShapeRest + kShapeRekey;
constexpr std::uint64_t kBitsPerKbit = 1000;

}  // namespace

Shaper::Shaper(std::size_t headroom, std::size_t capacity, std::size_t tailroom, MessageClasses classes)
    : pool_(kAllPlaces, headroom, capacity, tailroom),
      classes_(std::move(classes)),
      queues_{ClassQueue(kPlaces[0]), ClassQueue(kPlaces[1]), ClassQueue(kPlaces[2]), ClassQueue(kPlaces[3]),
              ClassQueue(kPlaces[4])} {}

void Shaper::set_kbit(std::uint32_t kbit, std::uint64_t now) noexcept {
  kbit_ = kbit;
  const auto used = kbit * kBitsPerKbit * kShapeUsedPercent / 100;
  rate_.set_rate(used, now);
  const auto pause = static_cast<std::int64_t>(used * kShapePauseMs / 8 / 1000);
  rate_.set_depth(std::clamp(pause, std::int64_t{kUdpIp}, TokenBucket::kDepthBytes));
  rekey_share_.set_rate(used / kShapeRekeyPart, now);
  bundle_most_ = std::max<std::size_t>(used * kShapeBundleMs / 8 / 1000, kShapeBundleLeast);
}

ClassQueue& Shaper::queue(ShapeClass shape_class) noexcept { return queues_[static_cast<std::size_t>(shape_class)]; }

void Shaper::take(ByteView datagram, std::uint64_t now) noexcept {
  enqueue(datagram, classify(datagram, classes_), now);
}

void Shaper::take_rekey(ByteView controls, std::uint64_t now) noexcept {
  enqueue(controls, {.shape_class = ShapeClass::rekey}, now);
}

void Shaper::charge(std::size_t bytes) noexcept {
  auto& count = counts_[static_cast<std::size_t>(ShapeClass::command)];
  ++count.taken;
  ++count.sent;
  rate_.spend(bytes + kUdpIp);
}

void Shaper::enqueue(ByteView bytes, const DatagramClass& as, std::uint64_t now) noexcept {
  auto& count = counts_[static_cast<std::size_t>(as.shape_class)];
  ++count.taken;
  if (bytes.size() > pool_.capacity()) {
    ++count.dropped;
    return;
  }
  auto& queued = queue(as.shape_class);
  ClassQueue::Waiting packet{0, bytes.size(), as.stream, now, as.corrections};
  packet.signer = as.signer;
  packet.order = ++order_;
  if (auto* older = as.stream ? queued.find(*as.stream) : nullptr) {
    ++count.replaced;
    older->size = packet.size;
    older->taken = now;
    older->signer = packet.signer;
    older->order = packet.order;
    packet.place = older->place;
  } else {
    if (queued.full()) drop(as.shape_class, queued.pop_oldest());
    packet.place = pool_.take();
    packet.taken = now;
    if (as.stream) packet.before = sent_values_.of(*as.stream);
    queued.push(packet);
  }
  std::copy(bytes.begin(), bytes.end(), pool_.payload(packet.place, packet.size).begin());
}

void Shaper::drop(ShapeClass shape_class, const ClassQueue::Waiting& packet) noexcept {
  pool_.give_back(packet.place);
  ++counts_[static_cast<std::size_t>(shape_class)].dropped;
}

void Shaper::expire(std::uint64_t now) noexcept {
  constexpr auto kAge = static_cast<std::uint64_t>(std::chrono::nanoseconds(kShapeCorrectionsAge).count());
  if (now < kAge) return;
  queue(ShapeClass::transfer).expire_corrections(now - kAge, [&](const auto& packet) {
    drop(ShapeClass::transfer, packet);
  });
}

bool Shaper::joins(ShapeClass shape_class, const Overhead& overhead) noexcept {
  const auto size = queue(shape_class).front().size;
  return shape_class != ShapeClass::rekey && bundle_prefix(size) + size <= overhead.room;
}

std::size_t Shaper::cost(ShapeClass shape_class, const Overhead& overhead) noexcept {
  return queue(shape_class).front().size + (shape_class == ShapeClass::rekey ? overhead.control : overhead.data);
}

/// Commands; a rekey's share; transfers; streams, with the rest at every tenth turn. What nobody else wants is the
/// rekey's, too. Of the streams that wait it is the turn of that which brings the most news, if none waited for long.
std::optional<ShapeClass> Shaper::most_important(std::uint64_t now, const Overhead& overhead) noexcept {
  using enum ShapeClass;
  const bool rekeys = !queue(rekey).empty();
  if (!queue(command).empty()) return command;
  if (rekeys && rekey_share_.ready_at(cost(rekey, overhead), now) <= now) return rekey;
  if (!queue(transfer).empty()) return transfer;
  const bool streams = !queue(stream).empty();
  if (!queue(rest).empty() && (!streams || stream_turns_ + 1 >= kShapeTurns)) return rest;
  if (streams) {
    queue(stream).pick(now -
                       std::min(now, static_cast<std::uint64_t>(std::chrono::nanoseconds(kShapeWaitMost).count())));
    return stream;
  }
  return rekeys ? std::optional(rekey) : std::nullopt;
}

/// MAVLink's signatures carry time stamps, and whoever checks them refuses one that is older than the last. So a signed
/// packet waits for those that its signer sent before, of whatever class: what is important takes them along.
ShapeClass Shaper::in_order_of_signer(ShapeClass chosen) noexcept {
  const auto signer = queue(chosen).front().signer;
  if (!signer) return chosen;
  const ClassQueue::Waiting* first = nullptr;
  for (std::size_t i = 0; i < kShapeClasses; ++i) {
    const auto* of_class = queues_[i].first_of(*signer);
    if (of_class == nullptr || (first != nullptr && first->order < of_class->order)) continue;
    first = of_class;
    chosen = static_cast<ShapeClass>(i);
  }
  queue(chosen).pick(*first);
  return chosen;
}

std::optional<ShapeClass> Shaper::choose(std::uint64_t now, const Overhead& overhead) noexcept {
  for (auto& each : queues_) each.unpick();
  const auto chosen = most_important(now, overhead);
  return chosen ? std::optional(in_order_of_signer(*chosen)) : std::nullopt;
}

std::optional<Shaper::Leaving> Shaper::next(std::uint64_t now, const Overhead& overhead) noexcept {
  expire(now);
  const auto chosen = choose(now, overhead);
  if (!chosen) return std::nullopt;
  const bool joining = joins(*chosen, overhead);
  if (on() && joining) {
    rate_.spend(queue(*chosen).front().size);
  } else if (on()) {
    const auto bytes = cost(*chosen, overhead);
    if (rate_.ready_at(bytes, now) > now) return std::nullopt;
    rate_.spend(bytes);
    if (*chosen == ShapeClass::rekey && rekey_share_.ready_at(bytes, now) <= now) rekey_share_.spend(bytes);
  }
  if (*chosen == ShapeClass::stream) ++stream_turns_;
  if (*chosen == ShapeClass::rest) stream_turns_ = 0;
  const auto packet = queue(*chosen).pop();
  if (*chosen == ShapeClass::stream && packet.stream) sent_values_.left(*packet.stream, packet.taken);
  pool_.give_back(packet.place);
  ++counts_[static_cast<std::size_t>(*chosen)].sent;
  return Leaving{pool_.with_room(packet.place, packet.size), *chosen, joining};
}

std::uint64_t Shaper::due(std::uint64_t now, const Overhead& overhead) noexcept {
  expire(now);
  const auto chosen = choose(now, overhead);
  if (!chosen) return kNever;
  return on() ? rate_.ready_at(cost(*chosen, overhead), now) : now;
}

void Shaper::clear() noexcept {
  for (std::size_t i = 0; i < kShapeClasses; ++i)
    while (!queues_[i].empty()) drop(static_cast<ShapeClass>(i), queues_[i].pop());
}

ShapeCounts Shaper::counts(std::uint64_t now) const noexcept {
  auto out = counts_;
  for (std::size_t i = 0; i < kShapeClasses; ++i)
    if (!queues_[i].empty())
      out[i].oldest_ms = static_cast<std::uint32_t>((now - std::min(now, queues_[i].oldest().since)) / kMs);
  return out;
}

}  // namespace pqcmav
