// SPDX-License-Identifier: Apache-2.0
// Counters with one writing thread at a time and any number of readers: plain loads and stores, no locked instruction
// on the packet path.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "clock.hpp"
#include "constants.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

/// What became of a datagram that belongs to handshakes: each ends in exactly one of these (docs/protocol.md section
/// 5).
enum class HandshakeDrop : std::uint8_t { taken, repeated, malformed, unknown, tag, gate, replay, limit };
inline constexpr std::size_t kHandshakeDropKinds = 8;

class Counter {
 public:
  Counter() noexcept = default;
  /// What it shows now.
  Counter(const Counter& other) noexcept : value_(other.get()) {}
  Counter& operator=(const Counter&) = delete;
  void add(std::uint64_t n = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void set(std::uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Average duration of an operation measured on every 32nd call.
class SampledTime {
 public:
  /// Does the work and returns its result.
  template <typename Work>
  auto measure(Work work) noexcept {
    if ((calls_++ & 31u) != 0) return work();
    const auto before = now_ns();
    auto result = work();
    total_ns_.add(now_ns() - before);
    samples_.add();
    return result;
  }
  [[nodiscard]] double average_ns() const noexcept {
    const auto samples = samples_.get();
    return samples == 0 ? 0.0 : static_cast<double>(total_ns_.get()) / static_cast<double>(samples);
  }

 private:
  std::uint32_t calls_ = 0;
  Counter total_ns_, samples_;
};

/// The class of a packet so many places behind the newest, from 1 on.
constexpr std::size_t depth_class(std::uint64_t behind) noexcept {
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(behind)), kDepthClasses) - 1;
}
static_assert(depth_class(kWindowBitsMax - 1) == kDepthClasses - 1);

/// Written by the data thread; src/picture/counters.cpp has names and meanings. "plain" is the application's side, "enc" the air.
struct LinkCounters {
  Counter plain_rx_packets, plain_rx_bytes, plain_tx_packets, plain_tx_bytes;
  Counter plain_dropped_no_session, plain_dropped_no_peer, plain_dropped_too_big, plain_dropped_send;
  Counter plain_dropped_kernel;  // by a full receive buffer, before anything here saw them
  Counter plain_tap_packets, plain_tap_dropped, plain_tap_requests, plain_tap_refused;
  Counter enc_tx_packets, enc_tx_bytes, enc_rx_packets, enc_rx_bytes, enc_dropped_send;
  Counter plain_dropped_yield;  // left out, for a rekey or by a path for commands
  Counter delivered, delivered_datagrams, control, roams;
  std::array<Counter, kDropKinds> drops;
  Counter window_skipped;  // sequence numbers that a newer packet jumped over; those that came late are in window_depth
  std::array<Counter, kDepthClasses> window_depth;
  SampledTime seal_time, open_time;
};

/// Of the whole process. enc_rx_datagrams == delivered + control + sum(drops) + sum(handshakes), always.
struct ProcessCounters {
  Counter enc_rx_datagrams, enc_rx_bytes, delivered, control;
  Counter delivered_datagrams;  // what the delivered packets carried: more than one each, where they are bundles
  std::array<Counter, kDropKinds> drops;
  std::array<Counter, kHandshakeDropKinds> handshakes;
  Counter kernel;         // what the kernel dropped at the data port; of a run that came as one, one
  Counter yielded;        // on all links
  Counter copies;         // packets that came before, by another path or again, as planned
  Counter overtaken;      // packets that may be old: long after later ones, or after a silence
  Counter standby;        // drone: data frames of a station that is not the active one
  Counter other_version;  // of drop_malformed: packets of an older protocol
  Counter doubled;        // of drop_replay: packets that came the first time in the last 0.1-0.2 s
  Counter skipped;        // packets that had not come when a later one of their key did
  Counter skips;          // how often that was so: skipped / skips is how many are missing in a row
  Counter late;           // of skipped: those that came after all
  Counter used_twice;     // sessions that ended because the peer used the number of a packet twice
  Counter set_back;       // how often this machine was set back to a snapshot, or copied
  Counter ticks;          // finished rounds of upkeep: the data thread lives

  /// Another data thread's, with these together. `ticks` is that of the one that is behind.
  void add(ProcessCounters other) noexcept;
};

/// Of a drone that passes on for others. Written by the relay's thread.
struct RelayCounters {
  Counter up, up_bytes, down, down_bytes;
  Counter refused;  // not from whom it passes on for, no datagram of a tunnel, too many drones, or passed on too often
  Counter dropped;  // above the rate, or there was no way
};

/// What a gcs counts besides. Written by the data thread.
struct ServerCounters {
  Counter gated, retried, completed, ratchets, failed, busy, restarts, keygens;
};

}  // namespace pqcmav
