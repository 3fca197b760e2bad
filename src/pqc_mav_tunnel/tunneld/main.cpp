// SPDX-License-Identifier: Apache-2.0
// pqcmav-tunneld: the tunnel from one YAML file, for machines without ROS or Python.
#include <openssl/crypto.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "cold_code.hpp"
#include "config_yaml.hpp"
#include "fd.hpp"
#include "health_file.hpp"
#include "pqc_mav_tunnel/attempt_log.hpp"
#include "pqc_mav_tunnel/calls.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/host.hpp"
#include "pqc_mav_tunnel/process.hpp"
#include "pqc_mav_tunnel/version.hpp"
#include "service_manager.hpp"
#include "text.hpp"

namespace {

using namespace pqcmav;

constexpr const char* kUsage =
    "Usage: pqcmav-tunneld [--check] [--door PATH] [--paused] [--node NAME] [--set KEY=VALUE]... CONFIG.yaml...\n"
    "Runs one end of a PQC-MAV tunnel until SIGINT or SIGTERM; SIGHUP makes it read configuration and keys again.\n"
    "docs/configuration.md explains every key. Of several files the later ones win.\n"
    "  --node NAME  of ROS parameter files take what they have for this node, as /gcs/pqc_proxy (any pqc_proxy)\n"
    "  --set KEY=VALUE  wins against the files: --set shape_kbit=64 --set 'drones=[uav1, uav2]'\n"
    "  --door PATH  open the control socket there first; a configuration that is no good is then told there\n"
    "  --paused     leave the tunnel closed until 'resume' (docs/control-socket.md)\n"
    "  --check      read configuration and keys and say whether they are good; open no socket\n"
    "  --healthy    is the daemon alive that writes the file named by PQCMAV_HEALTH_FILE? prints its links\n"
    "  --call NAME  answer what the command pqcmav asks the engine: JSON on standard input, JSON on standard output\n"
    "  --preflight  list the algorithms, which library computes each, and what is missing\n"
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
    return who + (handshake.kind == HandshakeKind::first ? "handshake" : std::string(to_string(handshake.kind))) +
           " with " + handshake.peer + " under " + find_suite(handshake.suite)->short_code +
           (handshake.hybrid ? " + X25519" : "") + " in " + ms;
  return who + "handshake failed (" + std::string(to_string(handshake.error)) + "): " + handshake.reason;
}

/// Blocks SIGINT, SIGTERM and SIGHUP for every thread and gives a descriptor on which they arrive.
Fd signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int list_algorithms() {
  bool all = true;
  std::printf("%s\n", providers_text().c_str());
  for (const auto& check : preflight()) {
    std::printf("%-4s %-26s %s\n", check.kind.c_str(), check.display.c_str(),
                check.available ? ("by " + check.by).c_str() : check.reason.c_str());
    // Of an algorithm with two editions no library has both.
    all = all && (check.available || check.edition != Edition::lasting);
  }
  return all ? 0 : 1;
}

/// The arguments come on standard input. The answer is an object with the result, or with the error and its code.
int answer(const std::string& name) {
  static constexpr std::size_t most = 64 * 1024;
  if (const auto said = forbid_core_dumps(); !said.empty()) std::cerr << "pqcmav-tunneld: " << said << '\n';
  std::string arguments(most + 1, '\0');
  std::cin.read(arguments.data(), static_cast<std::streamsize>(arguments.size()));
  arguments.resize(static_cast<std::size_t>(std::cin.gcount()));
  try {
    if (arguments.size() > most)
      throw TunnelError(Errc::config_invalid, "The arguments of '" + name + "' have more than 64 KiB.");
    const auto result = call(name, arguments);
    std::cout << "{\"result\": " << result << "}\n";
    return 0;
  } catch (const TunnelError& error) {
    std::cout << nlohmann::json{{"code", to_string(error.code())}, {"error", error.what()}}.dump(
                     -1, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
    return 1;
  }
}

int say_health() {
  const auto file = environment(kHealthFileVariable);
  if (file.empty()) {
    std::cerr << "pqcmav-tunneld: set " << kHealthFileVariable << " to the file that the daemon writes.\n";
    return 2;
  }
  const auto health = read_health(file);
  (health.good ? std::cout : std::cerr) << health.text << (health.good ? "" : "\n");
  return health.good ? 0 : 1;
}

/// One line, also with a thousand drones.
std::string description(const Host& host) {
  constexpr std::size_t kNamed = 8;
  const auto view = host.view();
  if (view.state != HostState::active) return std::string(to_string(view.state)) + ": " + view.problem;
  const auto ports = host.ports();
  std::ostringstream out;
  out << to_string(host.config().role) << ", encrypted UDP port " << ports.data;
  const auto links = host.status();
  for (const auto& [id, port] : std::span(ports.plain).first(std::min(kNamed, ports.plain.size()))) {
    const auto link = std::ranges::find(links, id, &LinkStatus::drone_id);
    out << ", plaintext of " << id << " on ";
    if (port != 0 || link == links.end())
      out << "UDP port " << port;
    else
      out << link->plain_local;
    // There ground software listens.
    if (link != links.end() && !link->plain_peer.empty()) out << " (MAVLink to " << link->plain_peer << ")";
  }
  if (ports.plain.size() > kNamed) out << ", and of " << ports.plain.size() - kNamed << " more drones";
  return out.str();
}

/// Takes one signal. True for one that ends the daemon.
bool ends(const Fd& signals, Host& host) {
  signalfd_siginfo signal{};
  if (::read(signals.get(), &signal, sizeof signal) != sizeof signal) return false;
  if (signal.ssi_signo != SIGHUP) return true;
  try {
    (void)host.reload();
  } catch (const TunnelError& error) {
    std::cerr << "pqcmav-tunneld: not reloaded: " << error.what() << std::endl;
  }
  return false;
}

/// Until a signal says so. Whoever watches this daemon hears of it for as long as the packet thread works, and no
/// longer: a watchdog that any other thread feeds would keep a dead tunnel alive.
void watch_until(const Fd& stop, Host& host, const ServiceManager& manager) {
  using std::chrono::milliseconds;
  const auto health = environment(kHealthFileVariable);
  milliseconds period{1000};
  if (const auto limit = manager.watchdog())
    period = std::clamp(std::chrono::duration_cast<milliseconds>(*limit / 3), milliseconds{1}, period);
  const bool watched = manager.watchdog() || !health.empty();
  auto seen = host.heartbeat();
  std::string said;
  pollfd wait{stop.get(), POLLIN, 0};
  while (::poll(&wait, 1, watched ? static_cast<int>(period.count()) : -1) <= 0 || !ends(stop, host)) {
    if (host.heartbeat() == seen) continue;
    seen = host.heartbeat();
    manager.tell("WATCHDOG=1");
    if (health.empty()) continue;
    const auto problem = write_health(health, host.status());
    if (problem != said && !problem.empty()) std::cerr << "pqcmav-tunneld: " << problem << std::endl;
    said = problem;
  }
}

bool is_node_name(std::string_view name) {
  return name.starts_with('/') && !name.ends_with('/') && name.find("//") == name.npos &&
         std::ranges::all_of(
             name, [](char c) { return c == '/' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

struct Wishes {
  bool check_only = false, paused = false;
  std::string door;
};

int run(const ConfigSources& sources, const Wishes& wishes) {
  if (const auto said = forbid_core_dumps(); !said.empty()) std::cerr << "pqcmav-tunneld: " << said << '\n';
  const auto stop = signals();
  std::vector<std::string> files;
  for (const auto& path : sources.files) files.push_back(std::filesystem::absolute(path).string());
  Host host({[sources] { return sources.read(); }, files});
  try {
    if (!wishes.door.empty() && !wishes.check_only) host.open_door(wishes.door, !wishes.paused);
    (void)host.configure();
    if (!wishes.check_only) (void)host.begin(!wishes.paused);
  } catch (const TunnelError& error) {
    // Behind an open door it goes on, and says why it is closed together with what it is.
    if (host.door().empty() || wishes.door.empty() || wishes.check_only) {
      std::cerr << "pqcmav-tunneld: " << error.what() << '\n';
      return is_configuration(error.code()) ? 2 : 1;
    }
  }
  if (wishes.check_only) {
    for (const auto& path : sources.files) std::cout << path << ": ";
    std::cout << "configuration and keys are good.\n";
    return 0;
  }
  const auto what = description(host);
  std::cerr << "pqcmav-tunneld " << engine_version() << ": " << what << std::endl;
  const auto manager = ServiceManager::from_environment();
  manager.tell("READY=1\nSTATUS=" + what);
  AttemptLog attempts;
  std::thread printer([&] {
    ColdCode code;
    code.used(ColdCode::Clock::now());
    for (bool open = true; open;) {
      const auto events = host.events().wait(std::chrono::seconds(1), 64);
      for (const auto& event : events) {
        if (std::holds_alternative<HandshakeEvent>(event.what)) code.used(ColdCode::Clock::now());
        if (attempts.worth_saying(event, AttemptLog::Clock::now())) std::cerr << line_of(event) << std::endl;
      }
      if (code.due(ColdCode::Clock::now())) let_go_of_code();
      open = !host.events().closed() || !events.empty();
    }
  });
  watch_until(stop, host, manager);
  manager.tell("STOPPING=1");
  host.stop();
  printer.join();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // OpenSSL would load its error texts at the first call, 0.2 MB of pages in each daemon: numbers do.
  ::OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS, nullptr);
  Wishes wishes;
  ConfigSources sources;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::cout << kUsage;
      return 0;
    }
    if (argument == "--version") {
      std::cout << "pqcmav-tunneld " << engine_version() << ", " << providers_text() << '\n';
      return 0;
    }
    if (argument == "--preflight") return list_algorithms();
    if (argument == "--healthy") return say_health();
    if (argument == "--call" && i + 2 == argc) return answer(argv[i + 1]);
    const bool more = i + 1 < argc;
    if (argument == "--check") {
      wishes.check_only = true;
    } else if (argument == "--paused") {
      wishes.paused = true;
    } else if (argument == "--door" && more) {
      wishes.door = argv[++i];
    } else if (argument == "--set" && more) {
      sources.settings.emplace_back(argv[++i]);
    } else if (argument == "--node" && more && is_node_name(argv[i + 1])) {
      sources.node = argv[++i];
    } else if (argument == "--node" && more) {
      std::cerr << "pqcmav-tunneld: '" << argv[i + 1] << "' is no full name of a node, such as /gcs/pqc_proxy.\n";
      return 2;
    } else if (argument.starts_with("-")) {
      std::cerr << "pqcmav-tunneld: unexpected argument '" << argument << "'.\n" << kUsage;
      return 2;
    } else {
      sources.files.push_back(argument);
    }
  }
  if (sources.files.empty() && sources.settings.empty()) {
    std::cerr << kUsage;
    return 2;
  }
  return run(sources, wishes);
}
