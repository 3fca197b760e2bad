// SPDX-License-Identifier: Apache-2.0
// A load of single datagrams through anything that forwards UDP: a paced sender and a receiver as two threads of one
// process. Prints one JSON object.
//
//   udp_load --to HOST:PORT --receive HOST:PORT [--rate N/s] [--size BYTES] [--seconds S] [--from HOST:PORT]
//            [--send-in NAMESPACE] [--receive-in NAMESPACE] [--trip one-way|round]
// A namespace is a file such as /proc/PID/ns/net: the sender and the receiver then stand on two machines with one
// clock. With "--trip round" what arrives at the receiver goes back to the sender, and the delays are round trips.
#include <fcntl.h>
#include <sched.h>

#include <cstdio>
#include <exception>
#include <string>

#include "load.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace {

using namespace pqcmav;

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

void run(const std::map<std::string, std::string>& texts, const load::Load& given) {
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
  std::atomic<bool> finished{false}, stop{false};
  std::atomic<std::uint64_t> sent{given.total()};
  load::Received received;
  std::atomic<bool> enough{false};
  std::thread mirror;
  if (round) mirror = std::thread([&] { echo(sink.get(), enough); });
  std::thread receiver([&] { load::receive_load(given, (round ? source : sink).get(), finished, sent, received); });
  const auto before = now_ns();
  sent = load::send_load(given, source.get(), SockAddr{}, stop);
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
  std::printf("{");
  load::print_counts(sent, received);
  std::printf(
      ", \"rate_achieved\": %.1f, \"rate_carried\": %.1f, \"delay_us\": {\"p50\": %.2f, \"p90\": %.2f, \"p99\": %.2f, "
      "\"max\": %.2f}}\n",
      static_cast<double>(sent) / took, carried_s > 0 ? static_cast<double>(received.packets) / carried_s : 0,
      quantile_us(delays, 0.5), quantile_us(delays, 0.9), quantile_us(delays, 0.99), quantile_us(delays, 1.0));
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::string> texts{{"--to", ""},         {"--receive", ""},       {"--from", kNone},
                                                 {"--send-in", kNone}, {"--receive-in", kNone}, {"--trip", "one-way"}};
  return load::main_of("udp_load", argc, argv, {320, 2, 256}, texts, run);
}
