// SPDX-License-Identifier: Apache-2.0
#include "daemon_host.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "parameters.hpp"
#include "pqc_mav_tunnel/open_sockets.hpp"
#include "signals.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
constexpr auto kWait = 250ms;         // the longest time that a stop waits for the pump
constexpr auto kStep = 20ms;          // between two looks for a daemon that starts
constexpr std::size_t kLatched = 10;  // reports of handshakes that a late subscriber gets (qos::event)

std::string variable(const char* name) {
  const auto* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Role and id of the end that is configured, as its daemon says them.
std::pair<std::string, std::string> end_of(const pqcmav::FlatConfig& config) {
  const auto role = value_or<std::string>(config, "role", "drone");
  return {role, role == "drone" ? value_or<std::string>(config, "drone_id", "")
                                : value_or<std::string>(config, "gcs_id", "gcs")};
}

/// Where it may have its door: the first place where there is one, or else the first.
fs::path door_of(const pqcmav::FlatConfig& config) {
  const auto named = value_or<std::string>(config, "control_socket", "auto");
  if (named == "off")
    throw Failure("A tunnel in another process is asked at its door: 'control_socket' must not be 'off'.",
                  ExitCode::failed);
  if (named != "auto") return fs::absolute(named);
  const auto [role, id] = end_of(config);
  const auto name = role == "drone" ? "drone-" + id + ".sock" : id == "gcs" ? "gcs.sock" : "gcs-" + id + ".sock";
  if (const fs::path folder = variable("PQCMAV_RUN_DIR"); !folder.empty()) return folder / name;
  const fs::path common = fs::path("/run/pqcmav") / name, own = variable("XDG_RUNTIME_DIR");
  std::error_code unseen;
  const bool is_own = own.is_absolute() && !fs::exists(common, unseen) && fs::exists(own / "pqcmav" / name, unseen);
  return is_own ? own / "pqcmav" / name : common;
}

pqcmav::SocketDoor::Expected expected(const pqcmav::FlatConfig& config, bool together) {
  auto [role, id] = end_of(config);
  return {std::move(role), std::move(id), together ? variable(pqcmav::kSystemVariable) : ""};
}

/// What no other start mends.
bool is_lasting(const std::string& code) {
  return std::ranges::any_of(std::initializer_list<const char*>{"config_", "key_", "suite_"},
                             [&](const auto* prefix) { return code.starts_with(prefix); });
}

}  // namespace

DaemonHost::DaemonHost(const pqcmav::FlatConfig& config, bool together)
    : path_(door_of(config)), door_(path_, expected(config, together)) {}

Json DaemonHost::hello() const {
  const auto said = door_.hello();
  return said.empty() ? Json::object() : Json::parse(said);
}

std::string DaemonHost::network() const {
  const auto inode = hello()["network_namespace"];
  return inode.is_number() ? "net:[" + inode.dump() + "]" : "";
}

void DaemonHost::settle(std::chrono::milliseconds limit) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (auto said = hello(); said.empty() || said["starting"].get<bool>(); said = hello()) {
    if (Signals::asked_to_end()) throw Failure("", ExitCode::ok);  // and its daemon is about to end, too
    if (std::chrono::steady_clock::now() > end) {
      const auto away = door_.away();
      throw Failure(away.empty() ? "pqcmav-tunneld does not end its start." : away, ExitCode::start);
    }
    std::this_thread::sleep_for(kStep);
  }
}

void DaemonHost::change(const std::string& command) {
  try {
    (void)ask(command);
  } catch (const Refusal& refusal) {
    throw Failure(refusal.what(), is_lasting(refusal.code()) ? ExitCode::config : ExitCode::start);
  }
}

void DaemonHost::listen(OnEvents on_events) {
  pump_ = std::jthread([this, on_events = std::move(on_events)] { pump(on_events); });
}

void DaemonHost::close() {
  stopping_ = true;
  door_.stop();
  if (pump_.joinable()) pump_.join();
}

void DaemonHost::pump(const OnEvents& on_events) {
  while (!stopping_) {
    std::vector<Json> ready;
    const auto release = [&] {
      ready.insert(ready.end(), kept_.begin(), kept_.end());
      kept_.clear();
    };
    const auto lines = door_.events(kWait);
    for (const auto& line : lines) {
      auto event = Json::parse(line);
      if (is_old(event)) continue;
      if (event["event"] != "door") release();
      ready.push_back(std::move(event));
    }
    if (lines.empty()) release();
    if (!ready.empty()) on_events(ready);
  }
}

bool DaemonHost::is_old(const Json& event) {
  if (event["event"] == "door") {
    const bool there = event["there"].get<bool>();
    if (there && (!found_ || event["gap"].get<bool>())) old_until_ = event["next"].get<std::uint64_t>();
    found_ = found_ || there;
    return !found_;
  }
  if (event.value("number", old_until_) >= old_until_) return false;
  if (event["event"] == "handshake") {
    kept_.push_back(event);
    if (kept_.size() > kLatched) kept_.pop_front();
  }
  return true;
}

}  // namespace pqc_mav_proxy_cpp
