// SPDX-License-Identifier: Apache-2.0
// Numbered datagrams both ways through a tunnel, until SIGTERM or the time is up; every arrival goes to a log, so that
// gaps can be compared with events.
//
//   duplex_load --drone HOST:PORT --ground HOST:PORT --gcs HOST:PORT --log PREFIX
//               [--rate N/s] [--size BYTES] [--seconds S]
// --drone: the drone's plaintext port; --ground: where the gcs delivers; --gcs: the gcs' plaintext port for this drone.
// Writes PREFIX.down and PREFIX.up (records of three u64, native order: number, sent ns, arrived ns on the monotonic
// clock) and prints one JSON object.
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "load.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace {

using namespace pqcmav;

std::atomic<bool> stop{false};

struct Direction {
  std::atomic<bool> finished{false};
  std::atomic<std::uint64_t> sent{~std::uint64_t{0}};
  load::Received received;
};

void print(const char* name, const Direction& direction, const char* end) {
  std::printf("\"%s\": {", name);
  load::print_counts(direction.sent.load(), direction.received);
  std::printf("}%s", end);
}

void write_log(const std::string& path, const load::Received& received) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(received.arrivals.data()),
            static_cast<std::streamsize>(received.arrivals.size() * sizeof(load::Arrival)));
  if (!out) throw TunnelError(Errc::io, "Cannot write " + path + ".");
}

void run(const std::map<std::string, std::string>& texts, const load::Load& given) {
  const auto drone = resolve_endpoint(texts.at("--drone"), "--drone");
  const auto gcs = resolve_endpoint(texts.at("--gcs"), "--gcs");
  auto any = drone;
  any.set_port(0);
  const auto vehicle = open_udp(any, {4096, -1, false}, "the vehicle");
  const auto ground =
      open_udp(resolve_endpoint(texts.at("--ground"), "--ground"), {4096, -1, false}, "the ground software");
  Direction down, up;
  const auto send = [&](Direction& direction, const Fd& from, const SockAddr& to) {
    direction.sent = load::send_load(given, from.get(), to, stop);
    direction.finished = true;
  };
  // The drone answers the last sender: nothing may go up before this run's vehicle was heard, or it would
  // reach the last run's.
  const auto send_up = [&] {
    while (!down.received.heard && !down.finished) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    send(up, ground, gcs);
  };
  std::thread threads[] = {
      std::thread([&] { load::receive_load(given, ground.get(), down.finished, down.sent, down.received); }),
      std::thread([&] { load::receive_load(given, vehicle.get(), up.finished, up.sent, up.received); }),
      std::thread([&] { send(down, vehicle, drone); }),
      std::thread(send_up),
  };
  for (auto& thread : threads) thread.join();
  write_log(texts.at("--log") + ".down", down.received);
  write_log(texts.at("--log") + ".up", up.received);
  std::printf("{");
  print("down", down, ", ");
  print("up", up, "}\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGTERM, [](int) { stop = true; });
  std::signal(SIGINT, [](int) { stop = true; });
  return load::main_of("duplex_load", argc, argv, {320, 3600, 280},
                       {{"--drone", ""}, {"--ground", ""}, {"--gcs", ""}, {"--log", ""}}, run);
}
