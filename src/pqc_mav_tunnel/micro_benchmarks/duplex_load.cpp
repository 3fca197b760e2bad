// Numbered datagrams both ways through a tunnel, until SIGTERM or the time is up; every arrival goes to a log, so that gaps can be laid beside events.
//
//   duplex_load --drone HOST:PORT --ground HOST:PORT --gcs HOST:PORT --log PREFIX [--rate N/s] [--size BYTES] [--seconds S]
// --drone: the drone's plaintext port; --ground: where the gcs delivers; --gcs: the gcs' plaintext port for this drone. Writes PREFIX.down and PREFIX.up
// (records of three u64, native order: number, sent ns, arrived ns on the monotonic clock) and prints one JSON object.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "load.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace {

using namespace pqcmav;

std::atomic<bool> stop{false};

struct Direction {
  std::atomic<bool> finished{false};
  std::atomic<std::uint64_t> sent{~std::uint64_t{0}};
  bench::Received received;
};

void print(const char* name, const Direction& direction, const char* end) {
  const auto& r = direction.received;
  std::printf(
      "\"%s\": {\"sent\": %llu, \"received\": %llu, \"lost\": %llu, \"duplicates\": %llu, \"overtaken\": %llu, \"corrupted\": %llu, \"longest_gap_ms\": "
      "%.3f}%s",
      name, static_cast<unsigned long long>(direction.sent.load()), static_cast<unsigned long long>(r.packets),
      static_cast<unsigned long long>(direction.sent.load() - r.packets), static_cast<unsigned long long>(r.duplicates),
      static_cast<unsigned long long>(r.overtaken), static_cast<unsigned long long>(r.corrupted), static_cast<double>(r.longest_gap_ns) / 1e6, end);
}

void write_log(const std::string& path, const bench::Received& received) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(received.arrivals.data()), static_cast<std::streamsize>(received.arrivals.size() * sizeof(bench::Arrival)));
  if (!out) throw TunnelError(Errc::io, "Cannot write " + path + ".");
}

void run(const std::string& drone_text, const std::string& ground_text, const std::string& gcs_text, const std::string& log, const bench::Load& load) {
  const auto drone = resolve_endpoint(drone_text, "--drone");
  const auto gcs = resolve_endpoint(gcs_text, "--gcs");
  auto any = drone;
  any.set_port(0);
  const auto vehicle = open_udp(any, {4096, -1, false}, "the vehicle");
  const auto ground = open_udp(resolve_endpoint(ground_text, "--ground"), {4096, -1, false}, "the ground software");
  Direction down, up;
  const auto send = [&](Direction& direction, const Fd& from, const SockAddr& to) {
    direction.sent = bench::send_load(load, from.get(), to, stop);
    direction.finished = true;
  };
  // The drone answers whoever spoke to it last: nothing may go up before this run's vehicle was heard, or it would reach the last run's.
  const auto send_up = [&] {
    while (!down.received.heard && !down.finished) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    send(up, ground, gcs);
  };
  std::thread threads[] = {
      std::thread([&] { bench::receive_load(load, ground.get(), down.finished, down.sent, down.received); }),
      std::thread([&] { bench::receive_load(load, vehicle.get(), up.finished, up.sent, up.received); }),
      std::thread([&] { send(down, vehicle, drone); }),
      std::thread(send_up),
  };
  for (auto& thread : threads) thread.join();
  write_log(log + ".down", down.received);
  write_log(log + ".up", up.received);
  std::printf("{");
  print("down", down, ", ");
  print("up", up, "}\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::string drone, ground, gcs, log;
  bench::Load load{320, 3600, 280};
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--drone")
      drone = value;
    else if (name == "--ground")
      ground = value;
    else if (name == "--gcs")
      gcs = value;
    else if (name == "--log")
      log = value;
    else if (name == "--rate")
      load.rate = std::atof(value.c_str());
    else if (name == "--size")
      load.size = static_cast<std::size_t>(std::atoi(value.c_str()));
    else if (name == "--seconds")
      load.seconds = std::atof(value.c_str());
    else
      return 2;
  }
  std::signal(SIGTERM, [](int) { stop = true; });
  std::signal(SIGINT, [](int) { stop = true; });
  try {
    run(drone, ground, gcs, log, load);
    return 0;
  } catch (const TunnelError& error) {
    std::cerr << "duplex_load: " << error.what() << '\n';
    return 1;
  }
}
