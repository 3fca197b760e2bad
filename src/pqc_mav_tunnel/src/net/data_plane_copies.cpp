// SPDX-License-Identifier: Apache-2.0
// Between a drone with several paths and its ground station what cannot wait goes by all of them (docs/protocol.md
// section 14): commands, answers, warnings, heartbeats. It is sealed once, and the same packet goes by each path, so the
// window of the receiver drops those that come second. Where one path alone lives it goes by that a second time.
#include <algorithm>

#include "net/data_plane.hpp"

namespace pqcmav {
namespace {

constexpr std::uint32_t kPing = 4, kTimesync = 111;  // they ask how long a way is
constexpr std::uint32_t kHeartbeat = 0;
// A radio that is not the main path has no shaper: copies take at most half of its rate.
constexpr std::uint64_t kRadioShare = 2;

std::uint64_t late_after(const Link& link) noexcept {
  const auto most = to_ns(kLateAfter);
  return most + std::min(link.probes.rtt_ns().value_or(0), most);
}

}  // namespace

/// Does the other end know of several paths of this drone, and of which way goes what?
bool DataPlane::several(const Link& link) const noexcept {
  if (!link.session.agreed(features::kPaths)) return false;
  return paths_ ? &link == links_[0].get() && link.paths_told != 0 : link.paths && link.paths->told();
}

/// Each message in it is one that a lost packet must not cost. Not what only counts as long as it is the newest, nor what
/// is signed: who checks signatures refuses whatever a copy on a quicker way has overtaken.
bool DataPlane::goes_by_all(const Link& link, ByteView datagram) const noexcept {
  if (!several(link)) return false;
  bool all = true;
  const bool whole = walk_mavlink(
      datagram, [&](const MavlinkHeader& header) { all = all && cannot_wait(header) && !header.has_signature; });
  return whole && all;
}

bool DataPlane::cannot_wait(const MavlinkHeader& header) const noexcept {
  const auto how = classes_.of(header.id);
  return how.shape_class == ShapeClass::command && !how.newest && header.id != kPing && header.id != kTimesync;
}

/// A path for commands alone takes a datagram with at least one message that cannot wait, signed or not.
bool DataPlane::path_takes(Link& link, ByteView datagram) noexcept {
  if (!commands_alone(link)) return true;
  bool any = false;
  (void)walk_mavlink(datagram, [&](const MavlinkHeader& header) { any = any || cannot_wait(header); });
  if (!any) leave_out(link, 1);
  return any;
}

bool DataPlane::commands_alone(const Link& link) const noexcept {
  return paths_ ? paths_->only_commands(link.peer.path) : link.paths && link.paths->only_commands();
}

void DataPlane::send_by_others(Link& link, ByteView packet, std::uint64_t now) noexcept {
  const auto send = [&](const SockAddr& to, const Wire* wire) {
    if (wire != nullptr && !may_copy(link, *wire, packet.size(), now)) return;
    send_datagram(packet, to);
  };
  if (!paths_) {
    link.paths->for_each_of_other_paths(
        [&](const SockAddr& to) { send(to, link.wire && link.wire->is_at(to) ? link.wire.get() : nullptr); });
    return;
  }
  for (std::size_t i = 0; i < paths_->count(); ++i)
    if ((paths_->word().others >> i & 1) != 0 && i != link.peer.path && !paths_->peer(i).empty())
      send(paths_->peer(i), paths_->wire(i).get());
}

bool DataPlane::may_copy(Link& link, const Wire& wire, std::size_t size, std::uint64_t now) noexcept {
  link.copies.set_rate(wire.kbit() * std::uint64_t{1000} / kRadioShare, now);
  if (link.copies.ready_at(size, now) > now) return false;
  link.copies.spend(size);
  return true;
}

/// After it was sealed, and beside the way that all packets take.
void DataPlane::copy_sealed(Link& link, ByteView packet, std::uint64_t now) noexcept {
  send_by_others(link, packet, now);
  if (!(paths_ ? paths_->word().again : link.paths->again()) || commands_alone(link)) return;
  if (!link.again) link.again = std::make_unique<PacketAgain>();
  link.again->keep(packet, now);
}

/// A command that was lost must not come after one that takes it back, which is about to be sealed. A heartbeat takes
/// nothing back.
void DataPlane::repeat_before(Link& link, ByteView datagram, std::uint64_t now) noexcept {
  if (!link.again || link.again->empty()) return;
  bool any = false;
  (void)walk_mavlink(
      datagram, [&](const MavlinkHeader& header) { any = any || (cannot_wait(header) && header.id != kHeartbeat); });
  if (!any) return;
  send_sealed(link);  // what is repeated may still wait in there
  send_again(link, PacketAgain::kAll, now);
}

void DataPlane::send_again(Link& link, std::uint64_t due_by, std::uint64_t now) noexcept {
  if (!link.again) return;
  link.again->send_due(due_by, [&](ByteView packet) {
    if (!several(link) || link.peer.empty()) return;
    if (shaped(link)) link.shaper->charge(packet.size());
    send_counted(link, packet, link.peer);
    send_to_others(link, packet);
    send_by_others(link, packet, now);
  });
}

/// Of a packet that came before: it is of those that go by several paths, and from where its sender is known to be. More
/// of them than there could be by plan count as repeats.
bool DataPlane::is_planned_copy(Link& link, ByteView payload, const SockAddr& source, std::uint64_t now) noexcept {
  if (!goes_by_all(link, payload) || (link.paths && !link.paths->lives(source))) return false;
  link.planned.set_rate(kPlannedCopies, now);
  if (link.planned.ready_at(1, now) > now) return false;
  link.planned.spend(1);
  return true;
}

/// ARRIVED is about the main path: a copy by a quicker one says nothing of what waits in that.
bool DataPlane::comes_by_main(const Link& link, const SockAddr& source) const noexcept {
  if (!several(link)) return true;
  return paths_ ? source.path == paths_->word().main : !link.paths->is_of_other_path(source);
}

/// Ten times a second: what has come until now.
void DataPlane::note_arrived(Link& link, std::uint64_t now) {
  const auto& keys = link.session.current();
  if (!keys || (config_.role == Role::gcs && !several(link))) return;
  if (!link.late) link.late = std::make_unique<LateGuard>();
  link.late->note(key_of(keys->id), link.session.next_expected(), now);
}

/// At a drone, a packet after a silence: somebody may have held back this one and what comes now.
void DataPlane::doubt_after(Link& link, std::uint64_t silence, std::uint64_t now) noexcept {
  // A station that has just become the active one sent no data before.
  if (!link.late || std::min(silence, now - std::min(now, link.roused_ns)) <= late_after(link)) return;
  link.late->doubt(now - late_after(link));
  link.next_probe_ns = std::min(link.next_probe_ns, now);
}

void DataPlane::end_doubt(Link& link, const ControlList& controls, const Header& header) noexcept {
  if (!link.late || !link.late->doubted()) return;
  for (std::size_t i = 0; i < controls.count; ++i)
    if (const auto* reply = std::get_if<ProbeReply>(&controls.items[i]); reply && link.probes.waits_for(*reply))
      link.late->answered(key_of(header.session_id), header.sequence, reply->t1);
}

/// Is it of a time of doubt, or did a later packet come so long before that this one is out of date?
bool DataPlane::may_be_old(const Link& link, std::uint64_t key, std::uint64_t sequence,
                           std::uint64_t now) const noexcept {
  return link.late && link.late->is_late(key, sequence, late_after(link), now);
}

/// Of what may be old the drone takes nothing, for it may be a command. The ground takes what happened, late as it is,
/// and of a drone with several paths no value of which it has newer ones.
bool DataPlane::is_outdated(const Link& link, ByteView datagram) const noexcept {
  if (config_.role == Role::drone) return true;
  if (!several(link)) return false;
  bool values = true;
  const bool whole =
      walk_mavlink(datagram, [&](const MavlinkHeader& header) { values = values && classes_.of(header.id).newest; });
  return whole && values;
}

}  // namespace pqcmav
