// SPDX-License-Identifier: Apache-2.0
// The plaintext side of a link that is not one UDP socket: a serial port, or several applications.
//
// The data thread has one end of a private pair of sockets and uses it like the UDP socket of other links. The other
// end is the hub's, whose ports (plain_ports.hpp) and channels live in a thread of their own (plain_side.hpp): whatever
// a serial driver or a slow client does, the data thread does not wait. Each application is a channel, the tunnel is
// channel 0. With a single endpoint nothing is read and all goes through; with several a MavlinkRouter decides.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "net/counters.hpp"
#include "net/net.hpp"
#include "net/plain_endpoint.hpp"
#include "net/udp_batch.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "route/mavlink_router.hpp"

namespace pqcmav {

/// Written by the plain thread. "rx" is from the application.
struct EndpointCounters {
  Counter rx_packets, rx_bytes, tx_packets, tx_bytes;
  Counter dropped;  // datagrams for it that it did not take in time
  Counter skipped;  // bytes of its stream that were no MAVLink
  Counter opened;   // times it was opened, or a client came
  Counter stuck;    // times the serial port took nothing for a second, and what it held was thrown away
  Counter refused;  // clients for whom there was no room
  Counter too_big;  // datagrams from it above max_payload
  Counter kernel;   // datagrams from it that the kernel dropped, because its receive buffer was full
};

/// What the ports of a hub are watched with.
class PlainWatch {
 public:
  PlainWatch();
  void add(int fd, std::uint64_t tag, bool writable = false) const;
  void change(int fd, std::uint64_t tag, bool writable) const noexcept;
  void remove(int fd) const noexcept;
  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }

 private:
  Fd epoll_;
};

class PlainHub;

/// One endpoint of the configuration, with its channels. Plain thread, but for the constructor and the counters.
class PlainPort {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  PlainPort(PlainHub& hub, std::size_t index);
  virtual ~PlainPort() = default;
  PlainPort(const PlainPort&) = delete;
  PlainPort& operator=(const PlainPort&) = delete;

  virtual void start() {}
  /// One of its descriptors is ready; `slot` says which.
  virtual void ready(std::uint32_t slot, std::uint64_t now) = 0;
  virtual void send(unsigned channel, ByteView datagram) noexcept = 0;
  /// After a batch of send().
  virtual void flush(std::uint64_t) {}
  [[nodiscard]] virtual std::uint64_t due() const noexcept { return kNever; }
  virtual void on_time(std::uint64_t) {}

  EndpointCounters& counters;  // the hub's: they are read after the port is closed, too

 protected:
  [[nodiscard]] std::uint64_t tag(std::uint32_t slot) const noexcept;
  PlainHub& hub_;
  const std::size_t index_;
};

struct PlainHubOptions {
  std::size_t max_payload = 0, socket_buffer_kib = 0;
  std::size_t together = 0;  // so many bytes of frames that came together go in one datagram
  bool allow_remote = false;
};

class PlainHub {
 public:
  static constexpr std::uint32_t kTunnelPort = 0xffff;

  /// Opens the sockets; serial ports are opened by the thread, again and again. Throws TunnelError. `key` names the
  /// setting that the endpoints are from.
  PlainHub(std::string link, const std::string& key, const std::vector<PlainEndpoint>& endpoints,
           const PlainHubOptions& options, std::uint32_t number, PlainWatch& watch, EventQueue& events);
  ~PlainHub();
  PlainHub(const PlainHub&) = delete;
  PlainHub& operator=(const PlainHub&) = delete;

  /// The data thread's end.
  [[nodiscard]] Fd take_data_end() noexcept { return std::move(data_end_); }

  // Any thread.
  [[nodiscard]] std::vector<EndpointStatus> endpoints() const;
  /// The endpoints as text, and what is wrong with them ("" = nothing).
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string problem() const;
  /// Whether each frame of a stream goes alone, for what is shaped is told apart by datagram.
  void keep_apart(bool apart) noexcept { apart_.store(apart, std::memory_order_relaxed); }

  // Plain thread, or whoever keeps it from running.
  void start();
  /// Closes all sockets. What was counted stays.
  void close() noexcept;
  [[nodiscard]] EndpointCounters& counters(std::size_t port) noexcept { return counters_[port]; }
  void ready(std::uint32_t port, std::uint32_t slot, UdpReceiver& receiver, std::uint64_t now);
  [[nodiscard]] std::uint64_t due() const noexcept;
  void on_time(std::uint64_t now);

  // For the ports, in the plain thread.
  /// A number for an application, as long as there are some.
  std::optional<unsigned> open_channel(PlainPort& port) noexcept;
  void close_channel(unsigned channel) noexcept;
  /// A datagram of an application, or one frame of a stream. flush_streams() follows once all that came is here.
  void take(unsigned channel, ByteView datagram, bool of_stream = false) noexcept;
  void flush_streams(EndpointCounters& counters) noexcept;
  /// What the port's state is now, for status; `problem` is empty where it works.
  void show(std::size_t port, std::string state, std::string problem);
  void rename(std::size_t port, std::string name);
  void log(LogLevel level, std::string sentence) { events_.log(level, link_, std::move(sentence)); }
  [[nodiscard]] PlainWatch& watch() noexcept { return watch_; }
  [[nodiscard]] UdpReceiver& receiver() noexcept { return *receiver_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] const PlainHubOptions& options() const noexcept { return options_; }

 private:
  struct View {
    std::string name, state, problem;
  };
  void read_tunnel(UdpReceiver& receiver, std::uint64_t now);
  void pass(unsigned from, ByteView datagram) noexcept;
  void send_to(ChannelMask channels, ByteView datagram, EndpointCounters* from) noexcept;
  void to_tunnel(ByteView datagram, EndpointCounters* from) noexcept;
  void flush_ports(std::uint64_t now);

  const std::string link_;
  const PlainHubOptions options_;
  const std::uint32_t number_;
  PlainWatch& watch_;
  EventQueue& events_;
  Fd tunnel_, data_end_;
  std::deque<EndpointCounters> counters_;  // by endpoint
  std::vector<std::unique_ptr<PlainPort>> ports_;
  std::array<PlainPort*, kMaxChannels> channels_{};
  ChannelMask open_ = channel_bit(kTunnelChannel);
  bool routing_ = false;
  std::atomic<bool> apart_{false};
  MavlinkRouter router_;
  Bytes together_;
  UdpReceiver* receiver_ = nullptr;
  mutable std::mutex mutex_;
  std::vector<View> views_;
};

}  // namespace pqcmav
