// SPDX-License-Identifier: Apache-2.0
// The packet path of the data thread: plaintext in, sealed packets out, and the way back (drawn in data_plane.hpp).
#include <algorithm>

#include "net/data_plane.hpp"
#include "session/compact_header.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kLogEveryNs = 60'000'000'000;

}  // namespace

void DataPlane::read_plain(std::size_t index, std::uint64_t now, Round& round) {
  if (index >= links_.size() || !links_[index]) return;  // removed since the wake-up began
  auto& link = *links_[index];
  const auto got = plain_in_.receive(link.plain.get());
  const bool shaping = link.shaper && link.shaper->on();
  round.datagrams += got;
  round.more = round.more || got == plain_in_.capacity();
  for (std::size_t i = 0; i < got; ++i) {
    const auto slot = plain_in_.slot(i);
    const auto& source = plain_in_.source(i);
    link.counters.plain_rx_packets.add();
    link.counters.plain_rx_bytes.add(slot.bytes.size());
    if (link.learn_plain_peer) link.plain_learner.hear(link.plain_peer, source, now);
    if (slot.truncated) {
      refuse_too_big(link, now);
      continue;
    }
    if (tap_) tap_->take(slot.bytes, source, link.counters);  // now, before it is sealed in place
    if (!path_takes(link, slot.bytes)) continue;
    if (!shaping && holds_parameter(link, slot.bytes, now))
      link.shaper->take(slot.bytes, now);
    else if (!shaping)
      bundle_plain(link, plain_in_.with_room(i), now);
    else if (admits_plain(link, now))
      shape_plain(link, slot.bytes, now);
  }
  if (shaping)
    send_shaped(link, now);
  else
    send_sealed(link);
  send_parameters(link, now);
  if (tap_) tap_->flush(link.counters);
}

/// What the reader of the copies asks of the autopilot.
void DataPlane::pass_requests(std::uint64_t now) {
  while (const auto request = tap_->request(now, links_[0]->counters)) {
    deliver(0, *request);
    flush_delivery();  // it lasts until the next one
  }
}

void DataPlane::refuse_too_big(Link& link, std::uint64_t now) {
  link.counters.plain_dropped_too_big.add();
  if (now < link.next_log_ns) return;
  link.next_log_ns = now + kLogEveryNs;
  events_.log(LogLevel::warning, link.id,
              "A plaintext datagram longer than max_payload (" + std::to_string(config_.max_payload) +
                  " bytes) was refused; further ones are only counted.");
}

/// False for what is left out to make room for a rekey.
bool DataPlane::admits_plain(Link& link, std::uint64_t now, std::size_t datagrams) noexcept {
  if (link.yield.admits(now)) return true;
  leave_out(link, datagrams);
  return false;
}

void DataPlane::leave_out(Link& link, std::size_t datagrams) noexcept {
  totals_.yielded.add(datagrams);
  link.counters.plain_dropped_yield.add(datagrams);
}

/// One plaintext datagram, with room around it: as a packet of its own, or in company.
void DataPlane::bundle_plain(Link& link, MutableBytes packet, std::uint64_t now) noexcept {
  const auto datagram = packet.subspan(kHeaderSize, packet.size() - kOverhead);
  repeat_before(link, datagram, now);
  if (goes_by_all(link, datagram)) return seal_plain(link, packet, now, FrameType::data, 1, true);
  auto& bundler = link.bundler;
  if (!bundler.on() || !link.session.sends_bundles()) return seal_plain(link, packet, now);
  if (!bundler.fits(datagram.size())) send_bundle(link, now);
  if (!bundler.takes(datagram.size())) return seal_plain(link, packet, now);
  if (!link.bundling) {
    link.bundling = true;
    bundling_.push_back(&link);
  }
  bundler.add(datagram, now);
}

void DataPlane::send_bundle(Link& link, std::uint64_t now) noexcept {
  if (link.bundler.empty()) return;
  const auto out = link.bundler.take();
  charge_lengths(link, out);
  seal_plain(link, out.bytes, now, out.type, out.datagrams);
  if (link.bundler.must_send()) send_sealed(link);
}

void DataPlane::send_due_bundles(std::uint64_t now) noexcept {
  for (auto* link : bundling_)
    if (link->bundler.due() <= now) {
      send_bundle(*link, now);
      send_sealed(*link);
    }
}

void DataPlane::seal_plain(Link& link, MutableBytes packet, std::uint64_t now, FrameType type, std::size_t datagrams,
                           bool by_all) noexcept {
  // What the shaper gave out was asked about when it came.
  if (!shaped(link) && !admits_plain(link, now, datagrams)) return;
  const bool allowed = type != FrameType::bundle || link.session.sends_bundles();  // as when it was begun
  const auto sealed = ready(link) && allowed
                          ? link.counters.seal_time.measure([&] { return link.session.seal(type, packet, now); })
                          : std::nullopt;
  if (!sealed) {
    if (!send_early(link, type, packet, now)) link.counters.plain_dropped_no_session.add(datagrams);
    return;
  }
  if (encrypted_out_.full()) send_sealed(link);
  encrypted_out_.add(*sealed);
  if (by_all) copy_sealed(link, *sealed, now);
}

/// gcs: M3 said that the drone has the keys, and M4 is ahead on the same way: where there is no session, a command need
/// not wait for a round trip more. Whether there is one now, and which part this station has in it, only a packet says.
bool DataPlane::send_early(Link& link, FrameType type, MutableBytes packet, std::uint64_t now) noexcept {
  const bool may = config_.role == Role::gcs && type == FrameType::data && !link.pending_peers.empty() &&
                   link.pending_role != StationRole::standby;
  if (!may) return false;
  const auto sealed = link.session.seal_early(packet, now);
  if (!sealed) return false;
  for (const auto& each : link.pending_peers) send_counted(link, *sealed, each);
  return true;
}

void DataPlane::send_sealed(Link& link) noexcept {
  link.bundler.sent();  // when this is over, one way or the other
  if (encrypted_out_.empty()) return;
  if (link.paths && !link.paths->alone())
    encrypted_out_.for_each([&](ByteView packet) { send_to_others(link, packet); });
  const auto sent = encrypted_out_.flush(socket_for(link.peer), link.peer);
  count_sent(link.peer, sent.packets, sent.bytes);
  link.counters.enc_tx_packets.add(sent.packets);
  link.counters.enc_tx_bytes.add(sent.bytes);
  link.counters.enc_dropped_send.add(sent.dropped);
  note_sent(link);
}

/// What the rate is found by.
void DataPlane::note_sent(Link& link) noexcept {
  if (!link.finder || link.session.sealed_packets() == 0) return;
  link.finder->on_sent(link.session.sealed_packets() - 1, link.bytes_sent() - link.bytes_again - link.bytes_elsewhere,
                       now_ns());
}

void DataPlane::read_encrypted(int socket, std::uint8_t path, std::uint64_t now, Round& round) {
  const auto got = encrypted_in_.receive(socket);
  round.more = round.more || got == encrypted_in_.capacity();
  for (std::size_t i = 0; i < got; ++i) {
    const auto slot = encrypted_in_.slot(i);
    const auto& source = encrypted_in_.source(i);
    // A gcs answers from where it was spoken to. A drone leaves its own address to the routes, so that it can roam.
    if (config_.role == Role::drone) {
      arrived_at_ = encrypted_in_.take_local(i);
      encrypted_in_.came_by(i, path);
    }
    if (slot.truncated) {
      totals_.enc_rx_datagrams.add();
      totals_.enc_rx_bytes.add(slot.bytes.size());
      refuse(nullptr, Drop::malformed, source);
      continue;
    }
    auto rest = slot.bytes;
    do {  // once for an empty datagram too
      const auto size = std::min(slot.segment, rest.size());
      on_datagram(rest.first(size), source, now);
      ++round.datagrams;
      rest = rest.subspan(size);
    } while (!rest.empty());
  }
  flush_delivery();
}

/// True when the datagram belongs to handshakes: then it is done with.
bool DataPlane::on_handshake(ByteView datagram, const SockAddr& source, std::uint64_t now) {
  if (datagram.empty() || handshakes_ == nullptr) return false;
  const auto type = datagram[0];
  const bool ours = config_.role == Role::gcs ? type == kFromDroneType
                                              : type == kFromGcsType || type == kRetryType || type == kRestartType;
  if (!ours) return false;
  const auto what = handshakes_->on_datagram(datagram, source, now);
  totals_.handshakes[static_cast<std::size_t>(what)].add();
  if (what != HandshakeDrop::taken && what != HandshakeDrop::repeated) refused_.add(source);
  return true;
}

void DataPlane::on_datagram(MutableBytes datagram, const SockAddr& source, std::uint64_t now) {
  totals_.enc_rx_datagrams.add();
  totals_.enc_rx_bytes.add(datagram.size());
  if (is_compact(datagram)) return on_compact(datagram, source, now);
  const auto header = parse_header(datagram);
  if (!header || too_long(datagram.size(), kHeaderSize)) {
    if (on_handshake(datagram, source, now)) return;
    if (!datagram.empty() && (datagram[0] == 0x02 || datagram[0] == 0x12)) other_version(source, now);
    return refuse(nullptr, Drop::malformed, source);
  }
  std::size_t index = 0;
  if (find(header->session_id, index) == nullptr) {
    refuse(nullptr, Drop::unknown, source);
    if (handshakes_ != nullptr) handshakes_->on_unknown_session(header->session_id, source, now);
    return;
  }
  on_packet(index, *header, kHeaderSize, datagram, source, now);
}

/// An index that nobody here holds is not answered: after a restart it may be another drone's already.
void DataPlane::on_compact(MutableBytes datagram, const SockAddr& source, std::uint64_t now) {
  const bool known = config_.compact || !by_index_.empty();
  const auto compact = known ? parse_compact_header(datagram) : std::nullopt;
  if (!compact || too_long(datagram.size(), compact->size())) return refuse(nullptr, Drop::malformed, source);
  const auto it = by_index_.find(compact->index);
  const auto header = it == by_index_.end() ? std::nullopt : links_[it->second]->session.header_of(*compact);
  if (!header) return refuse(nullptr, Drop::unknown, source);
  on_packet(it->second, *header, compact->size(), datagram, source, now);
}

/// A packet of a link by its header, or by the long one that its first `head` bytes stand for.
void DataPlane::on_packet(std::size_t index, const Header& header, std::size_t head, MutableBytes datagram,
                          const SockAddr& source, std::uint64_t now) {
  auto* link = links_[index].get();
  const auto silence = link->session.silence(now);
  const auto opened = link->counters.open_time.measure([&] { return link->session.open(header, datagram, now, head); });
  if (opened.drop) {
    // Who is always overtaken is heard all the same. So is each path of a drone, to which the ground station sends copies.
    const bool by_path = paths_ && index == 0;
    const bool wanted = by_path || (link->paths && (link->paths->told() || link->paths->wants_repeat(source)));
    const bool copy = opened.drop == Drop::replay && wanted && link->session.is_repeat(header, datagram, head);
    if (copy && by_path) heard_by_path(*link, source, datagram.size(), now);
    if (copy && link->paths) heard_at(*link, source, datagram.size(), now);
    if (copy && header.type == FrameType::data &&
        is_planned_copy(*link, datagram.subspan(head, datagram.size() - head - kTagSize), source, now)) {
      if (comes_by_main(*link, source))
        (void)link->note_arrival(key_of(header.session_id), header.sequence, datagram.size(), now);
      return totals_.copies.add();
    }
    if (opened.drop == Drop::replay &&
        ((copy && by_path) || link->estimator.lately(now, key_of(header.session_id), header.sequence))) {
      totals_.doubled.add();  // by the network, and not by a stranger
      return count_drop(link, *opened.drop);
    }
    return refuse(link, *opened.drop, source);
  }

  link->counters.enc_rx_packets.add();
  link->counters.enc_rx_bytes.add(datagram.size());
  if (config_.role == Role::drone) doubt_after(*link, silence, now);
  if (paths_ && index == 0 && opened.current) heard_by_path(*link, source, datagram.size(), now);
  if (opened.behind != 0) [[unlikely]]
    link->counters.window_depth[depth_class(opened.behind)].add();
  if (opened.skipped != 0) [[unlikely]]
    link->counters.window_skipped.add(opened.skipped);
  bool first = false;
  if (opened.current) {
    const auto key = key_of(header.session_id);
    count_arrival(link->estimator.on_packet(now, key, header.sequence));
    if (comes_by_main(*link, source)) first = link->note_arrival(key, header.sequence, datagram.size(), now);
  } else {
    link->bytes_arrived += datagram.size() + Shaper::kUdpIp;
  }
  if (opened.switched) link->aside = 0;
  if (config_.role == Role::gcs && opened.current) {
    // A rekey takes over the path, a first handshake begins with its own.
    if (opened.switched && !link->pending_peers.empty()) {
      begin_role(*link);
      if (!link->paths) link->paths.emplace();
      link->paths->reset(link->pending_peers, now, link->session.agreed(features::kPaths));
    }
    heard_at(*link, source, datagram.size(), now);
  }
  if (opened.switched) {
    say_arrived(*link, now, header.epoch);
    if (handshakes_ != nullptr) handshakes_->on_switched(index, now);
    changed(index, now);
  } else if (first) {
    say_arrived(*link, now);
  }
  if (opened.type != FrameType::control) {
    return on_data(index, opened.type, opened.payload,
                   may_be_old(*link, key_of(header.session_id), header.sequence, now));
  }
  ControlList controls;
  if (!parse_controls(opened.payload, controls)) return count_drop(link, Drop::decrypt_fail);
  totals_.control.add();
  link->counters.control.add();
  end_doubt(*link, controls, header);
  on_control(*link, index, controls, opened.current, source, now);
}

void DataPlane::on_data(std::size_t index, FrameType type, MutableBytes payload, bool old) {
  auto& link = *links_[index];
  // Commands are taken from the active station alone, whatever another one believes.
  if (config_.role == Role::drone && link.quiet()) return totals_.standby.add();
  if (stopped(link)) return count_drop(&link, Drop::unknown);
  if (type == FrameType::bundle) return on_bundle(index, payload, old);
  if (payload.size() > config_.max_payload) return count_drop(&link, Drop::malformed);
  if (old && is_outdated(link, payload)) return totals_.overtaken.add();
  count_delivered(link, 1);
  deliver(index, payload);
}

/// All of it that is up to date, or nothing.
void DataPlane::on_bundle(std::size_t index, MutableBytes payload, bool old) {
  BundleParts parts;
  if (!parse_bundle(payload, parts)) return count_drop(links_[index].get(), Drop::decrypt_fail);
  const auto items = std::span(parts.items).first(parts.count);
  if (std::ranges::any_of(items, [&](ByteView each) { return each.size() > config_.max_payload; }))
    return count_drop(links_[index].get(), Drop::malformed);
  if (old) {
    const auto end = std::remove_if(parts.items.begin(), parts.items.begin() + static_cast<std::ptrdiff_t>(parts.count),
                                    [&](ByteView each) { return is_outdated(*links_[index], each); });
    parts.count = static_cast<std::size_t>(end - parts.items.begin());
    if (parts.count == 0) return totals_.overtaken.add();
  }
  count_delivered(*links_[index], parts.count);
  for (std::size_t i = 0; i < parts.count; ++i) deliver(index, parts.items[i]);
}

void DataPlane::count_delivered(Link& link, std::size_t datagrams) noexcept {
  totals_.delivered.add();
  totals_.delivered_datagrams.add(datagrams);
  link.counters.delivered.add();
  link.counters.delivered_datagrams.add(datagrams);
}

/// gcs: an authentic packet came from there, for the first time or again.
void DataPlane::heard_at(Link& link, const SockAddr& source, std::size_t size, std::uint64_t now) {
  if (!link.paths) return;
  link.paths->on_packet(source, size, now, link.probes.timeout_ns());
  follow_path(link, now);
}

/// Sends the challenges that are due, and to where they say the drone is.
void DataPlane::follow_path(Link& link, std::uint64_t now) {
  if (!link.paths) return;
  while (const auto challenge = link.paths->poll(now)) {
    send_control_to(link, &challenge->to, OneControl(PathChallenge{challenge->value}), now);
    ++link.aside;
  }
  if (link.booked_revision == link.paths->revision()) return;
  link.booked_revision = link.paths->revision();
  for (const auto& each : link.booked) peers().remove(each);
  link.booked.clear();
  std::string all;
  link.paths->for_each_living([&](const SockAddr& each) {
    peers().add(each);
    link.booked.push_back(each);
    all += (all.empty() ? "" : ", ") + each.text();
  });
  if (link.booked.size() > 1 && !link.paths->told() && now >= link.next_paths_log_ns) {
    link.next_paths_log_ns = now + kLogEveryNs;
    events_.log(LogLevel::info, link.id,
                "The drone answers at several addresses, and what goes to it goes to each while they all answer: " +
                    all + ". It has just changed its address, or somebody passes its packets on.");
  }
  const auto& path = link.paths->path();
  if (link.peer == path) return;
  if (!link.peer.empty()) {
    if (!link.paths->told()) link.counters.roams.add();
    events_.log(LogLevel::info, link.id, "The drone's address is now " + path.text() + ".");
  }
  const bool by_wire = link.by_wire(), known = link.paths->told();
  link.peer = path;
  link.probes.forget_least();
  if (link.finder && (known || by_wire != link.by_wire())) *link.finder = {};  // what it found is another way's
  settle_on_peer(link, now);
}

void DataPlane::send_counted(Link& link, ByteView packet, const SockAddr& to) noexcept {
  if (send_one(socket_for(to), packet, to)) {
    count_sent(to, 1, packet.size());
    if (to != link.peer && several(link)) link.bytes_elsewhere += packet.size() + Shaper::kUdpIp;
    link.counters.enc_tx_packets.add();
    link.counters.enc_tx_bytes.add(packet.size());
    note_sent(link);
  } else {
    link.counters.enc_dropped_send.add();
  }
}

/// gcs: the same packet to wherever else the drone may be.
void DataPlane::send_to_others(Link& link, ByteView packet) noexcept {
  if (!link.paths) return;
  link.paths->for_each_other(packet.size(), [&](const SockAddr& to) { send_datagram(packet, to); });
}

void DataPlane::other_version(const SockAddr& source, std::uint64_t now) {
  totals_.other_version.add();
  if (now < next_version_log_ns_) return;
  next_version_log_ns_ = now + kLogEveryNs;
  events_.log(LogLevel::warning, "",
              "A packet of an older protocol came from " + source.text() +
                  ": update that end too. Further ones are only counted (other_version).");
}

void DataPlane::deliver(std::size_t index, MutableBytes payload) {
  if (index != delivery_link_ || plain_out_.full()) flush_delivery();
  delivery_link_ = index;
  plain_out_.add(payload);
}

void DataPlane::flush_delivery() {
  if (plain_out_.empty()) return;
  auto& link = *links_[delivery_link_];
  // Nobody has spoken on the plaintext port yet: there is no one to deliver to, and sending fails with "no
  // destination".
  const auto sent = plain_out_.flush(link.plain.get(), link.plain_peer);
  link.counters.plain_tx_packets.add(sent.packets);
  link.counters.plain_tx_bytes.add(sent.bytes);
  const bool nobody = link.plain_peer.empty() && link.hub == nullptr;
  (nobody ? link.counters.plain_dropped_no_peer : link.counters.plain_dropped_send).add(sent.dropped);
}

void DataPlane::count_arrival(LinkEstimator::Arrival arrival) noexcept {
  if (arrival.late) return totals_.late.add();
  if (arrival.skipped == 0) return;
  totals_.skipped.add(arrival.skipped);
  totals_.skips.add();
}

void DataPlane::refuse(Link* link, Drop drop, const SockAddr& source) noexcept {
  refused_.add(source);
  count_drop(link, drop);
}

void DataPlane::count_drop(Link* link, Drop drop) noexcept {
  const auto kind = static_cast<std::size_t>(drop);
  totals_.drops[kind].add();
  if (link != nullptr) link->counters.drops[kind].add();
}

/// Takes the link's own entries out, and not all those that might be its: with many drones that would be a search among
/// thousands at each change of keys.
void DataPlane::refresh_lookup(std::size_t index) {
  auto& link = *links_[index];
  const auto forget = [index](auto& table, auto& keys) {
    for (const auto key : keys)
      if (const auto it = table.find(key); it != table.end() && it->second == index) table.erase(it);
    keys.clear();
  };
  forget(by_session_, link.ids);
  forget(by_index_, link.indices);
  link.session.for_each_receive_id([&](const SessionId& id) {
    link.ids.push_back(key_of(id));
    by_session_[key_of(id)] = index;
  });
  link.session.for_each_receive_index([&](std::uint16_t number) {
    link.indices.push_back(number);
    by_index_[number] = index;
  });
  cache_valid_ = false;
}

Link* DataPlane::find(const SessionId& id, std::size_t& index) noexcept {
  const auto key = key_of(id);
  if (!cache_valid_ || key != cached_id_) {
    const auto it = by_session_.find(key);
    if (it == by_session_.end()) return nullptr;
    cached_id_ = key;
    cached_link_ = it->second;
    cache_valid_ = true;
  }
  index = cached_link_;
  return links_[index].get();
}

}  // namespace pqcmav
