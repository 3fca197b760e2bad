// SPDX-License-Identifier: Apache-2.0
// The drones of a data plane and their plaintext: made at the start, added and removed while packets of the others flow.
// Sockets are opened in the thread that asks, with all that may fail; the data thread only puts in place what is ready.
#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "net/data_plane.hpp"
#include "net/data_plane_hold.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

// Frames of a serial line that came at the same moment go in one datagram, up to so many bytes.
constexpr std::size_t kStreamTogether = 512;
constexpr std::size_t kReportTurns = 10;

/// What a drone may have taken itself: port numbers, and serial ports as they are written.
std::vector<std::string> places_of(const DroneEntry& entry) {
  auto out = entry.plain_endpoints;
  if (out.empty()) out.push_back(entry.plain_bind);
  for (auto& each : out)
    if (!each.starts_with("serial:")) each.erase(0, each.rfind(':') + 1);
  return out;
}

}  // namespace

std::shared_ptr<const Wire> DataPlane::open_radio(const DroneEntry& entry) {
  return entry.radio ? air_->add(*entry.radio, entry.id) : nullptr;
}

void DataPlane::try_radio(const DroneEntry& entry) const {
  if (entry.radio) air_->check(*entry.radio);
}

void DataPlane::close_radio(const std::shared_ptr<const Wire>& wire) { air_->remove(wire); }

/// The reports of many drones are not due at the same moment, which would hold the packets up once a second.
std::shared_ptr<Link> DataPlane::make_link(std::size_t index, const DroneEntry& entry, Plaintext plain,
                                           std::shared_ptr<const Wire> wire) const {
  auto link =
      std::make_shared<Link>(entry.id, config_.role == Role::drone, session_timers(config_), config_.replay_window);
  link->bundler = Bundler(config_.bundle_ms * 1'000'000, config_.bundle_bytes);
  (void)link->exchange_wire(std::move(wire));
  (void)link->exchange_plain(std::move(plain));
  link->next_report_ns = now_ns() + to_ns(kReportEvery) / kReportTurns * (index % kReportTurns);
  link->next_drops_ns = link->next_report_ns;
  link->publish(now_ns());
  return link;
}

Plaintext DataPlane::open_plain(const DroneEntry& entry) {
  const auto prefix = config_.role == Role::drone ? std::string{} : "drone." + entry.id + ".";
  if (!entry.plain_endpoints.empty()) return open_hub(entry, prefix);
  Plaintext out;
  out.socket = open_udp(resolve_endpoint(entry.plain_bind, prefix + "plain_bind"),
                        {config_.socket_buffer_kib, -1, false}, "plaintext MAVLink of " + entry.id + " (UDP)");
  out.local = local_address(out.socket);
  check_plain_bind(prefix, out.local, config_.plain_allow_remote);
  out.learns_peer = entry.plain_peer.empty();
  if (!out.learns_peer) {
    out.peer = resolve_endpoint(entry.plain_peer, prefix + "plain_peer");
    check_plain_addresses(prefix, out.local, out.peer, {});
  }
  return out;
}

Plaintext DataPlane::open_hub(const DroneEntry& entry, const std::string& prefix) {
  const auto& endpoints = entry.plain_endpoints;
  const auto key = prefix + (endpoints.size() > 1 ? "plain_endpoints" : "plain");
  // With several paths each message goes its own ways.
  const auto together = config_.paths.empty() ? std::min(kStreamTogether, config_.max_payload) : 0;
  const std::lock_guard lock(side_mutex_);
  if (!side_)
    side_ = std::make_unique<PlainSide>(
        PlainHubOptions{config_.max_payload, config_.socket_buffer_kib, together, config_.plain_allow_remote}, events_);
  Plaintext out;
  out.hub = side_->add(entry.id, key, parse_plain_endpoints(endpoints, key));
  out.socket = out.hub->take_data_end();
  if (side_runs_) side_->start();
  return out;
}

void DataPlane::close_plain(Plaintext plain) {
  const std::lock_guard lock(side_mutex_);
  if (plain.hub) side_->close(*plain.hub);
}

/// For readers in other threads, which keep what they have begun to read.
void DataPlane::publish_links() {
  auto fresh = std::make_shared<const std::vector<std::shared_ptr<Link>>>(links_);
  const std::lock_guard lock(snapshot_mutex_);
  snapshot_.swap(fresh);
}

bool DataPlane::add_link(std::size_t index, const DroneEntry& entry, Plaintext plain,
                         std::shared_ptr<const Wire> wire) {
  auto link = make_link(index, entry, std::move(plain), std::move(wire));
  const bool added = ask([this, index, link] {
    const auto held = hold(index);
    auto& plane = owner(index);
    put_link(index, link);
    try {
      plane.watch_plain(index);
    } catch (const TunnelError&) {
      put_link(index, nullptr);
      return false;
    }
    if (link->hub) plane.plain_out_ = UdpSender(false);
    if (plane.shape_kbit_ != 0 || plane.finds_rate_) plane.shape_now(plane.shape_kbit_, plane.finds_rate_, now_ns());
    publish_links();
    return true;
  });
  if (!added) {
    close_plain(link->exchange_plain({}));
    close_radio(link->exchange_wire(nullptr));
  }
  return added;
}

bool DataPlane::remove_link(std::size_t index) {
  auto plain = std::make_shared<Plaintext>();
  auto wire = std::make_shared<std::shared_ptr<const Wire>>();
  const bool removed = ask([this, index, plain, wire] {
    const auto held = hold(index);
    auto& plane = owner(index);
    const auto link = links_[index];
    const auto now = now_ns();
    plane.send_control_now(*link, OneControl(Close{kCloseRemoved}), now);
    if (handshakes_ != nullptr) handshakes_->on_removed(index, now);
    link->session.wipe();
    key_changes_.fetch_add(1, std::memory_order_relaxed);
    plane.refresh_lookup(index);
    for (const auto& each : link->booked) peers_.remove(each);
    ::epoll_ctl(plane.epoll_.get(), EPOLL_CTL_DEL, link->plain.get(), nullptr);
    *plain = link->exchange_plain({});
    *wire = link->exchange_wire(nullptr);
    link->publish(now);
    std::erase(plane.bundling_, link.get());
    plane.cache_valid_ = false;
    put_link(index, nullptr);
    publish_links();
    return true;
  });
  if (!removed) return false;
  close_plain(std::move(*plain));
  close_radio(*wire);
  return true;
}

bool DataPlane::replace_radio(std::size_t index, std::shared_ptr<const Wire> wire) {
  auto box = std::make_shared<std::shared_ptr<const Wire>>(std::move(wire));
  const bool done = ask([this, index, box] {
    const auto held = hold(index);
    auto& plane = owner(index);
    auto& link = *links_[index];
    *box = link.exchange_wire(std::move(*box));
    plane.settle_on_peer(link, now_ns());
    return true;
  });
  close_radio(*box);  // the one before, or the new one that nobody has
  return done;
}

std::optional<Plaintext> DataPlane::exchange_plain(std::size_t index, Plaintext with) {
  auto plain = std::make_shared<Plaintext>(std::move(with));
  const bool done = ask([this, index, plain] {
    const auto held = hold(index);
    auto& plane = owner(index);
    auto& link = *links_[index];
    if (link.plain) ::epoll_ctl(plane.epoll_.get(), EPOLL_CTL_DEL, link.plain.get(), nullptr);
    *plain = link.exchange_plain(std::move(*plain));
    if (link.hub) {
      plane.plain_out_ = UdpSender(false);
      link.hub->keep_apart(shaped(link));
    }
    if (link.plain) plane.watch_plain(index);
    link.publish(now_ns());
    return true;
  });
  if (done) return std::move(*plain);
  close_plain(std::move(*plain));
  return std::nullopt;
}

void DataPlane::try_plain(const DroneEntry& before, const DroneEntry& wanted) {
  try {
    close_plain(open_plain(wanted));
  } catch (const TunnelError& error) {
    const auto own = places_of(before), others = places_of(wanted);
    const bool shared = std::ranges::find_first_of(own, others) != own.end();
    if (error.code() != Errc::port_in_use || !shared) throw;
  }
}

/// The new plaintext is opened before the old one is closed. Only where they share a port the old one must go first; it
/// comes back when the new one does not work.
void DataPlane::replace_plain(std::size_t index, const DroneEntry& before, const DroneEntry& wanted) {
  const auto put = [&](Plaintext plain) {
    auto old = exchange_plain(index, std::move(plain));
    if (!old) throw TunnelError(Errc::state, "The engine is shutting down; nothing was changed.");
    close_plain(std::move(*old));
  };
  std::optional<Plaintext> fresh;
  try {
    fresh = open_plain(wanted);
  } catch (const TunnelError& error) {
    if (error.code() != Errc::port_in_use) throw;
  }
  if (fresh) return put(std::move(*fresh));
  put({});
  try {
    put(open_plain(wanted));
  } catch (const TunnelError&) {
    put(open_plain(before));
    throw;
  }
}

}  // namespace pqcmav
