// SPDX-License-Identifier: Apache-2.0
#include "shape/shaper.hpp"

#include <algorithm>

#include "constants.hpp"
#include "nanoseconds.hpp"
#include "session/bundle.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kAllPlaces = kShapeCommands + kShapeTransfers + kShapeStreams + kShapeRest + kShapeRekey;
constexpr std::uint64_t kBitsPerKbit = 1000;

}  // namespace

Shaper::Shaper(std::size_t headroom, std::size_t capacity, std::size_t tailroom, MessageClasses classes)
    : pool_(kAllPlaces, headroom, capacity, tailroom),
      parameter_pool_(kShapeParameters, headroom, kShapeParameterBytes, tailroom),
      classes_(std::move(classes)),
      queues_{ClassQueue(kShapeCommands), ClassQueue(kShapeTransfers), ClassQueue(kShapeStreams),
              ClassQueue(kShapeRest),     ClassQueue(kShapeRekey),     ClassQueue(kShapeParameters)} {
  commands_.set_rate(kShapeCommandKbit * kBitsPerKbit, 0);
}

ShapeClass Shaper::class_of(Line line) noexcept {
  return line == Line::parameters ? ShapeClass::transfer : static_cast<ShapeClass>(line);
}

void Shaper::set_kbit(std::uint32_t kbit, std::uint64_t now) noexcept {
  kbit_ = kbit;
  const auto used = kbit * kBitsPerKbit * kShapeUsedPercent / 100;
  rate_.set_rate(used, now);
  const auto pause = static_cast<std::int64_t>(used * kShapePauseMs / 8 / 1000);
  rate_.set_depth(std::clamp(pause, std::int64_t{kUdpIp}, TokenBucket::kDepthBytes));
  rekey_share_.set_rate(used / kShapeRekeyPart, now);
  bundle_most_ = std::max<std::size_t>(used * kShapeBundleMs / 8 / 1000, bundle_least_);
}

ClassQueue& Shaper::queue(Line line) noexcept { return queues_[static_cast<std::size_t>(line)]; }

void Shaper::take(ByteView datagram, std::uint64_t now) noexcept {
  enqueue(datagram, classify(datagram, classes_), now);
}

void Shaper::take_rekey(ByteView controls, std::uint64_t now) noexcept {
  enqueue(controls, {.shape_class = ShapeClass::rekey}, now);
}

void Shaper::charge(std::size_t bytes) noexcept {
  auto& commands = count(Line::command);
  ++commands.taken;
  ++commands.sent;
  rate_.spend(bytes + around_);
}

void Shaper::enqueue(ByteView bytes, const DatagramClass& as, std::uint64_t now) noexcept {
  // Signed ones would hold up the commands of their signer, as all that leaves in its order.
  const bool by_the_thousand = as.parameters && !as.signer && bytes.size() <= kShapeParameterBytes;
  const auto line = by_the_thousand ? Line::parameters : static_cast<Line>(as.shape_class);
  auto& counted = count(line);
  ++counted.taken;
  if (bytes.size() > pool(line).capacity()) {
    ++counted.dropped;
    return;
  }
  auto& queued = queue(line);
  ClassQueue::Waiting packet{0, bytes.size(), as.stream, now, as.corrections};
  packet.signer = as.signer;
  packet.order = ++order_;
  packet.twice = as.twice;
  packet.file = as.file;
  if (auto* older = as.stream ? queued.find(*as.stream) : nullptr) {
    ++counted.replaced;
    older->size = packet.size;
    older->taken = now;
    older->signer = packet.signer;
    older->order = packet.order;
    packet.place = older->place;
  } else {
    if (queued.full()) {
      const auto least = queued.make_room(as.file);
      if (!least) {
        ++counted.dropped;
        return;
      }
      drop(line, *least);
    }
    packet.place = pool(line).take();
    packet.taken = now;
    if (as.stream) packet.before = sent_values_.of(*as.stream);
    queued.push(packet);
  }
  std::copy(bytes.begin(), bytes.end(), pool(line).payload(packet.place, packet.size).begin());
}

void Shaper::drop(Line line, const ClassQueue::Waiting& packet) noexcept {
  pool(line).give_back(packet.place);
  ++count(line).dropped;
}

void Shaper::expire(std::uint64_t now) noexcept {
  constexpr auto kAge = static_cast<std::uint64_t>(std::chrono::nanoseconds(kShapeCorrectionsAge).count());
  if (now < kAge) return;
  queue(Line::transfer).expire_corrections(now - kAge, [&](const auto& packet) { drop(Line::transfer, packet); });
}

bool Shaper::joins(Line line, const Overhead& overhead) noexcept {
  const auto size = queue(line).front().size;
  return line != Line::rekey && bundle_prefix(size) + size <= overhead.room;
}

/// The bundle leaves, for what is next finds no room in it: a smaller value of a stream goes with it for nothing.
bool Shaper::fills(Line chosen, const Overhead& overhead) noexcept {
  if (!on() || chosen == Line::command || overhead.room <= 1) return false;
  return queue(Line::stream).pick_small(std::min(overhead.room - 1, kBundleShort));
}

std::size_t Shaper::cost(Line line, const Overhead& overhead) noexcept {
  return queue(line).front().size + (line == Line::rekey ? overhead.control : overhead.data);
}

/// Commands; a rekey's share; transfers; parameters, with the others at every fourth turn; streams, with the rest at
/// every tenth, or fourth if it has files. What nobody else wants is the rekey's, too. Of the streams that wait it is the
/// turn of that which brings the most news, if none waited for long.
std::optional<Shaper::Line> Shaper::most_important(std::uint64_t now, const Overhead& overhead) noexcept {
  using enum Line;
  const bool rekeys = !queue(rekey).empty();
  if (!queue(command).empty()) return command;
  if (rekeys && rekey_share_.ready_at(cost(rekey, overhead), now) <= now) return rekey;
  if (!queue(transfer).empty()) return transfer;
  const bool streams = !queue(stream).empty();
  const bool others = streams || !queue(rest).empty();
  const bool values = !queue(parameters).empty() && (on() || !holds_parameters_);
  if (values && (!others || parameter_turns_ + 1 < kShapeParameterTurns)) return parameters;
  const auto turns = queue(rest).files() != 0 ? kShapeFileTurns : kShapeTurns;
  if (!queue(rest).empty() && (!streams || stream_turns_ + 1 >= turns)) return rest;
  if (streams) {
    queue(stream).pick(now -
                       std::min(now, static_cast<std::uint64_t>(std::chrono::nanoseconds(kShapeWaitMost).count())));
    return stream;
  }
  return rekeys ? std::optional(rekey) : std::nullopt;
}

/// MAVLink's signatures carry time stamps, and whoever checks them refuses one that is older than the last. So a signed
/// packet waits for those that its signer sent before, of whatever class: what is important takes them along.
Shaper::Line Shaper::in_order_of_signer(Line chosen) noexcept {
  const auto signer = queue(chosen).front().signer;
  if (!signer) return chosen;
  const ClassQueue::Waiting* first = nullptr;
  for (std::size_t i = 0; i < kLines; ++i) {
    const auto* of_line = queues_[i].first_of(*signer);
    if (of_line == nullptr || (first != nullptr && first->order < of_line->order)) continue;
    first = of_line;
    chosen = static_cast<Line>(i);
  }
  queue(chosen).pick(*first);
  return chosen;
}

std::optional<Shaper::Line> Shaper::choose(std::uint64_t now, const Overhead& overhead) noexcept {
  for (auto& each : queues_) each.unpick();
  auto chosen = most_important(now, overhead);
  command_since_ = chosen == Line::command ? queue(Line::command).front().since : kNever;
  if (chosen) chosen = in_order_of_signer(*chosen);
  rate_.set_waiting(chosen ? cost(*chosen, overhead) : 0, now);
  return chosen;
}

/// When so many bytes of the chosen packet may leave. The tunnel's own frames wait for nothing and may use up all of a
/// low rate, or more: a heartbeat or a command then waits for so long, and no longer.
std::uint64_t Shaper::ready_at(std::size_t bytes, std::uint64_t now) noexcept {
  const auto by_rate = rate_.ready_at(bytes, now);
  if (command_since_ == kNever || by_rate <= now) return by_rate;
  constexpr auto kWait = static_cast<std::uint64_t>(std::chrono::nanoseconds(kShapeCommandWait).count());
  return std::min(by_rate, std::max(command_since_ + kWait, commands_.ready_at(bytes, now)));
}

void Shaper::took_its_turn(Line line) noexcept {
  if (line == Line::parameters) ++parameter_turns_;
  if (line == Line::stream) ++stream_turns_;
  if (line == Line::rest) stream_turns_ = 0;
  if (line == Line::stream || line == Line::rest) parameter_turns_ = 0;
}

std::optional<Shaper::Leaving> Shaper::next(std::uint64_t now, const Overhead& overhead) noexcept {
  expire(now);
  auto chosen = choose(now, overhead);
  if (!chosen) return std::nullopt;
  bool joining = joins(*chosen, overhead);
  if (!joining && fills(*chosen, overhead)) {
    chosen = Line::stream;
    joining = true;
  }
  if (on() && joining) {
    rate_.spend(queue(*chosen).front().size);
  } else if (on()) {
    const auto bytes = cost(*chosen, overhead);
    if (ready_at(bytes, now) > now) return std::nullopt;
    rate_.spend(bytes);
    if (command_since_ != kNever) commands_.spend(bytes);
    if (*chosen == Line::rekey && rekey_share_.ready_at(bytes, now) <= now) rekey_share_.spend(bytes);
  }
  took_its_turn(*chosen);
  const auto packet = queue(*chosen).pop();
  if (*chosen == Line::stream && packet.stream) sent_values_.left(*packet.stream, packet.taken);
  pool(*chosen).give_back(packet.place);
  ++count(*chosen).sent;
  return Leaving{pool(*chosen).with_room(packet.place, packet.size), class_of(*chosen), joining, packet.twice};
}

std::size_t Shaper::parameter_waits() const noexcept {
  const auto& waiting = queues_[static_cast<std::size_t>(Line::parameters)];
  return waiting.empty() ? 0 : waiting.front().size;
}

MutableBytes Shaper::next_parameter() noexcept {
  const auto packet = queue(Line::parameters).pop();
  pool(Line::parameters).give_back(packet.place);
  ++count(Line::parameters).sent;
  return pool(Line::parameters).with_room(packet.place, packet.size);
}

std::uint64_t Shaper::due(std::uint64_t now, const Overhead& overhead) noexcept {
  expire(now);
  const auto chosen = choose(now, overhead);
  if (!chosen) return kNever;
  return on() ? ready_at(cost(*chosen, overhead), now) : now;
}

void Shaper::clear() noexcept {
  for (std::size_t i = 0; i < kLines; ++i)
    while (!queues_[i].empty()) drop(static_cast<Line>(i), queues_[i].pop());
}

unsigned Shaper::free_percent() const noexcept {
  std::size_t least = 100;
  for (const auto line : {Line::command, Line::transfer, Line::rest, Line::parameters})
    least = std::min(least, queues_[static_cast<std::size_t>(line)].free_percent());
  return static_cast<unsigned>(least);
}

ShapeCounts Shaper::counts(std::uint64_t now) const noexcept {
  auto out = counts_;
  for (std::size_t i = 0; i < kLines; ++i) {
    if (queues_[i].empty()) continue;
    const auto waits_ms = static_cast<std::uint32_t>((now - std::min(now, queues_[i].oldest().since)) / kMs);
    auto& oldest_ms = out[static_cast<std::size_t>(class_of(static_cast<Line>(i)))].oldest_ms;
    oldest_ms = std::max(oldest_ms, waits_ms);
  }
  return out;
}

}  // namespace pqcmav
