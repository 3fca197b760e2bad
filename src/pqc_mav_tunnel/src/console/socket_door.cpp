// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/socket_door.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "clock.hpp"
#include "console/commands.hpp"
#include "console/line_client.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kHelloNs = to_ns(1s), kSilentNs = to_ns(3s), kAnswerNs = to_ns(5s), kWorkNs = to_ns(310s);
constexpr int kSoonMs = 20, kLaterMs = 200;  // between two tries to find the daemon
constexpr std::size_t kLinesMost = 4096;
// What may take its time, or must not be asked twice: each on a connection of its own.
constexpr std::array<std::string_view, 8> kWorks = {"rekey",     "request_rekey", "pause",  "resume",
                                                    "configure", "reload",        "drones", "station"};

/// Whether this user may be asked at that door, "" where it may.
std::string foreign(const std::filesystem::path& door, uid_t user) {
  struct stat folder{};
  const auto where = door.parent_path();
  if (::stat(where.c_str(), &folder) != 0) return "its folder is gone";
  // Only root makes folders there, and says so to whom they belong, as for the packages' user.
  const bool by_root = where.parent_path() == "/run";
  const auto trusted = [&](uid_t uid) { return uid == ::geteuid() || uid == 0 || (by_root && uid == folder.st_uid); };
  if (!trusted(user))
    return "it runs as another user (uid " + std::to_string(user) + "), and this program, as uid " +
           std::to_string(::geteuid()) + ", asks only its own and root's";
  const bool open = (folder.st_mode & S_IWOTH) != 0 && (folder.st_mode & S_ISVTX) == 0;
  return trusted(folder.st_uid) && !open ? "" : "the folder " + where.string() + " is open to other users";
}

std::string end_of(const std::string& role, const std::string& id) {
  return role + (id.empty() ? "" : " '" + id + "'");
}

}  // namespace

class SocketDoor::Impl {
 public:
  Impl(std::filesystem::path path, Expected expected)
      : path_(std::move(path)),
        expected_(std::move(expected)),
        quiet_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        ending_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        thread_([this] {
          name_this_thread("pqc-door");
          run();
        }) {}
  ~Impl() { stop(); }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(stopping_, true)) return;
      away_ = "this program asks it no more";
      hello_ = nullptr;
    }
    ring(quiet_);
    ring(ending_);
    came_.notify_all();
    thread_.join();
  }

  std::string ask(std::string_view request) {
    const auto json = Json::parse(request, nullptr, false);
    const auto name = json.is_object() ? json.value("command", Json()) : Json();
    const auto id = json.is_object() ? json.value("id", Json()) : Json();
    if (request.find('\n') != request.npos) return refusal(id, "bad_json", "A request is one line.");
    if (const auto why = away(); !why.empty()) return refusal(id, "away", why);
    const bool works =
        name.is_string() && std::ranges::find(kWorks, name.get_ref<const std::string&>()) != kWorks.end();
    return works ? ask_alone(request, id) : ask_in_turn(request, id);
  }

  std::vector<std::string> events(std::chrono::nanoseconds timeout, std::size_t most) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, timeout, [this] { return !lines_.empty() || stopping_; });
    std::vector<std::string> out;
    for (; !lines_.empty() && out.size() < most; lines_.pop_front()) out.push_back(std::move(lines_.front()));
    return out;
  }

  std::string hello() const {
    const std::lock_guard lock(mutex_);
    return hello_.is_null() || !away_.empty() ? "" : hello_.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  std::string away() const {
    const std::lock_guard lock(mutex_);
    return away_.empty() ? "" : "There is no pqcmav-tunneld at " + path_.string() + ": " + away_ + '.';
  }

 private:
  static std::string refusal(const Json& id, std::string_view code, const std::string& text) {
    auto line = refusal_line(id, code, text);
    line.pop_back();
    return line;
  }

  // --- asking ---

  std::string ask_alone(std::string_view request, const Json& id) {
    auto connection = connect();
    return answer_of(connection, request, now_ns() + kWorkNs).value_or(refused_by(connection, id));
  }

  /// Of one connection, in one order: what has grown is what has grown since it asked last.
  std::string ask_in_turn(std::string_view request, const Json& id) {
    const std::lock_guard turn(turn_mutex_);
    if (const auto why = away(); !why.empty()) return refusal(id, "away", why);  // while this waited
    const auto until = now_ns() + kAnswerNs;
    const bool kept = asking_.open();
    if (!kept) asking_ = connect();
    auto line = answer_of(asking_, request, until);
    if (!line && kept && !asking_.open() && away().empty()) {  // that of a daemon that has ended since
      asking_ = connect();
      line = answer_of(asking_, request, until);
    }
    if (!line && asking_.open()) asking_.close("it gave no answer in time");  // which would be taken for the next one
    return line.value_or(refused_by(asking_, id));
  }

  std::optional<std::string> answer_of(LineClient& connection, std::string_view request, std::uint64_t until) {
    return connection.say(request, until, quiet_) ? connection.hear(until, quiet_) : std::nullopt;
  }

  std::string refused_by(const LineClient& connection, const Json& id) const {
    const auto why = connection.problem().empty() ? "it gave no answer in time" : connection.problem();
    const auto said = away();
    return refusal(id, "away",
                   said.empty() ? "No answer from pqcmav-tunneld at " + path_.string() + ": " + why + '.' : said);
  }

  LineClient connect() const {
    LineClient made(path_);
    if (made.open())
      if (const auto why = foreign(path_, made.user()); !why.empty()) made.close(why);
    return made;
  }

  // --- watching ---

  void run() {
    for (int pause_ms = kSoonMs; !stopping(); pause_ms = std::min(2 * pause_ms, kLaterMs)) {
      if (visit()) pause_ms = kSoonMs;
      pollfd wait{ending_.get(), POLLIN, 0};
      ::poll(&wait, 1, pause_ms);
    }
  }

  bool stopping() const {
    const std::lock_guard lock(mutex_);
    return stopping_;
  }

  /// One connection, from its beginning to its end. Whether the daemon was there.
  bool visit() {
    auto door = connect();
    const auto until = now_ns() + kSilentNs;
    auto first = exchange(door, R"({"v": 1, "command": "hello"})", until);
    if (first.is_null()) return lose(door.problem().empty() ? "it does not answer" : door.problem());
    if (const auto why = other(first); !why.empty()) return lose(why);
    const auto follow = exchange(
        door, Json{{"v", 1}, {"command", "subscribe"}, {"since", next_}, {"boot", boot_}, {"pictures", true}}.dump(),
        until);
    if (follow.is_null()) return lose("it tells no events: " + door.problem());
    boot_ = first["boot"].get<std::string>();
    next_ = follow["next"].get<std::uint64_t>();
    process_ = door.process();
    user_ = door.user();
    find(std::move(first), follow["gap"].get<bool>());
    follow_events(door);
    return true;
  }

  void follow_events(LineClient& door) {
    auto asked = now_ns();
    bool waiting = false, silent = false;
    while (door.open()) {
      const auto line = door.hear(silent ? now_ns() + kHelloNs : asked + (waiting ? kSilentNs : kHelloNs), ending_);
      if (stopping()) return;
      if (line) {
        auto said = Json::parse(*line, nullptr, false);
        if (!said.is_object()) return lose_door(door, "what it says is no JSON");
        if (said.contains("event")) {
          take(said, *line);
        } else {
          waiting = silent = false;
          auto result = said.value("result", Json());
          if (const auto why = other(result); !why.empty()) return lose_door(door, why);
          find(std::move(result), false);
        }
      } else if (door.open() && waiting && !silent && now_ns() >= asked + kSilentNs) {
        silent = true;  // it may hang: what it says later is heard
        (void)lose("it does not answer");
      }
      if (door.open() && !waiting && now_ns() >= asked + kHelloNs) {
        asked = now_ns();
        waiting = true;
        door.say(R"({"v": 1, "command": "hello"})", asked + kSilentNs, ending_);
      }
    }
    (void)lose(door.problem());
  }

  /// The result of a command, null without one.
  Json exchange(LineClient& door, const std::string& request, std::uint64_t until) {
    const auto line = door.say(request, until, ending_) ? door.hear(until, ending_) : std::nullopt;
    const auto said = line ? Json::parse(*line, nullptr, false) : Json();
    if (!said.is_object()) return nullptr;
    if (said.value("ok", Json()) == true) return said.value("result", Json());
    door.close(said.value("error", Json::object()).value("text", std::string("what it says makes no sense")));
    return nullptr;
  }

  /// Why this is not the door that is meant, "" where it is. One that has no configuration yet is of no end.
  std::string other(const Json& hello) const {
    const auto text = [&](const char* field) {
      return hello.is_object() && hello.contains(field) && hello[field].is_string() ? hello[field].get<std::string>()
                                                                                    : std::string();
    };
    if (text("boot").empty()) return "what answers there is no pqcmav-tunneld of this version";
    if (!expected_.nonce.empty() && text("nonce") != expected_.nonce)
      return "the one there was not started together with this program";
    const auto role = text("role"), id = text("id");
    const auto fits = [](const std::string& wanted, const std::string& is) { return wanted.empty() || wanted == is; };
    if (role.empty() || (fits(expected_.role, role) && fits(expected_.id, id))) return "";
    return "the one there is of " + end_of(role, id) + ", and not of " + end_of(expected_.role, expected_.id);
  }

  void take(const Json& event, const std::string& line) {
    if (const auto number = event.find("number"); number != event.end() && number->is_number_unsigned())
      next_ = number->get<std::uint64_t>() + (event["event"] == "lost" ? 0 : 1);
    push(line);
  }

  void find(Json hello, bool gap) {
    hello["process"] = process_;
    hello["uid"] = user_;
    Json line = {{"event", "door"}, {"there", true}, {"gap", gap}};
    for (const auto* field : {"boot", "next", "state", "problem"}) line[field] = hello.value(field, Json());
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      const auto was_away = !std::exchange(away_, "").empty();
      const auto changed = !hello_.is_object() || hello_["state"] != hello["state"];
      hello_ = std::move(hello);
      if (!was_away && !changed) return;
      drain(quiet_);
    }
    push(line.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  bool lose(const std::string& why) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_ || away_ == why) return false;
      away_ = why;
      ring(quiet_);
    }
    push(Json{{"event", "door"}, {"there", false}, {"reason", away()}}.dump(-1, ' ', false,
                                                                            Json::error_handler_t::replace));
    return false;
  }
  void lose_door(LineClient& door, const std::string& why) {
    door.close(why);
    (void)lose(why);
  }

  void push(std::string line) {
    {
      const std::lock_guard lock(mutex_);
      if (lines_.size() == kLinesMost) lines_.pop_front();  // of a host that takes none
      lines_.push_back(std::move(line));
    }
    came_.notify_all();
  }

  const std::filesystem::path path_;
  const Expected expected_;
  Fd quiet_, ending_;  // readable while nobody needs to wait for an answer, and from stop() on
  mutable std::mutex mutex_;
  std::condition_variable came_;
  bool stopping_ = false;
  std::string away_ = "it has not answered yet";
  Json hello_;
  std::deque<std::string> lines_;
  std::mutex turn_mutex_;  // each turn is over after kAnswerNs, or when the daemon is away
  LineClient asking_;      // under turn_mutex_
  // Of the thread.
  std::string boot_;
  std::uint64_t next_ = 0;
  pid_t process_ = 0;
  uid_t user_ = 0;
  std::thread thread_;
};

SocketDoor::SocketDoor(std::filesystem::path path, Expected expected)
    : impl_(std::make_unique<Impl>(std::move(path), std::move(expected))) {}
SocketDoor::~SocketDoor() = default;
std::string SocketDoor::ask(std::string_view request) { return impl_->ask(request); }
std::vector<std::string> SocketDoor::events(std::chrono::nanoseconds timeout, std::size_t most) {
  return impl_->events(timeout, most);
}
std::string SocketDoor::hello() const { return impl_->hello(); }
std::string SocketDoor::away() const { return impl_->away(); }
void SocketDoor::stop() { impl_->stop(); }

}  // namespace pqcmav
