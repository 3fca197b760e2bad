// SPDX-License-Identifier: Apache-2.0
#include "net/plain_ports.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "clock.hpp"
#include "constants.hpp"
#include "net/plain_stream.hpp"
#include "net/serial_opener.hpp"
#include "net/stuck_watch.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kClientsMax = 8;  // of one endpoint
constexpr std::uint64_t kReopenMost = 2'000'000'000;
constexpr std::size_t kSerialQueueLeast = 4096, kTcpQueue = 256 * 1024;
constexpr int kTcpBuffer = 64 * 1024;  // the kernel would keep some MB of old messages for who does not read
constexpr int kListenBacklog = 8;

// --- serial ---

/// The bytes of a second, and room for two of the longest datagrams in any case.
std::size_t serial_queue(const PlainEndpoint& endpoint, std::size_t max_payload) noexcept {
  return std::max({std::size_t{endpoint.baud} / 10, 2 * max_payload, kSerialQueueLeast});
}

class SerialPlainPort : public PlainPort {
 public:
  SerialPlainPort(PlainHub& hub, std::size_t index, const PlainEndpoint& endpoint)
      : PlainPort(hub, index),
        opener_({endpoint.path, endpoint.baud, endpoint.flow_control}, kReopenMost,
                [this](LogLevel level, std::string sentence) { hub_.log(level, std::move(sentence)); }),
        stream_(hub, counters, hub.open_channel(*this).value(), serial_queue(endpoint, hub.options().max_payload)) {
    hub_.show(index_, "not open yet", "");
  }
  ~SerialPlainPort() override {
    auto port = stream_.close();
    close_serial(port);
  }

  void ready(std::uint32_t, std::uint64_t now) override {
    if (stream_.is_open() && !stream_.read(now)) lost(now);
  }
  void send(unsigned, ByteView datagram) noexcept override { stream_.send(datagram); }
  void flush(std::uint64_t now) override {
    if (!stream_.flush()) return lost(now);
    if (stream_.is_open()) unstick(now);
  }
  [[nodiscard]] std::uint64_t due() const noexcept override {
    return stream_.is_open() ? std::min(stream_.due(), stuck_.due()) : opener_.due();
  }
  void on_time(std::uint64_t now) override {
    if (stream_.is_open()) {
      stream_.on_time(now);
      return unstick(now);
    }
    if (auto port = opener_.open(now)) {
      stream_.open(std::move(*port), tag(0));
      stuck_ = {};
      counters.opened.add();
    }
    show();
  }

 private:
  void lost(std::uint64_t now) {
    opener_.lost(stream_.close(), now);
    show();
  }
  void show() {
    if (!stream_.is_open()) return hub_.show(index_, "", opener_.problem());
    hub_.show(index_, "open", stuck_.is_blocked() ? blocked() : "");
  }
  [[nodiscard]] std::string blocked() const {
    return "The serial port " + opener_.options().path + " takes nothing" +
           (opener_.options().flow_control ? ": is CTS wired, and flow control on at the other side?" : ".");
  }
  /// With flow control the other side may take nothing for long: a command that waits is not to come then.
  void unstick(std::uint64_t now) {
    const bool blocked_before = stuck_.is_blocked();
    if (stuck_.is_stuck(held_output(stream_.fd()), stream_.waiting(), counters.tx_bytes.get(), now)) {
      stream_.forget();
      stuck_.threw_away(forget_output(stream_.fd()));
      counters.stuck.add();
    }
    if (stuck_.is_blocked() == blocked_before) return;
    if (!blocked_before) hub_.log(LogLevel::warning, blocked() + " Messages that wait for 1 s are dropped.");
    show();
  }

  SerialOpener opener_;
  StuckWatch stuck_;
  PlainStream stream_;
};

// --- UDP ---

/// A socket and what comes to it. What the kernel dropped is asked a second after something came: not for each datagram,
/// and also when none follows.
class UdpPort : public PlainPort {
 public:
  UdpPort(PlainHub& hub, std::size_t index, const SockAddr& local)
      : PlainPort(hub, index),
        socket_(open_udp(local, {hub.options().socket_buffer_kib, -1, false}, "plaintext MAVLink (UDP)")) {}

  void ready(std::uint32_t, std::uint64_t now) override {
    auto& in = hub_.receiver();
    const auto got = in.receive(socket_.get());
    if (drops_due_ == kNever) drops_due_ = now + to_ns(seconds(1));
    for (std::size_t i = 0; i < got; ++i)
      if (in.slot(i).truncated)
        counters.too_big.add();
      else
        take(in.source(i), in.slot(i).bytes, now);
  }
  [[nodiscard]] std::uint64_t due() const noexcept override { return drops_due_; }
  void on_time(std::uint64_t now) override {
    if (now < drops_due_) return;
    drops_due_ = kNever;
    counters.kernel.add(drops_.more(socket_.get()));
  }

 protected:
  virtual void take(const SockAddr& source, ByteView datagram, std::uint64_t now) = 0;
  void count_sent(bool sent, std::size_t size) noexcept {
    if (!sent) return counters.dropped.add();
    counters.tx_packets.add();
    counters.tx_bytes.add(size);
  }

  Fd socket_;

 private:
  KernelDrops drops_;
  std::uint64_t drops_due_ = kNever;
};

/// One application at a known address; what others send is refused by the kernel.
class UdpPlainPort : public UdpPort {
 public:
  UdpPlainPort(PlainHub& hub, std::size_t index, const SockAddr& to)
      : UdpPort(hub, index,
                resolve(to.family() == AF_INET6 ? (to.loopback() ? "::1" : "::")
                                                : (to.loopback() ? "127.0.0.1" : "0.0.0.0"),
                        0, true, SOCK_DGRAM)),
        channel_(hub.open_channel(*this).value()) {
    if (::connect(socket_.get(), to.get(), to.size) != 0)
      throw TunnelError(Errc::address, "Cannot send to " + to.text() + ": " + system_reason(errno) + ".");
    hub_.watch().add(socket_.get(), tag(0));
    hub_.show(index_, "sends from port " + std::to_string(local_address(socket_).port()), "");
  }

  void send(unsigned, ByteView datagram) noexcept override {
    auto sent = ::send(socket_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    // What is reported is that nobody took an earlier one; meanwhile somebody may be there.
    if (sent < 0 && errno == ECONNREFUSED)
      sent = ::send(socket_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    count_sent(sent >= 0, datagram.size());
  }

 private:
  void take(const SockAddr&, ByteView datagram, std::uint64_t) override { hub_.take(channel_, datagram); }

  const unsigned channel_;
};

/// Applications that speak first: each address is a channel until it has been silent for a while.
class UdpListenPort : public UdpPort {
 public:
  UdpListenPort(PlainHub& hub, std::size_t index, const SockAddr& local) : UdpPort(hub, index, local) {
    hub_.watch().add(socket_.get(), tag(0));
    hub_.rename(index_, "udp-listen:" + local_address(socket_).text());
    show();
  }

  void send(unsigned channel, ByteView datagram) noexcept override {
    for (const auto& sender : senders_)
      if (sender.channel == channel) count_sent(send_one(socket_.get(), datagram, sender.address), datagram.size());
  }
  [[nodiscard]] std::uint64_t due() const noexcept override {
    auto out = UdpPort::due();
    for (const auto& sender : senders_) out = std::min(out, sender.heard_ns + to_ns(kPlainSenderSilence));
    return out;
  }
  void on_time(std::uint64_t now) override {
    UdpPort::on_time(now);
    std::erase_if(senders_, [&](const Sender& sender) {
      if (sender.heard_ns + to_ns(kPlainSenderSilence) > now) return false;
      hub_.close_channel(sender.channel);
      return true;
    });
    show();
  }

 private:
  struct Sender {
    SockAddr address;
    unsigned channel;
    std::uint64_t heard_ns;
  };

  void take(const SockAddr& source, ByteView datagram, std::uint64_t now) override {
    if (auto* sender = find(source, now)) {
      sender->heard_ns = now;
      hub_.take(sender->channel, datagram);
    }
  }
  Sender* find(const SockAddr& source, std::uint64_t now) {
    for (auto& sender : senders_)
      if (sender.address == source) return &sender;
    const auto channel = senders_.size() < kClientsMax ? hub_.open_channel(*this) : std::nullopt;
    if (!channel) {
      counters.refused.add();
      return nullptr;
    }
    senders_.push_back({source, *channel, now});
    counters.opened.add();
    show();
    return &senders_.back();
  }
  void show() { hub_.show(index_, std::to_string(senders_.size()) + " applications", ""); }

  std::vector<Sender> senders_;
};

// --- TCP ---

Fd open_tcp(const SockAddr& local) {
  Fd fd(::socket(local.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto where = "plaintext MAVLink (TCP) at " + local.text();
  if (!fd) throw TunnelError(Errc::io, "Cannot open the port for " + where + ": " + system_reason(errno) + ".");
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), local.get(), local.size) == 0 && ::listen(fd.get(), kListenBacklog) == 0) return fd;
  if (errno == EADDRINUSE)
    throw TunnelError(Errc::port_in_use,
                      "The port for " + where + " is in use by another program; stop it or configure another port.");
  throw TunnelError(errno == EACCES ? Errc::permission : Errc::address,
                    "Cannot open the port for " + where + ": " + system_reason(errno) + ".");
}

class TcpListenPort : public PlainPort {
 public:
  TcpListenPort(PlainHub& hub, std::size_t index, const SockAddr& local)
      : PlainPort(hub, index), socket_(open_tcp(local)) {
    hub_.watch().add(socket_.get(), tag(kListener));
    hub_.rename(index_, "tcp-listen:" + local_address(socket_).text());
    show();
  }

  void ready(std::uint32_t slot, std::uint64_t now) override {
    if (slot == kListener) return accept();
    auto* client = find(slot);
    if (client != nullptr && !client->read(now)) end(slot);
  }
  void send(unsigned channel, ByteView datagram) noexcept override {
    if (auto* client = find(channel)) client->send(datagram);
  }
  void flush(std::uint64_t) override {
    for (std::size_t i = clients_.size(); i-- > 0;)
      if (!clients_[i]->flush()) end(clients_[i]->channel());
  }
  [[nodiscard]] std::uint64_t due() const noexcept override {
    auto out = kNever;
    for (const auto& client : clients_) out = std::min(out, client->due());
    return out;
  }
  void on_time(std::uint64_t now) override {
    for (auto& client : clients_) client->on_time(now);
  }

 private:
  static constexpr std::uint32_t kListener = 0;  // clients: their channel

  PlainStream* find(unsigned channel) noexcept {
    for (auto& client : clients_)
      if (client->channel() == channel) return client.get();
    return nullptr;
  }
  void accept() {
    Fd fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    const auto channel = clients_.size() < kClientsMax ? hub_.open_channel(*this) : std::nullopt;
    if (!channel) return counters.refused.add();
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &kTcpBuffer, sizeof kTcpBuffer);
    auto client = std::make_unique<PlainStream>(hub_, counters, *channel,
                                                std::max(kTcpQueue, 2 * hub_.options().max_payload), true);
    try {
      client->open(std::move(fd), tag(*channel));
    } catch (const TunnelError&) {  // the kernel's memory is short
      hub_.close_channel(*channel);
      return counters.refused.add();
    }
    clients_.push_back(std::move(client));
    counters.opened.add();
    show();
  }
  void end(unsigned channel) {
    std::erase_if(clients_, [&](const auto& client) {
      if (client->channel() != channel) return false;
      (void)client->close();
      return true;
    });
    hub_.close_channel(channel);
    show();
  }
  void show() { hub_.show(index_, std::to_string(clients_.size()) + " clients", ""); }

  Fd socket_;
  std::vector<std::unique_ptr<PlainStream>> clients_;
};

}  // namespace

std::unique_ptr<PlainPort> make_plain_port(PlainHub& hub, std::size_t index, const PlainEndpoint& endpoint,
                                           const std::string& key) {
  using Kind = PlainEndpoint::Kind;
  if (endpoint.kind == Kind::serial) return std::make_unique<SerialPlainPort>(hub, index, endpoint);
  const auto type = endpoint.kind == Kind::tcp_listen ? SOCK_STREAM : SOCK_DGRAM;
  const auto address = resolve(endpoint.address.host, endpoint.address.port, endpoint.kind != Kind::udp, type);
  check_plain_remote(endpoint, address, key, hub.options().allow_remote);
  if (endpoint.kind == Kind::udp) return std::make_unique<UdpPlainPort>(hub, index, address);
  if (endpoint.kind == Kind::udp_listen) return std::make_unique<UdpListenPort>(hub, index, address);
  return std::make_unique<TcpListenPort>(hub, index, address);
}

}  // namespace pqcmav
