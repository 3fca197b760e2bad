// SPDX-License-Identifier: Apache-2.0
// Two engines on loopback in one process, by the public headers alone: keys are made, a few datagrams go both ways, a
// rekey changes the suite, a few more follow. Prints what it did; exit code 1 with one line when something is missing.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/engine.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "pqc_mav_tunnel/process.hpp"
#include "pqc_mav_tunnel/suites.hpp"
#include "pqc_mav_tunnel/version.hpp"

namespace {

using namespace std::chrono_literals;
using pqcmav::Engine;
using pqcmav::EngineConfig;
using pqcmav::FlatConfig;

constexpr const char* kHost = "127.0.0.1";
constexpr const char* kFirst = "cs-mlkem512-aesgcm-mldsa44";
constexpr const char* kSecond = "cs-mlkem512-ascon128a-mldsa44";
constexpr int kDatagrams = 5;

void require(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  ::inet_pton(AF_INET, kHost, &out.sin_addr);
  return out;
}

/// An application: the autopilot, or the ground software.
class Application {
 public:
  Application() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    auto address = loopback(0);
    socklen_t size = sizeof address;
    require(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0, "cannot bind a socket");
    require(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0, "cannot read a socket's address");
    port_ = ntohs(address.sin_port);
  }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application() { ::close(fd_); }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  void send(const std::string& text, std::uint16_t port) const {
    const auto to = loopback(port);
    require(::sendto(fd_, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) > 0,
            "cannot send");
  }
  [[nodiscard]] std::string receive() const {
    pollfd wait{fd_, POLLIN, 0};
    char buffer[256];
    if (::poll(&wait, 1, 20'000) <= 0) return "(nothing)";
    const auto got = ::recv(fd_, buffer, sizeof buffer, 0);
    return got < 0 ? "(nothing)" : std::string(buffer, static_cast<std::size_t>(got));
  }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

FlatConfig common(const std::string& role, const std::string& keys, std::uint16_t data) {
  return {{"role", role}, {"keys", keys}, {"bind", kHost}, {"data_port", std::int64_t{data}}};
}

void wait_until_up(const Engine& engine) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (engine.status().front().state != pqcmav::LinkState::up) {
    require(std::chrono::steady_clock::now() < deadline, "no session: " + engine.status().front().last_error);
    std::this_thread::sleep_for(10ms);
  }
}

void round_trips(const Application& autopilot, std::uint16_t drone, const Application& ground, std::uint16_t gcs) {
  for (int i = 0; i < kDatagrams; ++i) {
    const auto number = std::to_string(i);
    autopilot.send("telemetry " + number, drone);
    require(ground.receive() == "telemetry " + number, "telemetry " + number + " did not arrive");
    ground.send("command " + number, gcs);
    require(autopilot.receive() == "command " + number, "command " + number + " did not arrive");
  }
}

void run(const std::string& keys) {
  pqcmav::init_keys(keys, {"uav1"}, {"mldsa44"});
  require(pqcmav::list_keys(keys).size() == 5, "not the keys that were asked for");
  const Application autopilot, ground;

  auto values = common("gcs", keys + "/gcs", 0);
  values["drones"] = std::vector<std::string>{"uav1"};
  values["allowed_suites"] = std::vector<std::string>{kFirst, kSecond};
  values["drone.uav1.plain_peer"] = std::string(kHost) + ":" + std::to_string(ground.port());
  Engine gcs(EngineConfig::from_flat(values));
  gcs.start();
  const auto ports = gcs.ports();

  values = common("drone", keys + "/drones/uav1", ports.data);
  values["drone_id"] = std::string("uav1");
  values["peer"] = std::string(kHost);
  values["suite"] = std::string(kFirst);
  values["local_data_port"] = std::int64_t{0};
  values["plain_bind"] = std::string(kHost) + ":0";
  Engine drone(EngineConfig::from_flat(values));
  drone.start();
  wait_until_up(drone);

  const auto at_drone = drone.ports().plain.front().second, at_gcs = ports.plain.front().second;
  round_trips(autopilot, at_drone, ground, at_gcs);
  const auto rekey = gcs.request_rekey("uav1", kSecond, "consumer", 20s);
  require(rekey.ok, rekey.message);
  round_trips(autopilot, at_drone, ground, at_gcs);
  require(drone.status().front().suite == kSecond, "the suite is " + drone.status().front().suite);

  bool heard = false;
  for (const auto& event : drone.events().wait(0ns, 100))
    if (const auto* handshake = std::get_if<pqcmav::HandshakeEvent>(&event.what))
      heard = heard || handshake->kind == pqcmav::HandshakeKind::rekey;
  require(heard, "no event tells of the rekey");
  drone.stop();
  gcs.stop();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  (void)pqcmav::forbid_core_dumps();
  try {
    run(argv[1]);
  } catch (const pqcmav::TunnelError& error) {
    std::cerr << "consumer: " << to_string(error.code()) << ": " << error.what() << '\n';
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "consumer: " << error.what() << '\n';
    return 1;
  }
  std::cout << "engine " << pqcmav::engine_version() << ", headers " << PQC_MAV_TUNNEL_VERSION << ": " << 4 * kDatagrams
            << " datagrams and a rekey from " << kFirst << " to " << kSecond << '\n';
  return 0;
}
