// SPDX-License-Identifier: Apache-2.0
// Engines on loopback with ephemeral ports, their keys, and the applications at both ends.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "bytes.hpp"
#include "constants.hpp"
#include "net/net.hpp"
#include "pqc_mav_tunnel/engine.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "temp_folder.hpp"

namespace pqcmav::test {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

inline constexpr const char* kLight = "cs-mlkem512-aesgcm-mldsa44";
/// Does a library of this machine have it?
inline bool has_suite(std::string_view suite) { return availability(*find_suite(suite)).available; }

/// As long as a loaded machine under a sanitizer may need; an emulated one takes PQCMAV_PATIENCE times as long.
inline milliseconds patience() {
  const auto* times = std::getenv("PQCMAV_PATIENCE");
  return 20s * std::max(times == nullptr ? 1 : std::atoi(times), 1);
}

/// Waits for a condition.
template <typename Condition>
bool eventually(Condition condition, milliseconds limit = patience()) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

/// Key folders of one gcs and some drones, gone after the test.
class KeyFolders {
 public:
  explicit KeyFolders(const Names& drones = {"uav1"}, const Names& sigs = {"mldsa44", "mldsa65"},
                      bool drone_signatures = false) {
    init_keys(root_.path(), drones, sigs, drone_signatures);
  }
  [[nodiscard]] std::string gcs() const { return root_ / "gcs"; }
  [[nodiscard]] std::string drone(const std::string& id) const { return root_ / ("drones/" + id); }
  [[nodiscard]] const std::filesystem::path& root() const { return root_.path(); }

 private:
  TempFolder root_;
};

/// A datagram socket of an application or an attacker.
class UdpPeer {
 public:
  explicit UdpPeer(const std::string& host = "127.0.0.1")
      : fd_(open_udp(resolve(host, 0, true, SOCK_DGRAM), {}, "a test")), address_(local_address(fd_)) {}
  [[nodiscard]] const SockAddr& address() const { return address_; }
  [[nodiscard]] int fd() const { return fd_.get(); }

  void send(ByteView bytes, const SockAddr& to) const {
    ASSERT_EQ(::sendto(fd_.get(), bytes.data(), bytes.size(), 0, to.get(), to.size),
              static_cast<ssize_t>(bytes.size()));
  }
  void send(std::string_view text, const SockAddr& to) const { send(as_bytes(text), to); }
  void send(ByteView bytes, std::uint16_t port) const { send(bytes, resolve("127.0.0.1", port, false, SOCK_DGRAM)); }
  void send(std::string_view text, std::uint16_t port) const { send(as_bytes(text), port); }

  /// The next datagram, or nullopt when none comes in time.
  [[nodiscard]] std::optional<Bytes> receive(milliseconds limit = 10s) {
    pollfd wait{fd_.get(), POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
    buffer_.resize(65536);
    source_.size = sizeof source_.storage;
    const auto got = ::recvfrom(fd_.get(), buffer_.data(), buffer_.size(), 0, source_.get(), &source_.size);
    if (got < 0) return std::nullopt;
    return Bytes(buffer_.begin(), buffer_.begin() + got);
  }
  [[nodiscard]] std::string receive_text(milliseconds limit = 10s) {
    const auto bytes = receive(limit);
    return bytes ? std::string(as_text(*bytes)) : "(nothing)";
  }
  [[nodiscard]] const SockAddr& source() const { return source_; }
  /// What has already arrived, up to a limit: under a sanitizer packets may come faster than they are read.
  std::vector<Bytes> drain(std::size_t most = 10'000) {
    std::vector<Bytes> out;
    while (out.size() < most) {
      auto bytes = receive(0ms);
      if (!bytes) break;
      out.push_back(std::move(*bytes));
    }
    return out;
  }

 private:
  Fd fd_;
  SockAddr address_, source_;
  Bytes buffer_;
};

inline bool has_ipv6() {
  try {
    const auto probe = open_udp(resolve("::1", 0, true, SOCK_DGRAM), {}, "a test");
    return true;
  } catch (const TunnelError&) {
    return false;
  }
}

inline FlatConfig with(FlatConfig base, const FlatConfig& more) {
  for (const auto& [key, value] : more) base[key] = value;
  return base;
}

/// So many data threads has every gcs of these tests: CMake lists them a second time with two.
inline std::int64_t data_threads() {
  const auto* given = std::getenv("PQCMAV_TEST_DATA_THREADS");
  return given == nullptr ? 1 : std::stoll(given);
}

inline FlatConfig gcs_values(const KeyFolders& keys, const Names& drones = {"uav1"}) {
  return {{"role", "gcs"},  {"keys", keys.gcs()},  {"drones", drones},        {"bind", "127.0.0.1"},
          {"data_port", 0}, {"key_pool_depth", 0}, {"control_socket", "off"}, {"data_threads", data_threads()}};
}

inline FlatConfig drone_values(const KeyFolders& keys, const std::string& id, std::uint16_t data_port) {
  return {{"role", "drone"},        {"keys", keys.drone(id)}, {"drone_id", id},  {"peer", "127.0.0.1"},
          {"data_port", data_port}, {"local_data_port", 0},   {"suite", kLight}, {"plain_bind", "127.0.0.1:0"},
          {"bind", "127.0.0.1"},    {"control_socket", "off"}};
}

/// Timers short enough to wait for.
inline FlatConfig quick(FlatConfig base) {
  base = with(std::move(base), {{"keepalive_s", 0.1}, {"degraded_after_s", 0.3}, {"grace_s", 0.2}});
  if (std::get<std::string>(base.at("role")) == "drone") base["reconnect_after_s"] = 0.6;
  return base;
}

/// Timers that a machine does not reach however slow it is, as an emulated one may be.
inline FlatConfig patient(FlatConfig base) {
  base["degraded_after_s"] = 60.0;
  if (std::get<std::string>(base.at("role")) == "drone") base["reconnect_after_s"] = 60.0;
  return base;
}

/// While it lives, this thread and those that it starts have one processor. Over loopback, packets of a thread that
/// changes its processor overtake those that the one before has not passed on yet: on one, their order is the tunnel's.
class OneProcessor {
 public:
  OneProcessor() {
    CPU_ZERO(&before_);
    EXPECT_EQ(::sched_getaffinity(0, sizeof before_, &before_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    EXPECT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~OneProcessor() { (void)::sched_setaffinity(0, sizeof before_, &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_;
};

inline std::unique_ptr<Engine> start(const FlatConfig& values) {
  auto engine = std::make_unique<Engine>(EngineConfig::from_flat(values));
  engine->start();
  return engine;
}

inline std::uint64_t value_of(const NamedCounters& counters, std::string_view name) {
  for (const auto& [key, value] : counters)
    if (key == name) return value;
  ADD_FAILURE() << "no counter " << name;
  return 0;
}
inline std::uint64_t total(const Engine& engine, std::string_view name) { return value_of(engine.totals(), name); }
inline std::uint64_t stat(const Engine& engine, std::string_view name, std::size_t link = 0) {
  return value_of(engine.stats().at(link).counters, name);
}
inline LinkStatus status(const Engine& engine, std::size_t link = 0) { return engine.status().at(link); }
inline LinkState state(const Engine& engine, std::size_t link = 0) { return status(engine, link).state; }

inline std::string plain_port_name(const std::string& id, const char* key) { return "drone." + id + "." + key; }
inline std::uint16_t plain_port(const Engine& engine, const std::string& id) {
  for (const auto& [name, port] : engine.ports().plain)
    if (name == id) return port;
  ADD_FAILURE() << "no plaintext port of " << id;
  return 0;
}

inline bool up(const Engine& engine, std::size_t link = 0) { return state(engine, link) == LinkState::up; }

/// docs/protocol.md section 5: every datagram ends in exactly one outcome. Only true while nothing is in flight.
inline constexpr const char* kOutcomes[] = {
    "delivered",         "control",  "drop_malformed", "drop_unknown", "drop_seq_old", "drop_replay", "drop_auth_fail",
    "drop_decrypt_fail", "hs_taken", "hs_repeated",    "hs_malformed", "hs_unknown",   "hs_tag",      "hs_gate",
    "hs_replay",         "hs_limit", "drop_standby",   "drop_copy",    "drop_late"};
inline void expect_all_accounted_for(const Engine& engine) {
  const auto sum = [](const Engine& e) {
    const auto t = e.totals();
    std::uint64_t out = 0;
    for (const auto* outcome : kOutcomes) out += value_of(t, outcome);
    return std::pair(value_of(t, "enc_rx_datagrams"), out);
  };
  EXPECT_TRUE(eventually([&] {
    const auto [received, outcomes] = sum(engine);
    return received == outcomes;
  })) << sum(engine).first
      << " datagrams, " << sum(engine).second << " outcomes";
}

/// Handshake events of an engine, gathered while waiting for one that satisfies a condition.
class EventLog {
 public:
  explicit EventLog(Engine& engine) : engine_(engine) {}
  void gather(milliseconds wait = 0ms) {
    for (auto& event : engine_.events().wait(wait, 1024)) events_.push_back(std::move(event));
  }
  template <typename What, typename Condition>
  std::optional<What> wait_for(Condition condition, milliseconds limit = patience()) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (std::size_t next = 0;;) {
      for (; next < events_.size(); ++next)
        if (const auto* what = std::get_if<What>(&events_[next].what); what != nullptr && condition(*what))
          return *what;
      if (std::chrono::steady_clock::now() > deadline) return std::nullopt;
      gather(10ms);
    }
  }
  [[nodiscard]] const std::vector<Event>& all() const { return events_; }

 private:
  Engine& engine_;
  std::vector<Event> events_;
};

/// A gcs and a drone, with the autopilot's and the ground software's sockets.
class Tunnel {
 public:
  explicit Tunnel(const FlatConfig& gcs_more = {}, const FlatConfig& drone_more = {})
      : Tunnel(std::make_unique<KeyFolders>(), gcs_more, drone_more) {}
  Tunnel(std::unique_ptr<KeyFolders> key_folders, const FlatConfig& gcs_more, const FlatConfig& drone_more)
      : keys(std::move(key_folders)) {
    gcs = start(with(with(gcs_values(*keys), {{"drone.uav1.plain_peer", ground.address().text()}}), gcs_more));
    const auto ports = gcs->ports();
    drone = start(with(drone_values(*keys, "uav1", ports.data), drone_more));
  }
  [[nodiscard]] bool connect() {
    return eventually([&] { return up(*gcs) && up(*drone); });
  }
  void send_up(std::string_view text) { autopilot.send(text, plain_port(*drone, "uav1")); }
  void send_down(std::string_view text) { ground.send(text, plain_port(*gcs, "uav1")); }

  std::unique_ptr<KeyFolders> keys;
  UdpPeer autopilot, ground;
  std::unique_ptr<Engine> gcs, drone;
};

/// A message goes up and its answer comes down.
inline void expect_round_trip(Tunnel& tunnel, const std::string& text) {
  tunnel.send_up(text);
  ASSERT_EQ(tunnel.ground.receive_text(), text);
  tunnel.send_down("re " + text);
  ASSERT_EQ(tunnel.autopilot.receive_text(), "re " + text);
}

}  // namespace pqcmav::test
