// SPDX-License-Identifier: Apache-2.0
#include "relay/drone_relay.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "constants.hpp"
#include "nanoseconds.hpp"
#include "net/udp_batch.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

constexpr int kWaitMs = 100;
constexpr std::uint64_t kLookEvery = 100'000'000;
constexpr std::uint64_t kWordEvery = 60 * kS;          // of what is refused
constexpr int kAtOnce = 64;                            // datagrams of one socket in a row
constexpr std::uint64_t kPort = RelayTable::kClients;  // of the events, besides the places
constexpr int kLowPriority = 1;  // SO_PRIORITY: behind this drone's own packets, where the interface has bands

std::vector<Network> networks_of(const EngineConfig& config) {
  std::vector<Network> out;
  for (const auto& each : config.relay_from) out.push_back(parse_network(each, "relay_from"));
  return out;
}

Fd open_port(const EngineConfig& config) {
  const UdpOptions options{config.socket_buffer_kib, -1, false, true};
  const auto* const purpose = "the drones that this one passes on for ('relay_port', UDP)";
  return config.bind.empty() ? open_udp_both(config.relay_port, options, purpose)
                             : open_udp(resolve(config.bind, config.relay_port, true, SOCK_DGRAM), options, purpose);
}

bool watch(const Fd& epoll, const Fd& socket, std::uint64_t which) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = which;
  return ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, socket.get(), &event) == 0;
}

/// A datagram with its sender, the address of ours that it came to, and its time to live.
struct Came {
  std::size_t size = 0;
  SockAddr from;
  std::uint8_t ttl = 0;
};

std::optional<Came> take(int fd, MutableBytes into) noexcept {
  Came out;
  iovec vector{into.data(), into.size()};
  alignas(cmsghdr) std::array<std::uint8_t, 128> space{};
  msghdr header{};
  header.msg_name = out.from.get();
  header.msg_namelen = sizeof out.from.storage;
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  header.msg_control = space.data();
  header.msg_controllen = space.size();
  const auto got = ::recvmsg(fd, &header, MSG_DONTWAIT);
  if (got < 0) return std::nullopt;
  if ((header.msg_flags & MSG_TRUNC) == 0) out.size = static_cast<std::size_t>(got);  // else empty, and refused
  out.from.size = header.msg_namelen;
  for (auto* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    const auto is = [&](int level, int type) { return each->cmsg_level == level && each->cmsg_type == type; };
    if (is(IPPROTO_IP, IP_TTL) || is(IPPROTO_IPV6, IPV6_HOPLIMIT)) {
      int ttl = 0;
      std::memcpy(&ttl, CMSG_DATA(each), sizeof ttl);
      out.ttl = static_cast<std::uint8_t>(ttl);
    } else {
      read_local(each, out.from.local);
    }
  }
  return out;
}

}  // namespace

DroneRelay::DroneRelay(const EngineConfig& config, EventQueue& events, Way way)
    : events_(events),
      drone_(config.drone_id),
      buffer_kib_(config.socket_buffer_kib),
      ask_way_(std::move(way)),
      table_(networks_of(config), config.relay_kbit),
      port_(open_port(config)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  set_int(port_.get(), IPPROTO_IP, IP_RECVTTL, 1);
  set_int(port_.get(), IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
  if (!epoll_ || !watch(epoll_, port_, kPort)) throw TunnelError(Errc::io, "The relay cannot wait for datagrams.");
  thread_ = std::thread([this] { run(); });
}

DroneRelay::~DroneRelay() {
  stopping_ = true;
  thread_.join();
}

void DroneRelay::run() {
  name_this_thread("pqc-relay");
  lower_this_thread(5);
  std::array<epoll_event, RelayTable::kClients + 1> ready{};
  while (!stopping_) {
    const int many = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), kWaitMs);
    const auto now = now_ns();
    look(now);
    for (int i = 0; i < many; ++i)
      if (const auto which = ready[static_cast<std::size_t>(i)].data.u64; which == kPort)
        from_clients(now);
      else
        from_gcs(which, now);
  }
}

/// This drone's own way may be another one now: the others follow, as if they roamed.
void DroneRelay::look(std::uint64_t now) {
  while (const auto place = table_.expire(now)) outs_[*place] = {};
  if (now < next_look_) return;
  next_look_ = now + kLookEvery;
  auto way = ask_way_();
  if (way == way_) return;
  way_ = std::move(way);
  for (auto& out : outs_) out = {};
}

void DroneRelay::from_clients(std::uint64_t now) {
  std::array<std::uint8_t, kMaxDatagram> room;
  for (int i = 0; i < kAtOnce; ++i) {
    const auto came = take(port_.get(), room);
    if (!came) return;
    const ByteView datagram(room.data(), came->size);
    const auto up = table_.up(came->from, datagram, came->ttl, now);
    using enum RelayTable::Verdict;
    if (up.verdict == pass) {
      pass_up(up, datagram);
    } else if (up.verdict == rate) {
      counters_.dropped.add();
    } else {
      counters_.refused.add();
      if (now < next_word_) continue;
      next_word_ = now + kWordEvery;
      say("Does not pass on for " + came->from.host_text() + ": " +
          (up.verdict == stranger    ? "it is not in 'relay_from'."
           : up.verdict == malformed ? "what it sends is no tunnel's."
           : up.verdict == hops      ? "three drones have passed it on already, or it goes in a circle."
                                     : "there are " + std::to_string(RelayTable::kClients) + " others."));
    }
  }
}

void DroneRelay::pass_up(const RelayTable::Up& up, ByteView datagram) {
  auto& out = outs_[up.place];
  if (up.fresh) out = {};
  if (!way_ || (!out.socket && !open(out))) return counters_.dropped.add();
  if (out.ttl != up.ttl) {
    set_int(out.socket.get(), IPPROTO_IP, IP_TTL, up.ttl);
    set_int(out.socket.get(), IPPROTO_IPV6, IPV6_UNICAST_HOPS, up.ttl);
    out.ttl = up.ttl;
  }
  if (::send(out.socket.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
    return counters_.dropped.add();
  counters_.up.add();
  counters_.up_bytes.add(datagram.size());
}

/// Connected: the kernel lets nobody in but the ground station.
bool DroneRelay::open(Out& out) const {
  const auto* const any = way_->gcs.family() == AF_INET6 ? "::" : "0.0.0.0";
  try {
    const auto from = resolve(way_->from.empty() ? any : way_->from, 0, true, SOCK_DGRAM);
    out.socket = open_udp(from, {buffer_kib_, -1, false, false, false, way_->device}, "a drone that is passed on for");
  } catch (const TunnelError&) {
    return false;
  }
  set_int(out.socket.get(), SOL_SOCKET, SO_PRIORITY, kLowPriority);
  const auto place = static_cast<std::uint64_t>(&out - outs_.data());
  if (::connect(out.socket.get(), way_->gcs.get(), way_->gcs.size) == 0 && watch(epoll_, out.socket, place))
    return true;
  out.socket.reset();
  return false;
}

void DroneRelay::from_gcs(std::size_t place, std::uint64_t now) {
  std::array<std::uint8_t, kMaxDatagram> room;
  for (int i = 0; i < kAtOnce && outs_[place].socket; ++i) {
    const auto got = ::recv(outs_[place].socket.get(), room.data(), room.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0) {
      if (!try_again(errno)) continue;  // an ICMP message: the ground station's machine is not reached now
      return;
    }
    const ByteView datagram(room.data(), got > static_cast<ssize_t>(room.size()) ? 0 : static_cast<std::size_t>(got));
    const auto down = table_.down(place, datagram, now);
    if (!down.pass || !send_one(port_.get(), datagram, table_.client(place))) {
      counters_.dropped.add();
      continue;
    }
    if (down.first) say("Passes on for " + table_.client(place).text() + " now.");
    counters_.down.add();
    counters_.down_bytes.add(datagram.size());
  }
}

void DroneRelay::say(const std::string& text) const { events_.log(LogLevel::info, drone_, text); }

}  // namespace pqcmav
