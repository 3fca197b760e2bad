// SPDX-License-Identifier: Apache-2.0
#include "net/drone_paths.hpp"

#include <net/if.h>

#include "constants.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

// A PROBE of a path says so, and which one: the session's own count from 1.
constexpr std::uint32_t kPathBit = 0x8000'0000;
constexpr unsigned kPathShift = 24;
constexpr std::uint32_t kNumber = (1U << kPathShift) - 1;
constexpr std::uint64_t kTendEveryNs = 1'000'000'000;

std::vector<PathPace> paces_of(const EngineConfig& config) {
  std::vector<PathPace> out;
  for (const auto& each : config.paths) {
    const auto idle = to_ns(each.use >= PathUse::backup ? kBackupPathIdle : kPathIdle);
    out.push_back(each.use == PathUse::commands ? PathPace{to_ns(kCommandsPathProbe), to_ns(kCommandsPathSilent), idle}
                  : each.radio                  ? PathPace{to_ns(kRadioPathProbe), to_ns(kRadioPathSilent), idle}
                                                : PathPace{to_ns(kPathProbe), to_ns(kPathSilent), idle});
  }
  return out;
}

bool is_address(const std::string& via) { return is_ipv4(via) || is_ipv6(via); }

std::string_view name_of(PathChoice::State state) noexcept {
  return name_in<PathChoice::State::best>({"off", "unknown", "dead", "good", "best"}, state, "");
}

}  // namespace

/// The first UDP path has the drone's known port, others take free ones.
DronePaths::DronePaths(const EngineConfig& config, EventQueue& events)
    : events_(events), drone_(config.drone_id), choice_(paces_of(config)) {
  auto port = config.local_data_port;
  for (const auto& entry : config.paths) {
    auto path = std::make_unique<Path>();
    path->entry = entry;
    path->options = {config.socket_buffer_kib, config.dscp, config.gso, true};
    if (entry.radio) {
      path->where = resolve("127.0.0.1", 0, true, SOCK_DGRAM);
    } else {
      const bool device = !entry.via.empty() && !is_address(entry.via);
      if (device) path->options.device = entry.via;
      const auto& bind = entry.via.empty() ? config.bind : device ? std::string{} : entry.via;
      path->where = resolve(bind, port, true, SOCK_DGRAM);
      path->both = bind.empty();
      port = 0;
    }
    paths_.push_back(std::move(path));
  }
}

void DronePaths::open_sockets() {
  for (auto& each : paths_) (void)open(*each, true);
}

/// What the machine lacks now it may have later: an interface, an address.
bool DronePaths::open(Path& path, bool first) {
  const auto purpose = "encrypted packets of the path '" + path.entry.name + "' (UDP)";
  bool gro = false;
  path.port = 0;
  try {
    path.socket = path.both ? open_udp_both(path.where.port(), path.options, purpose, &gro)
                            : open_udp(path.where, path.options, purpose, &gro);
  } catch (const TunnelError& error) {
    if (first && error.code() != Errc::address) throw;
    if (path.problem != error.what())
      events_.log(LogLevel::warning, drone_, "The path '" + path.entry.name + "' cannot be used: " + error.what());
    path.problem = error.what();
    return false;
  }
  path.port = local_address(path.socket).port();
  path.device = path.options.device.empty() ? 0 : ::if_nametoindex(path.options.device.c_str());
  if (!path.problem.empty()) events_.log(LogLevel::info, drone_, "The path '" + path.entry.name + "' can be used now.");
  path.problem.clear();
  path.drops = {};
  return true;
}

void DronePaths::open_radios(AirSide& air, const std::string& drone) {
  for (auto& each : paths_)
    if (each->entry.radio) {
      each->wire = air.add(*each->entry.radio, drone, local_address(each->socket));
      each->peer = each->wire->address();
      each->peer.path = static_cast<std::uint8_t>(&each - paths_.data());
    }
}

void DronePaths::close() noexcept {
  for (auto& each : paths_) each->socket.reset();
}

/// An interface that went away and came back is another one to the kernel.
std::vector<std::size_t> DronePaths::tend(std::uint64_t now) {
  std::vector<std::size_t> out;
  if (now < next_tend_ns_) return out;
  next_tend_ns_ = now + kTendEveryNs;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    auto& path = *paths_[i];
    const auto& device = path.options.device;
    if (path.socket && (device.empty() || ::if_nametoindex(device.c_str()) == path.device)) continue;
    path.socket.reset();
    if (open(path, false)) out.push_back(i);
  }
  return out;
}

std::vector<std::size_t> DronePaths::change_ports() {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    auto& path = *paths_[i];
    if (path.entry.radio || !path.socket) continue;
    path.socket.reset();
    const auto known = path.where.port(), next = path.port == known ? std::uint16_t{0} : known;
    for (const std::uint16_t port : {next, std::uint16_t{0}}) {  // somebody may have the known one meanwhile
      path.where.set_port(port);
      if (!open(path, false)) continue;
      out.push_back(i);
      break;
    }
    path.where.set_port(known);
  }
  return out;
}

std::optional<SockAddr> DronePaths::wire_address(std::size_t path) const noexcept {
  if (!paths_[path]->wire) return std::nullopt;
  auto out = paths_[path]->wire->address();
  out.path = static_cast<std::uint8_t>(path);
  return out;
}

bool DronePaths::reaches(std::size_t path, const SockAddr& address) const noexcept {
  const auto& one = *paths_[path];
  return one.both || address.family() == one.where.family() || one.where.host_text() == "::";
}

bool DronePaths::has_route(const SockAddr& to) const noexcept {
  return address_towards(to, paths_[to.path]->options.device).has_value();
}

bool DronePaths::usable(std::size_t path) const {
  const std::lock_guard lock(mutex_);
  return path >= shown_.size() ||
         (shown_[path].state != name_of(PathChoice::State::off) && shown_[path].problem.empty());
}

std::vector<PathStatus> DronePaths::statuses() const {
  const std::lock_guard lock(mutex_);
  return shown_;
}

std::vector<std::uint16_t> DronePaths::ports() const {
  std::vector<std::uint16_t> out;
  for (const auto& path : paths_)
    if (const std::uint16_t port = path->port; port != 0) out.push_back(port);
  return out;
}

void DronePaths::set_peer(const SockAddr& address) {
  if (!address.empty() && address.path < paths_.size()) paths_[address.path]->peer = address;
}

void DronePaths::lead_to(const SockAddr& station, std::uint64_t now) {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    auto to = station;
    to.path = static_cast<std::uint8_t>(i);
    paths_[i]->peer = reaches(i, to) ? to : SockAddr{};
    paths_[i]->open = {};
  }
  choice_.begin(station.path, now);
}

void DronePaths::count_sent(std::size_t path, std::size_t packets, std::size_t bytes) noexcept {
  paths_[path]->tx_packets.add(packets);
  paths_[path]->tx_bytes.add(bytes);
}

void DronePaths::count_came(std::size_t path, std::size_t bytes) noexcept {
  paths_[path]->rx_packets.add();
  paths_[path]->rx_bytes.add(bytes);
}

std::uint32_t DronePaths::kernel_drops() noexcept {
  std::uint32_t out = 0;
  for (auto& each : paths_)
    if (each->socket) out += each->drops.more(each->socket.get());
  return out;
}

Probe DronePaths::ask(std::size_t path, std::uint64_t now) noexcept {
  auto& one = *paths_[path];
  one.asked = (one.asked + 1) & kNumber;
  const Probe probe{kPathBit | static_cast<std::uint32_t>(path << kPathShift) | one.asked, now};
  one.open[one.asked % one.open.size()] = probe;
  choice_.probed(path, now);
  return probe;
}

bool DronePaths::on_reply(const ProbeReply& reply, std::uint64_t now) noexcept {
  if ((reply.id & kPathBit) == 0) return false;
  const auto path = (reply.id & ~kPathBit) >> kPathShift;
  if (path >= paths_.size()) return true;
  auto& open = paths_[path]->open[(reply.id & kNumber) % paths_[path]->open.size()];
  if (reply.id != open.id || reply.t1 != open.t1) return true;
  open.id = 0;
  choice_.replied(path, reply.t1, now);
  return true;
}

void DronePaths::refresh_word(std::uint64_t now) noexcept {
  if (!choice_.active()) return;
  const auto main = choice_.down(now);
  PathsTold word{word_.serial, static_cast<std::uint8_t>(main), 0, true, only_commands(main)};
  const bool none = choice_.state(*choice_.active(), now) == PathChoice::State::dead;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const bool other = i != *choice_.active() && choice_.on(i);
    const auto lives = choice_.state(i, now) == PathChoice::State::good;
    const auto use = paths_[i]->entry.use;
    if (other && (none || use == PathUse::always || (use == PathUse::metered && lives)))
      word.others |= static_cast<std::uint8_t>(1 << i);
    if (other && lives) word.again = false;
  }
  if (word.main != *choice_.active()) word.others |= static_cast<std::uint8_t>(1 << *choice_.active());
  if (word_.serial != 0 && word == word_) return;
  ++word.serial;
  word_ = word;
}

void DronePaths::publish(std::uint64_t now) {
  std::vector<PathStatus> fresh;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const auto& path = *paths_[i];
    PathStatus one;
    one.drone_id = drone_;
    one.name = path.entry.name;
    one.via = path.entry.radio ? path.wire->radio().name() : path.entry.via;
    one.state = name_of(choice_.state(i, now));
    if (choice_.active()) one.silence_s = static_cast<double>(choice_.silence(i, now)) / 1e9;
    if (const auto rtt = choice_.rtt_ns(i)) one.rtt_ms = static_cast<double>(*rtt) / 1e6;
    one.loss = choice_.loss(i);
    one.tx_packets = path.tx_packets.get();
    one.tx_bytes = path.tx_bytes.get();
    one.rx_packets = path.rx_packets.get();
    one.rx_bytes = path.rx_bytes.get();
    one.taken = path.taken.get();
    one.problem = path.wire ? path.wire->radio().problem() : path.problem;
    fresh.push_back(std::move(one));
  }
  const std::lock_guard lock(mutex_);
  shown_.swap(fresh);
}

void DronePaths::tell_move(std::size_t from, std::size_t to, const std::string& why) const {
  events_.log(LogLevel::info, drone_,
              "Packets take the path '" + paths_[to]->entry.name + "' now, no longer '" + paths_[from]->entry.name +
                  "': " + why + "." +
                  (only_commands(to) ? " Only commands, answers, warnings and heartbeats do." : ""));
}

}  // namespace pqcmav
