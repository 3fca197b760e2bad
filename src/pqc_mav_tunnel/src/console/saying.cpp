// SPDX-License-Identifier: Apache-2.0
#include "console/saying.hpp"

#include <algorithm>

#include "console/numbers.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

LogEvent put(const std::string&, const LogEvent& event) { return event; }

LogEvent put(const std::string& drone, const StateEvent& event) {
  return {LogLevel::info, drone + ": " + std::string(to_string(event.before)) + " -> " +
                              std::string(to_string(event.after)) +
                              (event.reason.empty() ? "" : " (" + event.reason + ")")};
}

LogEvent put(const std::string& drone, const HandshakeEvent& event) {
  const bool first = event.kind == HandshakeKind::first;
  const auto what = drone + ": " + (first ? "handshake" : std::string(to_string(event.kind)));
  if (!event.ok) return {LogLevel::warning, what + " failed: " + event.reason};
  return {LogLevel::info,
          what + " with " + event.peer + " took " + fixed(static_cast<double>(event.duration_ns) / 1e6, 1) + " ms, " +
              short_code(event.suite) + (event.hybrid ? "" : " (pure)") + ", epoch " + std::to_string(event.epoch)};
}

}  // namespace

std::optional<LogEvent> said_of(const Event& event, AttemptLog& attempts, AttemptLog::Clock::time_point now) {
  if (!attempts.worth_saying(event, now)) return std::nullopt;
  auto out = std::visit([&](const auto& what) { return put(event.drone_id, what); }, event.what);
  out.text = one_line(out.text);
  return out;
}

std::string start_sentence(const Engine& engine) {
  const auto ports = engine.ports();
  const auto links = engine.status();
  std::string plain;
  for (const auto& [drone, port] : ports.plain) {
    const auto link = std::ranges::find(links, drone, &LinkStatus::drone_id);
    const bool known = link != links.end();
    plain += (plain.empty() ? "" : ", ") + drone + " ";
    // One that is not a UDP socket has no port, but a name.
    plain += port == 0 && known ? link->plain_local : std::to_string(port);
    if (known && !link->plain_peer.empty()) plain += " (MAVLink to " + link->plain_peer + ")";
  }
  return std::string(to_string(engine.config().role)) + ": handshakes and packets on UDP port " +
         std::to_string(ports.data) + ", plaintext on " + plain;
}

}  // namespace pqcmav
