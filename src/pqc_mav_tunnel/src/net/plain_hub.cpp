// SPDX-License-Identifier: Apache-2.0
#include "net/plain_hub.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "net/plain_ports.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr int kPairBuffer = 1 << 20;  // bytes with the kernel's own: a burst that the other thread is yet to see

epoll_event event_of(std::uint64_t tag, bool writable) noexcept {
  epoll_event event{};
  event.events = EPOLLIN | (writable ? EPOLLOUT : 0u);
  event.data.u64 = tag;
  return event;
}

/// Visits each message of a datagram with its bytes; false when it is not whole messages from end to end.
template <typename Visit>
bool for_each_frame(ByteView datagram, Visit visit) noexcept {
  return walk_mavlink(datagram, [&](const MavlinkHeader& header) {
    visit(header, datagram.first(header.size));
    datagram = datagram.subspan(header.size);
  });
}

}  // namespace

PlainWatch::PlainWatch() : epoll_(made_fd(::epoll_create1(EPOLL_CLOEXEC), "an epoll descriptor")) {}

void PlainWatch::add(int fd, std::uint64_t tag, bool writable) const {
  auto event = event_of(tag, writable);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw TunnelError(Errc::io, "Cannot watch an endpoint of plaintext: " + system_reason(errno) + ".");
}

void PlainWatch::change(int fd, std::uint64_t tag, bool writable) const noexcept {
  auto event = event_of(tag, writable);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void PlainWatch::remove(int fd) const noexcept { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

PlainPort::PlainPort(PlainHub& hub, std::size_t index) : counters(hub.counters(index)), hub_(hub), index_(index) {}

std::uint64_t PlainPort::tag(std::uint32_t slot) const noexcept {
  return std::uint64_t{hub_.number()} << 32 | static_cast<std::uint64_t>(index_) << 16 | slot;
}

PlainHub::PlainHub(std::string link, const std::string& key, const std::vector<PlainEndpoint>& endpoints,
                   const PlainHubOptions& options, std::uint32_t number, PlainWatch& watch, EventQueue& events)
    : link_(std::move(link)), options_(options), number_(number), watch_(watch), events_(events) {
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
    throw TunnelError(Errc::io, "Cannot create a pair of sockets: " + system_reason(errno) + ".");
  tunnel_ = Fd(pair[0]);
  data_end_ = Fd(pair[1]);
  for (const int fd : pair) ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kPairBuffer, sizeof kPairBuffer);
  routing_ = endpoints.size() > 1 || endpoints.front().shared();
  together_.reserve(options_.together);
  for (const auto& endpoint : endpoints) {
    views_.push_back({endpoint.text, "", ""});
    counters_.emplace_back();
    ports_.push_back(make_plain_port(*this, ports_.size(), endpoint, key));
  }
  watch_.add(tunnel_.get(), std::uint64_t{number_} << 32 | std::uint64_t{kTunnelPort} << 16);
}

PlainHub::~PlainHub() = default;

void PlainHub::close() noexcept {
  ports_.clear();
  open_ = channel_bit(kTunnelChannel);
  channels_ = {};
  tunnel_.reset();
}

std::vector<EndpointStatus> PlainHub::endpoints() const {
  const std::lock_guard lock(mutex_);
  std::vector<EndpointStatus> out;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const auto& c = counters_[i];
    out.push_back({views_[i].name,
                   views_[i].problem.empty() ? views_[i].state : views_[i].problem,
                   views_[i].problem.empty(),
                   {{"rx_packets", c.rx_packets.get()},
                    {"rx_bytes", c.rx_bytes.get()},
                    {"tx_packets", c.tx_packets.get()},
                    {"tx_bytes", c.tx_bytes.get()},
                    {"dropped", c.dropped.get()},
                    {"skipped_bytes", c.skipped.get()},
                    {"opened", c.opened.get()},
                    {"stuck", c.stuck.get()},
                    {"refused", c.refused.get()},
                    {"too_big", c.too_big.get()},
                    {"kernel_dropped", c.kernel.get()}}});
  }
  return out;
}

std::string PlainHub::text() const {
  const std::lock_guard lock(mutex_);
  return listed(views_, &View::name);
}

std::string PlainHub::problem() const {
  const std::lock_guard lock(mutex_);
  for (const auto& view : views_)
    if (!view.problem.empty()) return view.problem;
  return "";
}

void PlainHub::start() {
  for (auto& port : ports_) port->start();
}

void PlainHub::ready(std::uint32_t port, std::uint32_t slot, UdpReceiver& receiver, std::uint64_t now) {
  receiver_ = &receiver;
  if (port == kTunnelPort) return read_tunnel(receiver, now);
  if (port >= ports_.size()) return;  // of one that was closed since the wake-up began
  ports_[port]->ready(slot, now);
  flush_ports(now);
}

std::uint64_t PlainHub::due() const noexcept {
  auto out = PlainPort::kNever;
  for (const auto& port : ports_) out = std::min(out, port->due());
  return out;
}

void PlainHub::on_time(std::uint64_t now) {
  for (auto& port : ports_)
    if (port->due() <= now) port->on_time(now);
  flush_ports(now);
}

std::optional<unsigned> PlainHub::open_channel(PlainPort& port) noexcept {
  for (unsigned channel = kTunnelChannel + 1; channel < kMaxChannels; ++channel) {
    if ((open_ & channel_bit(channel)) != 0) continue;
    open_ |= channel_bit(channel);
    channels_[channel] = &port;
    return channel;
  }
  return std::nullopt;
}

void PlainHub::close_channel(unsigned channel) noexcept {
  open_ &= ~channel_bit(channel);
  channels_[channel] = nullptr;
  router_.forget(channel);
}

void PlainHub::read_tunnel(UdpReceiver& receiver, std::uint64_t now) {
  const auto got = receiver.receive(tunnel_.get());
  for (std::size_t i = 0; i < got; ++i) pass(kTunnelChannel, receiver.slot(i).bytes);
  flush_ports(now);
}

void PlainHub::take(unsigned channel, ByteView datagram, bool of_stream) noexcept {
  auto& counters = channels_[channel]->counters;
  counters.rx_packets.add();
  counters.rx_bytes.add(datagram.size());
  if (routing_ || !of_stream) return pass(channel, datagram);
  if (apart_.load(std::memory_order_relaxed)) {
    flush_streams(counters);
    return pass(channel, datagram);
  }
  if (together_.size() + datagram.size() > options_.together) flush_streams(counters);
  if (datagram.size() > options_.together) return pass(channel, datagram);
  append(together_, datagram);
}

void PlainHub::flush_streams(EndpointCounters& counters) noexcept {
  if (together_.empty()) return;
  to_tunnel(together_, &counters);
  together_.clear();
}

/// To whom it may concern: all of it where its messages have the same way, else each on its own.
void PlainHub::pass(unsigned from, ByteView datagram) noexcept {
  auto* counters = from == kTunnelChannel ? nullptr : &channels_[from]->counters;
  const auto others = open_ & ~channel_bit(from);
  if (!routing_) return send_to(others, datagram, counters);
  ChannelMask first = 0;
  bool same = true, begun = false;
  const bool whole = for_each_frame(datagram, [&](const MavlinkHeader& header, ByteView frame) {
    router_.hear(from, header.system, header.component);
    const auto to = router_.route(from, header, frame, open_);
    same = same && (!begun || to == first);
    if (!begun) first = to;
    begun = true;
  });
  if (!whole) return send_to(from == kTunnelChannel ? others : channel_bit(kTunnelChannel), datagram, counters);
  if (same) return send_to(first, datagram, counters);
  for_each_frame(datagram, [&](const MavlinkHeader& header, ByteView frame) {
    send_to(router_.route(from, header, frame, open_), frame, counters);
  });
}

void PlainHub::send_to(ChannelMask channels, ByteView datagram, EndpointCounters* from) noexcept {
  if ((channels & channel_bit(kTunnelChannel)) != 0) to_tunnel(datagram, from);
  for (unsigned channel = kTunnelChannel + 1; channel < kMaxChannels; ++channel)
    if ((channels & channel_bit(channel)) != 0) channels_[channel]->send(channel, datagram);
}

/// Where the data thread does not keep up, what is newest goes: it is the one that would wait longest.
void PlainHub::to_tunnel(ByteView datagram, EndpointCounters* from) noexcept {
  if (::send(tunnel_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && from != nullptr)
    from->dropped.add();
}

void PlainHub::flush_ports(std::uint64_t now) {
  for (auto& port : ports_) port->flush(now);
}

void PlainHub::show(std::size_t port, std::string state, std::string problem) {
  const std::lock_guard lock(mutex_);
  views_[port].state = std::move(state);
  views_[port].problem = std::move(problem);
}

void PlainHub::rename(std::size_t port, std::string name) {
  const std::lock_guard lock(mutex_);
  views_[port].name = std::move(name);
}

}  // namespace pqcmav
