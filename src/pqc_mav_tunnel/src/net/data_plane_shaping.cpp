// SPDX-License-Identifier: Apache-2.0
// The packet path where the link is shaped: plaintext waits in the link's Shaper, and is sealed when it leaves that.
#include <algorithm>

#include "line/radio_status.hpp"
#include "net/data_plane.hpp"
#include "net/data_plane_hold.hpp"
#include "net/timer.hpp"
#include "shape/mavlink_walk.hpp"

namespace pqcmav {
namespace {

/// What each packet of a link has around its payload now, and what the open bundle still takes.
Shaper::Overhead shape_overhead(const Link& link) noexcept {
  const auto around = link.session.overhead() + link.shaper->around();
  if (link.bundler.empty()) return {around, around};
  const auto most = link.shaper->bundle_most();
  const auto used = around + link.bundler.used();
  return {around, around, std::min(link.bundler.room(), most - std::min(most, used))};
}

}  // namespace

void DataPlane::shape_plain(Link& link, ByteView datagram, std::uint64_t now) noexcept {
  if (!ready(link)) return link.counters.plain_dropped_no_session.add();
  if (!link.by_wire()) return link.shaper->take(datagram, now);
  // Each message in its class, and no packet longer than it has to be: a radio loses long ones sooner.
  const auto whole = walk_mavlink(datagram, [](const MavlinkHeader&) {});
  if (!whole) return link.shaper->take(datagram, now);
  walk_mavlink(datagram, [&](const MavlinkHeader& header) {
    link.shaper->take(datagram.first(header.size), now);
    datagram = datagram.subspan(header.size);
  });
}

/// The shaper counted a bundle's datagrams without the lengths before them.
void DataPlane::charge_lengths(Link& link, const Bundler::Packet& bundle) noexcept {
  if (shaped(link)) link.shaper->charge_more(bundle.bytes.size() - kOverhead - bundle.payload);
}

/// Whether values of parameters leave in portions as long as no rate is known.
bool DataPlane::paces_parameters(const Link& link) const noexcept {
  return link.finder != nullptr && config_.role == Role::drone;
}

/// While all else leaves as it comes. What is held keeps its order.
bool DataPlane::holds_parameter(Link& link, ByteView datagram, std::uint64_t now) {
  if (!paces_parameters(link) || !ready(link) || !is_parameter(datagram)) return false;
  const bool waits = link.shaper && link.shaper->parameter_waits() != 0;
  if (!waits && link.parameter_pace.takes(datagram.size() + link.session.overhead() + Shaper::kUdpIp, now))
    return false;
  make_shaper(link);
  return true;
}

/// The next portion of them, if it is time for it.
void DataPlane::send_parameters(Link& link, std::uint64_t now) {
  if (!paces_parameters(link) || !link.shaper || link.shaper->on()) return;
  if (!ready(link)) return link.shaper->clear();
  while (const auto size = link.shaper->parameter_waits()) {
    if (!link.parameter_pace.takes(size + link.session.overhead() + Shaper::kUdpIp, now)) break;
    bundle_plain(link, link.shaper->next_parameter(), now);
    if (encrypted_out_.full()) send_sealed(link);
  }
  send_sealed(link);
  if (link.shaper->parameter_waits() == 0 || !link.parameter_pace.wants_probe()) return;
  send_bundle(link, now);  // the PROBE goes behind it
  send_sealed(link);
  const auto probe = link.probes.ask(now_ns());
  link.last_probe_ns = now;
  link.parameter_pace.probed(probe.id, now);
  send_control_now(link, OneControl(probe), now);
}

/// Seals and sends what may leave now. The shaper keeps the packets as they are until it takes another one.
void DataPlane::send_shaped(Link& link, std::uint64_t now) noexcept {
  if (!ready(link)) return link.shaper->clear();
  bool command = false;  // in the open bundle, which does not wait; a radio takes along what is there
  while (const auto leaving = link.shaper->next(now, shape_overhead(link))) {
    if (leaving->shape_class != ShapeClass::rekey) {
      const bool by_all = leaving->shape_class == ShapeClass::command &&
                          goes_by_all(link, leaving->packet.subspan(kHeaderSize, leaving->packet.size() - kOverhead));
      if (by_all || (leaving->twice && link.by_wire())) {
        send_alone(link, *leaving, by_all, now);
        continue;
      }
      if (!leaving->joins) {
        send_bundle(link, now);
        command = false;
      }
      bundle_plain(link, leaving->packet, now);
      command = command || leaving->shape_class == ShapeClass::command;
      if (command && !link.by_wire()) send_bundle(link, now);
    } else if (const auto sealed = link.session.seal(FrameType::control, leaving->packet, now)) {
      encrypted_out_.add(*sealed);
    }
    if (encrypted_out_.full()) send_sealed(link);
  }
  // What waits found no room in the bundle, which therefore is as full as it gets.
  if (command || link.shaper->due(now, shape_overhead(link)) != Shaper::kNever) send_bundle(link, now);
  send_sealed(link);
}

/// A ground station that hears no answer gives its command again, after seconds, and waits. So the answer goes alone,
/// before what waits in a bundle, and the radio's port, which is given it twice, has it go again (line/line_again.hpp).
/// The commands do not: they would take the air's turn from the drone, for what they say is said again all the same.
/// Alone goes, too, what goes by several paths, as the same packet.
void DataPlane::send_alone(Link& link, const Shaper::Leaving& leaving, bool by_all, std::uint64_t now) noexcept {
  send_sealed(link);
  repeat_before(link, leaving.packet.subspan(kHeaderSize, leaving.packet.size() - kOverhead), now);
  const auto around = shape_overhead(link).data;
  link.shaper->charge_more((leaving.joins ? around : 0) + around + leaving.packet.size() - kOverhead);
  seal_plain(link, leaving.packet, now, FrameType::data, 1, by_all);
  const bool twice = leaving.twice && link.by_wire();
  if (const auto bytes = twice ? encrypted_out_.again() : 0) link.bytes_again += bytes + Shaper::kUdpIp;
  send_sealed(link);
}

void DataPlane::send_due_shaped(std::uint64_t now) noexcept {
  shape_armed_ns_ = Shaper::kNever;  // it has rung
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i] && owns(i) && links_[i]->shaper) send_shaped(*links_[i], now);
}

/// Rings when the next packet may leave.
void DataPlane::arm_shaping(std::uint64_t now) noexcept {
  auto due = Shaper::kNever;
  shaping_ = false;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (!links_[i] || !owns(i) || !links_[i]->shaper) continue;
    const auto its = links_[i]->shaper->due(now, shape_overhead(*links_[i]));
    shaping_ = shaping_ || shaped(*links_[i]) || its != Shaper::kNever;
    due = std::min(due, its);
  }
  arm(shape_timer_, due, shape_armed_ns_);
}

bool DataPlane::set_shaping(std::uint32_t kbit, bool finds) {
  return post([this, kbit, finds] {
    for_each_plane([kbit, finds](DataPlane& plane) {
      const auto held = plane.first_ == nullptr ? Hold() : Hold(plane);
      plane.shape_now(kbit, finds, now_ns());
    });
  });
}

void DataPlane::shape_now(std::uint32_t kbit, bool finds, std::uint64_t now) {
  shape_kbit_ = kbit;
  finds_rate_ = finds;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const auto& link = links_[i];
    if (!link || !owns(i)) continue;
    if (!finds)
      link->finder.reset();
    else if (!link->finder)
      link->finder = std::make_unique<RateFinder>();
    shape_link(*link, rate_of(*link, now), now);
  }
}

/// As set by hand or found, and no more than a radio carries; 0: as it comes. Of one of several paths a radio knows more
/// than is found in the short times for which it is the main one.
std::uint32_t DataPlane::rate_of(const Link& link, std::uint64_t now) const noexcept {
  if (link.finder && link.by_wire() && link.wire->speaks() && several(link)) return link.wire->kbit();
  const auto kbit = link.finder ? link.finder->kbit(now) : shape_kbit_.load();
  if (!link.by_wire() || (kbit == 0 && !finds_rate_)) return kbit;
  const auto most = link.wire->kbit();
  return kbit == 0 ? most : std::min(kbit, most);
}

void DataPlane::make_shaper(Link& link) {
  if (link.shaper) return;
  link.shaper = std::make_unique<Shaper>(kHeaderSize, std::max(config_.max_payload, kControlFrameMax), kTagSize,
                                         MessageClasses(config_.shape_ids));
  link.shaper->hold_parameters(paces_parameters(link));
}

void DataPlane::shape_link(Link& link, std::uint32_t kbit, std::uint64_t now) {
  shaping_ = shaping_ || kbit != 0;
  if (!link.shaper && kbit == 0) return;
  make_shaper(link);
  if (link.by_wire()) {  // a bundle that is not full costs the air more than the moment that it saves
    const auto around = link.wire->radio().around();
    link.shaper->set_around(around, around + link.session.overhead() + link.bundler.most());
  } else {
    link.shaper->set_around(Shaper::kUdpIp);
  }
  link.shaper->set_kbit(kbit, now);
  link.shaper->hold_parameters(paces_parameters(link));
  if (link.hub) link.hub->keep_apart(kbit != 0);
  send_shaped(link, now);  // all of it once shaping is off
  link.publish(now);
}

void DataPlane::hear_arrived(Link& link, const Arrived& word, std::uint64_t now) {
  if (!link.finder) return;
  link.finder->on_arrived({word.highest, word.at, word.bytes}, link.waited, now);
  link.waited = false;
  follow_rate(link, now);
}

/// To what was found of the link. A rate that was set by hand stays.
void DataPlane::follow_rate(Link& link, std::uint64_t now) {
  if (!link.finder && !link.wire) return;
  if (link.finder && shaped(link) && !link.waited) {
    const auto counts = link.shaper->counts(now);
    link.waited = std::ranges::any_of(counts, [](const auto& each) { return each.oldest_ms >= kShapePauseMs; });
  }
  const auto kbit = rate_of(link, now);
  if (kbit != (link.shaper ? link.shaper->kbit() : 0)) shape_link(link, kbit, now);
}

/// Not counted with what is delivered: the peer sent none of it.
void DataPlane::pace_autopilot(Link& link, std::uint64_t now) {
  if (!config_.pace_autopilot || !link.plain || link.quiet()) return;
  const auto free = link.shaper ? link.shaper->free_percent() : 100;
  if (!link.autopilot_pace.due(free, shaped(link), now)) return;
  auto status = radio_status(free, link.radio_statuses++);
  flush_delivery();
  plain_out_.add(status);
  (void)plain_out_.flush(link.plain.get(), link.plain_peer);
}

}  // namespace pqcmav
