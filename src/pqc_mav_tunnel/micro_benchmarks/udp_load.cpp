// A load of single datagrams through anything that forwards UDP: a paced sender and a receiver as two threads of one process. Prints one JSON object.
//
//   udp_load --to HOST:PORT --receive HOST:PORT [--rate N/s] [--size BYTES] [--seconds S]
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "load.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace {

using namespace pqcmav;

double quantile_us(const std::vector<std::uint64_t>& sorted, double q) {
  return sorted.empty() ? 0 : static_cast<double>(sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))]) / 1e3;
}

void run(const std::string& to_text, const std::string& receive_text, const bench::Load& load) {
  const auto sink = open_udp(resolve_endpoint(receive_text, "--receive"), {16384, -1, false}, "the receiver");
  const auto to = resolve_endpoint(to_text, "--to");
  auto any = to;
  any.set_port(0);
  const auto source = open_udp(any, {4096, -1, false}, "the sender");
  // Connected, so that no route is looked up for every datagram.
  if (::connect(source.get(), to.get(), to.size) != 0) throw TunnelError(Errc::io, "Cannot connect to " + to.text() + ".");
  std::atomic<bool> finished{false}, stop{false};
  std::atomic<std::uint64_t> sent{load.total()};
  bench::Received received;
  std::thread receiver([&] { bench::receive_load(load, sink.get(), finished, sent, received); });
  const auto before = now_ns();
  sent = bench::send_load(load, source.get(), SockAddr{}, stop);
  const auto took = static_cast<double>(now_ns() - before) / 1e9;
  finished = true;
  receiver.join();

  std::vector<std::uint64_t> delays;
  for (const auto& arrival : received.arrivals) delays.push_back(arrival.arrived_ns - arrival.sent_ns);
  std::sort(delays.begin(), delays.end());
  // Until the last arrival: a rate that only fills the buffers on the way is not carried.
  const auto carried_s = received.arrivals.empty() ? 0 : static_cast<double>(received.arrivals.back().arrived_ns - before) / 1e9;
  std::printf(
      "{\"sent\": %llu, \"received\": %llu, \"lost\": %llu, \"duplicates\": %llu, \"overtaken\": %llu, \"corrupted\": %llu, \"rate_achieved\": %.1f, "
      "\"rate_carried\": %.1f, \"longest_gap_ms\": %.3f, "
      "\"delay_us\": {\"p50\": %.2f, \"p90\": %.2f, \"p99\": %.2f, \"max\": %.2f}}\n",
      static_cast<unsigned long long>(sent), static_cast<unsigned long long>(received.packets), static_cast<unsigned long long>(sent - received.packets),
      static_cast<unsigned long long>(received.duplicates), static_cast<unsigned long long>(received.overtaken),
      static_cast<unsigned long long>(received.corrupted), static_cast<double>(sent) / took,
      carried_s > 0 ? static_cast<double>(received.packets) / carried_s : 0, static_cast<double>(received.longest_gap_ns) / 1e6, quantile_us(delays, 0.5),
      quantile_us(delays, 0.9), quantile_us(delays, 0.99), quantile_us(delays, 1.0));
}

}  // namespace

int main(int argc, char** argv) {
  std::string to, receive;
  bench::Load load{320, 2, 256};
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--to")
      to = value;
    else if (name == "--receive")
      receive = value;
    else if (name == "--rate")
      load.rate = std::atof(value.c_str());
    else if (name == "--size")
      load.size = static_cast<std::size_t>(std::atoi(value.c_str()));
    else if (name == "--seconds")
      load.seconds = std::atof(value.c_str());
    else
      return 2;
  }
  try {
    run(to, receive, load);
    return 0;
  } catch (const TunnelError& error) {
    std::cerr << "udp_load: " << error.what() << '\n';
    return 1;
  }
}
