// SPDX-License-Identifier: Apache-2.0
// A serial telemetry radio whose air is the encrypted side of one drone's link, or of several drones': datagrams out of
// its bytes, and into them, never more than a moment's worth in the port at once (docs/radios.md). Air thread, if it
// does not say otherwise.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "line/line_again.hpp"
#include "line/line_frame.hpp"
#include "line/line_pace.hpp"
#include "line/line_queue.hpp"
#include "line/mavlink_carrier.hpp"
#include "line/radio_rate.hpp"
#include "line/radio_status.hpp"
#include "net/counters.hpp"
#include "net/net.hpp"
#include "net/serial_opener.hpp"
#include "net/stuck_watch.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/events.hpp"

namespace pqcmav {

/// Written by the air thread.
struct RadioCounters {
  Counter rx_frames, rx_bytes, tx_frames, tx_bytes;
  Counter dropped;      // datagrams for the air that waited too long, or found no room
  Counter line_errors;  // frames that the air damaged
  Counter not_mine;     // frames of other drones, and own ones that came back
  Counter copies;       // of answers to commands, which go twice
  Counter opened;       // times the port was opened
  Counter stuck;        // times the port took nothing for a second, and what it held was thrown away
};

/// A drone's place on a radio. The data thread has a UDP socket like everywhere; its other end is here, on loopback.
class Wire {
 public:
  Wire(std::shared_ptr<const class RadioPort> radio, std::uint8_t id, const SockAddr& data);

  // Any thread.
  /// Where the data thread sends to, and hears from.
  [[nodiscard]] const SockAddr& address() const noexcept { return address_; }
  [[nodiscard]] bool is_at(const SockAddr& peer) const noexcept {
    return peer.port() == address_.port() && peer.ip16() == address_.ip16();
  }
  [[nodiscard]] const RadioPort& radio() const noexcept { return *radio_; }
  /// The rate that this drone may have now, as the shaper counts it.
  [[nodiscard]] std::uint32_t kbit() const noexcept { return kbit_.load(std::memory_order_relaxed); }
  /// Is that the radio's own word?
  [[nodiscard]] bool speaks() const noexcept { return speaks_.load(std::memory_order_relaxed); }

 private:
  friend class RadioPort;
  const std::shared_ptr<const RadioPort> radio_;
  const std::uint8_t id_;
  Fd socket_;
  SockAddr address_;
  std::atomic<std::uint32_t> kbit_{0};
  std::atomic<bool> speaks_{false};
  // Air thread.
  LineQueue queue_;
  LineAgain again_;
  LineCopies copies_;
  std::size_t credit_ = 0;  // bytes that it may send in this round
  std::uint64_t used_ns_ = 0;
};

class RadioPort : public std::enable_shared_from_this<RadioPort> {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  RadioPort(const RadioSettings& settings, bool drone_end, std::string owner, EventQueue& events);
  RadioPort(const RadioPort&) = delete;
  RadioPort& operator=(const RadioPort&) = delete;

  /// Can its port be opened now? Throws TunnelError if not.
  static void check(const RadioSettings& settings);
  // Not while the thread works.
  /// `data`: the data thread's socket. Throws TunnelError.
  std::shared_ptr<Wire> add(std::uint8_t id, const SockAddr& data);
  /// True if that was its last one.
  bool remove(const Wire& wire) noexcept;

  // Any thread.
  [[nodiscard]] const RadioSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] std::string name() const;
  /// What is wrong with it; "" = nothing.
  [[nodiscard]] std::string problem() const;
  [[nodiscard]] EndpointStatus status() const;
  [[nodiscard]] RadioQuality quality() const;
  /// What the line adds to a datagram of the usual size.
  [[nodiscard]] std::size_t around() const noexcept { return settings_.mavlink ? kCarrierAround : kLineAround + 2; }

  /// How long a full datagram of a handshake takes; `kbit`: at that rate at most, 0 = as the radio carries.
  [[nodiscard]] std::uint64_t datagram_ns(std::uint32_t kbit) const noexcept;

  /// What to wait for.
  void watch(std::vector<pollfd>& on) const;
  [[nodiscard]] std::size_t watched() const noexcept { return 1 + wires_.size(); }
  /// The answers of poll(), in the order of watch(); what is due besides.
  void work(std::span<const pollfd> ready, std::uint64_t now);
  [[nodiscard]] std::uint64_t due(std::uint64_t now) const noexcept;
  [[nodiscard]] bool idle() const noexcept;
  [[nodiscard]] bool has(const Wire& wire) const noexcept;
  /// The port is free. What others see of it stays.
  void close() noexcept;

 private:
  void open(std::uint64_t now);
  void lost(std::uint64_t now);
  void read(std::uint64_t now);
  void decode(ByteView bytes, std::uint64_t now);
  /// Bytes that come are no others' alone.
  void heard_ours() noexcept;
  void on_frame(LineAddress line, ByteView datagram) noexcept;
  void on_message(ByteView message, std::uint64_t now) noexcept;
  void fetch(Wire& wire, std::uint64_t now) noexcept;
  void push_again(Wire& wire, bool company, std::uint64_t now) noexcept;
  void write(std::uint64_t now);
  [[nodiscard]] bool write_rest(std::uint64_t now);
  [[nodiscard]] bool load_next(std::uint64_t now);
  [[nodiscard]] Wire* next_wire() noexcept;
  [[nodiscard]] std::size_t queued() const noexcept;
  [[nodiscard]] std::size_t waiting_bytes() const noexcept;
  [[nodiscard]] std::uint64_t heartbeat_due() const noexcept;
  void unstick(std::uint64_t now);
  void look_for_frames(std::uint64_t now);
  void show(std::uint64_t now);

  const RadioSettings settings_;
  const bool drone_end_;
  const std::string owner_;
  EventQueue& events_;
  SerialOpener opener_;
  std::vector<std::shared_ptr<Wire>> wires_;
  RadioCounters counters_;

  Fd port_;
  LineFrameReader frames_;
  MavlinkCarrierReader messages_;
  MavlinkCarrierWriter writer_;
  RadioHeartbeat heartbeat_;
  LinePace pace_;
  RadioRate rate_;
  std::atomic<double> bytes_per_s_;
  std::optional<RadioStatus> status_;
  ByteArray<kCarrierMost> out_;  // what is being written
  std::size_t out_begin_ = 0, out_end_ = 0, turn_ = 0;
  std::uint64_t beat_ns_ = 0, opened_ns_ = 0;
  std::uint64_t quiet_since_ns_ = 0, shown_ns_ = 0;
  StuckWatch stuck_;
  std::uint64_t foreign_ = 0;  // bytes since the last frame of ours
  bool foreign_only_ = false;  // and for too long
  std::uint64_t errors_ = 0;   // of the readers, as counted

  mutable std::mutex mutex_;
  RadioQuality quality_;  // but for its counters
  std::string state_, problem_;
};

}  // namespace pqcmav
