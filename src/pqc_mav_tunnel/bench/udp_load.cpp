// A load of single datagrams through anything that forwards UDP: a paced sender and a receiver as two threads of one process. Prints one JSON object.
//
//   udp_load --to HOST:PORT --receive HOST:PORT [--rate N/s] [--size BYTES] [--seconds S]
// Each datagram carries its number and send time; the result counts sent, received, duplicated and overtaken datagrams and gives one-way delays.
#include <poll.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "pqc_mav_tunnel/bytes.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "src/net.hpp"
#include "src/udp_batch.hpp"

namespace {

using namespace pqcmav;

struct Options {
  std::string to, receive;
  double rate = 320, seconds = 2;
  std::size_t size = 256;
};

struct Received {
  std::uint64_t packets = 0, duplicates = 0, overtaken = 0, longest_gap_ns = 0;
  std::vector<std::uint32_t> delays_ns;
};

void sleep_until(std::uint64_t when_ns) {
  const timespec when{static_cast<time_t>(when_ns / 1'000'000'000), static_cast<long>(when_ns % 1'000'000'000)};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

/// Sends what is due in single datagrams; sleeps only when ahead by a millisecond, or per packet at low rates, where delays are measured.
std::uint64_t send_all(const Options& options, int fd, const SockAddr& to) {
  ::prctl(PR_SET_TIMERSLACK, 1000);
  Bytes packet(std::max<std::size_t>(options.size, 16), 0x5a);
  const auto total = static_cast<std::uint64_t>(options.rate * options.seconds);
  const double step_ns = 1e9 / options.rate;
  const bool each = options.rate <= 10'000;
  const auto start = now_ns();
  std::uint64_t sent = 0;
  while (sent < total) {
    const auto due_at = start + static_cast<std::uint64_t>(static_cast<double>(sent) * step_ns);
    const auto now = now_ns();
    if (now < due_at && (each || due_at - now > 200'000)) {
      sleep_until(due_at);
      continue;
    }
    const auto due = each ? sent + 1 : std::min(total, static_cast<std::uint64_t>(static_cast<double>(now - start) / step_ns) + 1);
    for (; sent < due; ++sent) {
      store_be(packet.data(), sent);
      store_be(packet.data() + 8, now_ns());
      if (::sendto(fd, packet.data(), packet.size(), 0, to.get(), to.size) < 0) std::this_thread::yield();
    }
  }
  return sent;
}

void receive_all(int fd, std::uint64_t expected, const std::atomic<bool>& finished, Received& out) {
  UdpReceiver in(64, 2048, 0, 0, false);
  std::vector<bool> seen(expected);
  out.delays_ns.reserve(expected);
  std::uint64_t highest = 0, last_ns = 0;
  pollfd wait{fd, POLLIN, 0};
  for (;;) {
    if (::poll(&wait, 1, 300) == 0 && finished) return;
    const auto got = in.receive(fd);
    const auto now = now_ns();
    for (std::size_t i = 0; i < got; ++i) {
      const auto bytes = in.slot(i).bytes;
      if (bytes.size() < 16) continue;
      const auto number = load_be<std::uint64_t>(bytes.data());
      if (number >= expected) continue;
      if (seen[number]) {
        ++out.duplicates;
        continue;
      }
      seen[number] = true;
      ++out.packets;
      if (number < highest) ++out.overtaken;
      highest = std::max(highest, number);
      out.delays_ns.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(now - load_be<std::uint64_t>(bytes.data() + 8), ~std::uint32_t{0})));
      if (last_ns != 0) out.longest_gap_ns = std::max(out.longest_gap_ns, now - last_ns);
      last_ns = now;
    }
    if (out.packets == expected && finished) return;
  }
}

double quantile_us(std::vector<std::uint32_t>& sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))] / 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--to") options.to = value;
    else if (name == "--receive") options.receive = value;
    else if (name == "--rate") options.rate = std::atof(value.c_str());
    else if (name == "--size") options.size = static_cast<std::size_t>(std::atoi(value.c_str()));
    else if (name == "--seconds") options.seconds = std::atof(value.c_str());
    else return 2;
  }
  try {
    const auto sink = open_udp(resolve_endpoint(options.receive, "--receive"), {16384, -1, false}, "the receiver");
    const auto to = resolve_endpoint(options.to, "--to");
    auto any = to;
    any.set_port(0);
    const auto source = open_udp(any, {4096, -1, false}, "the sender");
    const auto expected = static_cast<std::uint64_t>(options.rate * options.seconds);
    std::atomic<bool> finished{false};
    Received received;
    std::thread receiver([&] { receive_all(sink.get(), expected, finished, received); });
    const auto before = now_ns();
    const auto sent = send_all(options, source.get(), to);
    const auto took = static_cast<double>(now_ns() - before) / 1e9;
    finished = true;
    receiver.join();
    auto& delays = received.delays_ns;
    std::sort(delays.begin(), delays.end());
    std::printf(
        "{\"sent\": %llu, \"received\": %llu, \"lost\": %llu, \"duplicates\": %llu, \"overtaken\": %llu, \"rate_achieved\": %.1f, \"longest_gap_ms\": %.3f, \"delay_us\": {\"p50\": %.2f, "
        "\"p90\": %.2f, \"p99\": %.2f, \"max\": %.2f}}\n",
        static_cast<unsigned long long>(sent), static_cast<unsigned long long>(received.packets), static_cast<unsigned long long>(sent - received.packets),
        static_cast<unsigned long long>(received.duplicates), static_cast<unsigned long long>(received.overtaken), static_cast<double>(sent) / took,
        static_cast<double>(received.longest_gap_ns) / 1e6, quantile_us(delays, 0.5), quantile_us(delays, 0.9), quantile_us(delays, 0.99), quantile_us(delays, 1.0));
    return 0;
  } catch (const TunnelError& error) {
    std::cerr << "udp_load: " << error.what() << '\n';
    return 1;
  }
}
