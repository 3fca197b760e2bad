// SPDX-License-Identifier: Apache-2.0
// pqcmav-tunneld: the tunnel from one YAML file, for machines without ROS or Python.
#include <poll.h>
#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>

#include "config_yaml.hpp"
#include "net/net.hpp"
#include "pqc_mav_tunnel/engine.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/process.hpp"
#include "pqc_mav_tunnel/version.hpp"

namespace {

using namespace pqcmav;

constexpr const char* kUsage =
    "Usage: pqcmav-tunneld [--check] CONFIG.yaml\n"
    "Runs one end of a PQC-MAV tunnel until SIGINT or SIGTERM. docs/configuration.md explains every key.\n"
    "  --check      read configuration and keys and say whether they are good; open no socket\n"
    "  --preflight  list the algorithms this liboqs has, and what is missing\n"
    "  --version    print the versions of the engine and of liboqs\n"
    "Exit codes: 0 ended cleanly, 1 the tunnel could not run, 2 wrong usage or configuration.\n";

std::string line_of(const Event& event) {
  std::string who = event.drone_id.empty() ? "" : "[" + event.drone_id + "] ";
  if (const auto* state = std::get_if<StateEvent>(&event.what))
    return who + std::string(to_string(state->before)) + " -> " + std::string(to_string(state->after)) + ": " +
           state->reason;
  if (const auto* log = std::get_if<LogEvent>(&event.what))
    return who + std::string(to_string(log->level)) + ": " + log->text;
  const auto& handshake = std::get<HandshakeEvent>(event.what);
  char ms[32];
  std::snprintf(ms, sizeof ms, "%.1f ms", static_cast<double>(handshake.duration_ns) / 1e6);
  if (handshake.ok)
    return who + (handshake.rekey ? "rekey" : "handshake") + " with " + handshake.peer + " under " +
           find_suite(handshake.suite)->short_code + (handshake.hybrid ? " + X25519" : "") + " in " + ms;
  return who + "handshake failed (" + std::string(to_string(handshake.error)) + "): " + handshake.reason;
}

/// Blocks SIGINT and SIGTERM for every thread and gives a descriptor on which they arrive.
Fd signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int list_algorithms() {
  bool all = true;
  std::printf("liboqs %s\n", liboqs_version().c_str());
  for (const auto& check : preflight()) {
    std::printf("%-4s %-26s %s\n", check.kind.c_str(), check.display.c_str(),
                check.available ? ("available as " + check.oqs_name).c_str() : check.reason.c_str());
    all = all && check.available;
  }
  return all ? 0 : 1;
}

int run(const std::string& path, bool check_only) {
  if (const auto said = forbid_core_dumps(); !said.empty()) std::cerr << "pqcmav-tunneld: " << said << '\n';
  const auto stop = signals();
  std::unique_ptr<Engine> engine;
  try {
    engine = std::make_unique<Engine>(EngineConfig::from_flat(load_yaml_config(path)));
    if (!check_only) engine->start();
  } catch (const TunnelError& error) {
    std::cerr << "pqcmav-tunneld: " << error.what() << '\n';
    return is_configuration(error.code()) ? 2 : 1;
  }
  if (check_only) {
    std::cout << path << ": configuration and keys are good.\n";
    return 0;
  }
  const auto ports = engine->ports();
  std::cerr << "pqcmav-tunneld " << engine_version() << ": " << to_string(engine->config().role)
            << ", encrypted UDP port " << ports.data;
  for (const auto& [id, port] : ports.plain) std::cerr << ", plaintext of " << id << " on UDP port " << port;
  std::cerr << std::endl;
  std::thread printer([&] {
    for (bool open = true; open;) {
      const auto events = engine->events().wait(std::chrono::seconds(1), 64);
      for (const auto& event : events) std::cerr << line_of(event) << std::endl;
      open = !engine->events().closed() || !events.empty();
    }
  });
  pollfd wait{stop.get(), POLLIN, 0};
  while (::poll(&wait, 1, -1) < 0) {
  }
  engine->stop();
  printer.join();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool check_only = false;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::cout << kUsage;
      return 0;
    }
    if (argument == "--version") {
      std::cout << "pqcmav-tunneld " << engine_version() << ", liboqs " << liboqs_version() << '\n';
      return 0;
    }
    if (argument == "--preflight") return list_algorithms();
    if (argument == "--check") {
      check_only = true;
    } else if (!path.empty() || argument.starts_with("-")) {
      std::cerr << "pqcmav-tunneld: unexpected argument '" << argument << "'.\n" << kUsage;
      return 2;
    } else {
      path = argument;
    }
  }
  if (path.empty()) {
    std::cerr << kUsage;
    return 2;
  }
  return run(path, check_only);
}
