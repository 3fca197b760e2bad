// SPDX-License-Identifier: Apache-2.0
// A load of single datagrams through anything that forwards UDP: a paced sender and a receiver as two threads of one
// process. Prints one JSON object.
//
//   udp_load --to HOST:PORT --receive HOST:PORT [--rate N/s] [--size BYTES] [--seconds S]
#include <cstdio>
#include <string>

#include "load.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace {

using namespace pqcmav;

double quantile_us(const std::vector<std::uint64_t>& sorted, double q) {
  return sorted.empty()
             ? 0
             : static_cast<double>(sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))]) / 1e3;
}

void run(const std::string& to_text, const std::string& receive_text, const load::Load& given) {
  const auto sink = open_udp(resolve_endpoint(receive_text, "--receive"), {16384, -1, false}, "the receiver");
  const auto to = resolve_endpoint(to_text, "--to");
  auto any = to;
  any.set_port(0);
  const auto source = open_udp(any, {4096, -1, false}, "the sender");
  // Connected, so that no route is looked up for every datagram.
  if (::connect(source.get(), to.get(), to.size) != 0)
    throw TunnelError(Errc::io, "Cannot connect to " + to.text() + ".");
  std::atomic<bool> finished{false}, stop{false};
  std::atomic<std::uint64_t> sent{given.total()};
  load::Received received;
  std::thread receiver([&] { load::receive_load(given, sink.get(), finished, sent, received); });
  const auto before = now_ns();
  sent = load::send_load(given, source.get(), SockAddr{}, stop);
  const auto took = static_cast<double>(now_ns() - before) / 1e9;
  finished = true;
  receiver.join();

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
  return load::main_of(
      "udp_load", argc, argv, {320, 2, 256}, {{"--to", ""}, {"--receive", ""}},
      [](const auto& texts, const load::Load& given) { run(texts.at("--to"), texts.at("--receive"), given); });
}
