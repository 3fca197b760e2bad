// SPDX-License-Identifier: Apache-2.0
// A load of numbered, time-stamped datagrams with checkable content through anything that forwards UDP: a paced sender
// and a receiver as two threads of one process. Prints one JSON object.
//
//   udp_load --to HOST:PORT --receive HOST:PORT [--rate N/s] [--size BYTES] [--seconds S] [--from HOST:PORT]
//            [--send-in NAMESPACE] [--receive-in NAMESPACE] [--trip one-way|round]
// A namespace is a file such as /proc/PID/ns/net: the sender and the receiver then stand on two machines with one
// clock. With "--trip round" what arrives at the receiver goes back to the sender, and the delays are round trips.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "bytes.hpp"
#include "net/net.hpp"
#include "net/udp_batch.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace {

using namespace pqcmav;

constexpr std::size_t kStamp = 16;  // number u64, send time u64 (ns, monotonic)

/// The filling of datagrams: each starts at another place of one table, so that a mixed-up payload shows, and writing
/// and checking cost a memcpy and a memcmp: the load must not become the bottleneck it measures.
const std::uint8_t* filling(std::uint64_t number) noexcept {
  static constexpr std::size_t kShifts = 251;
  static const auto table = [] {
    std::array<std::uint8_t, 2048 + kShifts> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>((i * 167) ^ (i >> 3));
    return out;
  }();
  return table.data() + number % kShifts;
}

void write_message(MutableBytes out, std::uint64_t number, std::uint64_t now) noexcept {
  store_be(out.data(), number);
  store_be(out.data() + 8, now);
  std::memcpy(out.data() + kStamp, filling(number), out.size() - kStamp);
}

bool intact(ByteView message, std::size_t size) noexcept {
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

void sleep_until(std::uint64_t when_ns) noexcept {
  const timespec when{static_cast<time_t>(when_ns / 1'000'000'000), static_cast<long>(when_ns % 1'000'000'000)};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

constexpr double kEachByItself =
    10'000;  // packets/s up to which every datagram is sent and received at its own time, so that delays mean something
constexpr std::size_t kBurst = 64;  // datagrams handed to the kernel in one call above that

/// Sends single datagrams to where the socket is connected, against absolute deadlines: each at its own, or, at high
/// rates, bursts of kBurst at the time the last of them is due, with one sendmmsg and a sleep in between: a sender that
/// spins takes a processor away from what is measured. Returns how many were sent.
std::uint64_t send_load(const Load& load, int fd) {
  ::prctl(PR_SET_TIMERSLACK, 1000);
  const auto size = std::clamp(load.size, kStamp, std::size_t{2048});
  const auto burst = load.rate <= kEachByItself ? 1 : kBurst;
  Bytes packets(burst * size);
  UdpSender out(false);
  const auto total = load.total();
  const double step_ns = 1e9 / load.rate;
  const auto start = now_ns();
  std::uint64_t sent = 0;
  while (sent < total) {
    const auto count = std::min<std::uint64_t>(burst, total - sent);
    const auto due_at = start + static_cast<std::uint64_t>(static_cast<double>(sent + count - 1) * step_ns);
    if (now_ns() < due_at) sleep_until(due_at);
    const auto stamp = now_ns();
    for (std::size_t i = 0; i < count; ++i) {
      const auto packet = MutableBytes(packets).subspan(i * size, size);
      write_message(packet, sent + i, stamp);
      out.add(packet);
    }
    (void)out.flush(fd, SockAddr{});
    sent += count;
  }
  return sent;
}

/// Receives until everything that was sent arrived, or nothing came for 300 ms after `finished`. At high rates it looks
/// once a millisecond and takes all there is: a receiver that is woken for every datagram takes a processor away from
/// what is measured.
void receive_load(const Load& load, int fd, const std::atomic<bool>& finished, const std::atomic<std::uint64_t>& sent,
                  Received& out) {
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

double quantile_us(const std::vector<std::uint64_t>& sorted, double q) {
  return sorted.empty()
             ? 0
             : static_cast<double>(sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))]) / 1e3;
}

const std::string kNone = "-";

/// A socket in the network namespace of that file; kNone: in the caller's own. A socket stays where it was made.
Fd open_in(const std::string& space, const SockAddr& local, std::size_t buffer_kib, const std::string& purpose) {
  if (space == kNone) return open_udp(local, {buffer_kib, -1, false}, purpose);
  Fd made;
  std::exception_ptr problem;
  std::thread([&] {
    try {
      const Fd file(::open(space.c_str(), O_RDONLY | O_CLOEXEC));
      if (!file || ::setns(file.get(), CLONE_NEWNET) != 0)
        throw TunnelError(Errc::io, "Cannot enter the network namespace " + space + ": " + system_reason(errno) + ".");
      made = open_udp(local, {buffer_kib, -1, false}, purpose);
    } catch (...) {
      problem = std::current_exception();
    }
  }).join();
  if (problem) std::rethrow_exception(problem);
  return made;
}

/// Sends everything back to where it came from, until `stop`.
void echo(int fd, const std::atomic<bool>& stop) {
  UdpReceiver in(256, 2048, 0, 0, true);
  UdpSender out(false);
  pollfd wait{fd, POLLIN, 0};
  while (!stop.load(std::memory_order_relaxed)) {
    if (::poll(&wait, 1, 50) <= 0) continue;
    const auto got = in.receive(fd);
    for (std::size_t i = 0; i < got; ++i) {
      out.add(in.slot(i).bytes);
      if (i + 1 == got || out.full() || !(in.source(i) == in.source(i + 1))) (void)out.flush(fd, in.source(i));
    }
  }
}

void run(const std::map<std::string, std::string>& texts, const Load& given) {
  const bool round = texts.at("--trip") == "round";
  if (!round && texts.at("--trip") != "one-way")
    throw TunnelError(Errc::address, "--trip is '" + texts.at("--trip") + "': give one-way or round.");
  const auto far = resolve_endpoint(texts.at("--receive"), "--receive");
  const auto sink = open_in(texts.at("--receive-in"), far, 16384, "the receiver");
  const auto to = resolve_endpoint(texts.at("--to"), "--to");
  auto from = to;
  from.set_port(0);
  if (texts.at("--from") != kNone) from = resolve_endpoint(texts.at("--from"), "--from");
  const auto source = open_in(texts.at("--send-in"), from, round ? 16384 : 4096, "the sender");
  // Connected, so that no route is looked up for every datagram.
  if (::connect(source.get(), to.get(), to.size) != 0)
    throw TunnelError(Errc::io, "Cannot connect to " + to.text() + ".");
  std::atomic<bool> finished{false};
  std::atomic<std::uint64_t> sent{given.total()};
  Received received;
  std::atomic<bool> enough{false};
  std::thread mirror;
  if (round) mirror = std::thread([&] { echo(sink.get(), enough); });
  std::thread receiver([&] { receive_load(given, (round ? source : sink).get(), finished, sent, received); });
  const auto before = now_ns();
  sent = send_load(given, source.get());
  const auto took = static_cast<double>(now_ns() - before) / 1e9;
  finished = true;
  receiver.join();
  enough = true;
  if (mirror.joinable()) mirror.join();

  std::vector<std::uint64_t> delays;
  for (const auto& arrival : received.arrivals) delays.push_back(arrival.arrived_ns - arrival.sent_ns);
  std::sort(delays.begin(), delays.end());
  // Until the last arrival: a rate that only fills the buffers on the way is not carried.
  const auto carried_s =
      received.arrivals.empty() ? 0 : static_cast<double>(received.arrivals.back().arrived_ns - before) / 1e9;
  const auto count = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "{\"sent\": %llu, \"received\": %llu, \"lost\": %llu, \"duplicates\": %llu, \"overtaken\": %llu, \"corrupted\": "
      "%llu, \"longest_gap_ms\": %.3f",
      count(sent), count(received.packets), count(sent - received.packets), count(received.duplicates),
      count(received.overtaken), count(received.corrupted), static_cast<double>(received.longest_gap_ns) / 1e6);
  std::printf(
      ", \"rate_achieved\": %.1f, \"rate_carried\": %.1f, \"delay_us\": {\"p50\": %.2f, \"p90\": %.2f, \"p99\": %.2f, "
      "\"max\": %.2f}}\n",
      static_cast<double>(sent) / took, carried_s > 0 ? static_cast<double>(received.packets) / carried_s : 0,
      quantile_us(delays, 0.5), quantile_us(delays, 0.9), quantile_us(delays, 0.99), quantile_us(delays, 1.0));
}

}  // namespace

/// --rate, --size and --seconds fill the load, and each of the texts that is empty must be given.
int main(int argc, char** argv) {
  Load load{320, 2, 256};
  std::map<std::string, std::string> texts{{"--to", ""},         {"--receive", ""},       {"--from", kNone},
                                           {"--send-in", kNone}, {"--receive-in", kNone}, {"--trip", "one-way"}};
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
      std::cerr << "udp_load: " << name << " is missing\n";
      return 2;
    }
  try {
    run(texts, load);
    return 0;
  } catch (const TunnelError& error) {
    std::cerr << "udp_load: " << error.what() << '\n';
    return 1;
  }
}
