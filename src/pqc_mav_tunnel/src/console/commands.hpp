// SPDX-License-Identifier: Apache-2.0
// The commands of the control socket: a line of JSON in, a line of JSON out (docs/control-socket.md).
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "console/diagnoser.hpp"
#include "console/event_journal.hpp"
#include "console/steered.hpp"
#include "console/views.hpp"

namespace pqcmav {

/// Who is at the other end of a socket, as the kernel says (SO_PEERCRED).
struct Asker {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  bool host = false;                          // the engine's own program
  std::shared_ptr<Diagnoser> diagnoser = {};  // what it was told last; none: it is told of nothing that grew
};

/// Which events a client follows, and from which number on.
struct Following {
  bool state = true, handshake = true, log = true;
  bool numbered = false;  // it said `since`: each line has its number
  bool pictured = false;  // it said `pictures`: a handshake has what its message has
  std::uint64_t next = 0;
  [[nodiscard]] bool wants(const Event& event) const noexcept;
};

struct CommandAnswer {
  std::string line;                   // with `work`: what to say instead where it cannot be done
  std::function<std::string()> work;  // takes its time: call it in a thread of its own
  std::optional<Following> follow;
};

/// The line that answers, and the answer of a command that is done; `id` is the request's.
std::string result_line(const Json& id, Json result);
CommandAnswer answer_with(const Json& request, Json result);
/// The line that refuses something; `id` is the request's, null where it had none.
std::string refusal_line(const Json& id, std::string_view code, std::string_view text);
/// A number, of those who asked for it: the event's, or that of the first after those that were lost.
using Number = std::optional<std::uint64_t>;
Json event_json(const Event& event, Number number = {}, bool pictured = false);
std::string event_line(const Event& event, Number number = {}, bool pictured = false);
std::string lost_line(std::uint64_t count, Number number = {});

/// Answered even to who has asked too much: it comes from counters alone, and detectors need it ten times a second.
inline constexpr std::string_view kFromCounters = "server_stats";

class Commands {
 public:
  Commands(Steered& engine, const EventJournal& log);

  /// `line` without its end. Whatever it is, the answer is one line.
  CommandAnswer answer(std::string_view line, const Asker& who);
  /// Once a second, so that rates are those of a second.
  void sample() const { (void)engine_.stats(); }

 private:
  struct Entry;
  static const std::array<Entry, 27>& table();

  CommandAnswer status(const Json& request, const Asker& who);
  CommandAnswer stats(const Json& request, const Asker& who);
  CommandAnswer link(const Json& request, const Asker& who);
  CommandAnswer handshakes(const Json& request, const Asker& who);
  CommandAnswer suites(const Json& request, const Asker& who);
  CommandAnswer drones(const Json& request, const Asker& who);
  CommandAnswer rekey(const Json& request, const Asker& who);
  CommandAnswer request_rekey(const Json& request, const Asker& who);
  CommandAnswer log_level(const Json& request, const Asker& who);
  CommandAnswer sockets(const Json& request, const Asker& who);
  CommandAnswer dangers(const Json& request, const Asker& who);
  CommandAnswer alarm(const Json& request, const Asker& who);
  CommandAnswer reload(const Json& request, const Asker& who);
  CommandAnswer station(const Json& request, const Asker& who);
  CommandAnswer avoid(const Json& request, const Asker& who);
  CommandAnswer path(const Json& request, const Asker& who);
  CommandAnswer set(const Json& request, const Asker& who);
  CommandAnswer subscribe(const Json& request, const Asker& who);
  CommandAnswer picture(const Json& request, const Asker& who);
  CommandAnswer diagnosis(const Json& request, const Asker& who);
  CommandAnswer schema(const Json& request, const Asker& who);
  CommandAnswer config(const Json& request, const Asker& who);
  CommandAnswer hello(const Json& request, const Asker& who);
  CommandAnswer configure(const Json& request, const Asker& who);
  CommandAnswer pause(const Json& request, const Asker& who);
  CommandAnswer resume(const Json& request, const Asker& who);
  CommandAnswer server_stats(const Json& request, const Asker& who);

  [[nodiscard]] std::string drone_of(const Json& request) const;
  void note(const Asker& who, const std::string& drone_id, const std::string& what);
  CommandAnswer change(const Json& request, const Asker& who, const std::string& what, HostView (Steered::*to)());

  Steered& engine_;
  const EventJournal& log_;
  const std::uint64_t began_ns_;
};

}  // namespace pqcmav
