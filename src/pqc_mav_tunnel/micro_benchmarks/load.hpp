// SPDX-License-Identifier: Apache-2.0
// Numbered, time-stamped datagrams with checkable content: what the load programs send and how they read it back.
#pragma once

#include <poll.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "bytes.hpp"
#include "net/net.hpp"
#include "net/udp_batch.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav::load {

inline constexpr std::size_t kStamp = 16;  // number u64, send time u64 (ns, monotonic)

/// The filling of datagrams: each starts at another place of one table, so that a mixed-up payload shows, and writing
/// and checking cost a memcpy and a memcmp: the load must not become the bottleneck it measures.
inline const std::uint8_t* filling(std::uint64_t number) noexcept {
  static constexpr std::size_t kShifts = 251;
  static const auto table = [] {
    std::array<std::uint8_t, 2048 + kShifts> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>((i * 167) ^ (i >> 3));
    return out;
  }();
  return table.data() + number % kShifts;
}

inline void write_message(MutableBytes out, std::uint64_t number, std::uint64_t now) noexcept {
  store_be(out.data(), number);
  store_be(out.data() + 8, now);
  std::memcpy(out.data() + kStamp, filling(number), out.size() - kStamp);
}

inline bool intact(ByteView message, std::size_t size) noexcept {
  return message.size() == size && size >= kStamp &&
         std::memcmp(message.data() + kStamp, filling(load_be<std::uint64_t>(message.data())), size - kStamp) == 0;
}

struct Arrival {
  std::uint64_t number, sent_ns, arrived_ns;
};

struct Received {
  std::uint64_t packets = 0, duplicates = 0, overtaken = 0, corrupted = 0, longest_gap_ns = 0;
  std::vector<Arrival> arrivals;
};

struct Load {
  double rate, seconds;
  std::size_t size;
  [[nodiscard]] std::uint64_t total() const noexcept { return static_cast<std::uint64_t>(rate * seconds); }
};

inline void sleep_until(std::uint64_t when_ns) noexcept {
  const timespec when{static_cast<time_t>(when_ns / 1'000'000'000), static_cast<long>(when_ns % 1'000'000'000)};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

inline constexpr double kEachByItself =
    10'000;  // packets/s up to which every datagram is sent and received at its own time, so that delays mean something
inline constexpr std::size_t kBurst = 64;  // datagrams handed to the kernel in one call above that

/// Sends single datagrams against absolute deadlines: each at its own, or, at high rates, bursts of kBurst at the time
/// the last of them is due, with one sendmmsg and a sleep in between: a sender that spins takes a processor away from
/// what is measured. Ends early when `stop` becomes true. Returns how many were sent.
inline std::uint64_t send_load(const Load& load, int fd, const SockAddr& to, const std::atomic<bool>& stop) {
  ::prctl(PR_SET_TIMERSLACK, 1000);
  const auto size = std::clamp(load.size, kStamp, std::size_t{2048});
  const auto burst = load.rate <= kEachByItself ? 1 : kBurst;
  Bytes packets(burst * size);
  UdpSender out(false);
  const auto total = load.total();
  const double step_ns = 1e9 / load.rate;
  const auto start = now_ns();
  std::uint64_t sent = 0;
  while (sent < total && !stop.load(std::memory_order_relaxed)) {
    const auto count = std::min<std::uint64_t>(burst, total - sent);
    const auto due_at = start + static_cast<std::uint64_t>(static_cast<double>(sent + count - 1) * step_ns);
    if (now_ns() < due_at) sleep_until(due_at);
    const auto stamp = now_ns();
    for (std::size_t i = 0; i < count; ++i) {
      const auto packet = MutableBytes(packets).subspan(i * size, size);
      write_message(packet, sent + i, stamp);
      out.add(packet);
    }
    (void)out.flush(fd, to);
    sent += count;
  }
  return sent;
}

/// Receives until everything that was sent arrived, or nothing came for 300 ms after `finished`. At high rates it looks
/// once a millisecond and takes all there is: a receiver that is woken for every datagram takes a processor away from
/// what is measured.
inline void receive_load(const Load& load, int fd, const std::atomic<bool>& finished,
                         const std::atomic<std::uint64_t>& sent, Received& out) {
  constexpr std::uint64_t kPauseNs = 1'000'000;
  UdpReceiver in(256, 2048, 0, 0, false);
  const auto most = load.total();
  const bool each = load.rate <= kEachByItself;
  std::vector<bool> seen(most);
  out.arrivals.resize(most);  // touches the memory now, not while measuring
  out.arrivals.clear();
  std::uint64_t highest = 0;
  pollfd wait{fd, POLLIN, 0};
  for (;;) {
    if (::poll(&wait, 1, 300) == 0 && finished) return;
    const auto got = in.receive(fd);
    const auto now = now_ns();
    for (std::size_t i = 0; i < got; ++i) {
      const auto bytes = in.slot(i).bytes;
      if (!intact(bytes, std::max(load.size, kStamp)) || load_be<std::uint64_t>(bytes.data()) >= most) {
        ++out.corrupted;
        continue;
      }
      const auto number = load_be<std::uint64_t>(bytes.data());
      if (seen[number]) {
        ++out.duplicates;
        continue;
      }
      seen[number] = true;
      ++out.packets;
      if (number < highest) ++out.overtaken;
      highest = std::max(highest, number);
      if (!out.arrivals.empty())
        out.longest_gap_ns = std::max(out.longest_gap_ns, now - out.arrivals.back().arrived_ns);
      out.arrivals.push_back({number, load_be<std::uint64_t>(bytes.data() + 8), now});
    }
    if (finished && out.packets >= sent.load()) return;
    if (!each && got < in.capacity()) sleep_until(now + kPauseNs);
  }
}

/// What is reported of one direction, as members of a JSON object.
inline void print_counts(std::uint64_t sent, const Received& r) {
  const auto count = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "\"sent\": %llu, \"received\": %llu, \"lost\": %llu, \"duplicates\": %llu, \"overtaken\": %llu, \"corrupted\": "
      "%llu, \"longest_gap_ms\": %.3f",
      count(sent), count(r.packets), count(sent - r.packets), count(r.duplicates), count(r.overtaken),
      count(r.corrupted), static_cast<double>(r.longest_gap_ns) / 1e6);
}

/// The command line of a load program: --rate, --size and --seconds fill `load`, and each of `texts` that is empty must
/// be given. Runs `body` and returns the exit code.
template <typename Body>
int main_of(const char* program, int argc, char** argv, Load load, std::map<std::string, std::string> texts,
            Body body) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--rate")
      load.rate = std::atof(value.c_str());
    else if (name == "--size")
      load.size = static_cast<std::size_t>(std::atoi(value.c_str()));
    else if (name == "--seconds")
      load.seconds = std::atof(value.c_str());
    else if (const auto text = texts.find(name); text != texts.end())
      text->second = value;
    else
      return 2;
  }
  for (const auto& [name, value] : texts)
    if (value.empty()) {
      std::cerr << program << ": " << name << " is missing\n";
      return 2;
    }
  try {
    body(texts, load);
    return 0;
  } catch (const TunnelError& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace pqcmav::load
