// SPDX-License-Identifier: Apache-2.0
// Serves the control socket in a thread of its own. What a client can take is bounded: a line, one answer that it has
// not read yet, some events; who neither asks nor reads for long is sent away. What a user can take is bounded, too:
// places, commands that take their time, and time for answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "console/commands.hpp"
#include "console/event_journal.hpp"
#include "console/line_buffer.hpp"
#include "console/local_socket.hpp"
#include "fd.hpp"

namespace pqcmav {

struct ConsoleLimits {
  std::size_t clients = 32, clients_in_all = 64;  // of one user, and of all
  std::size_t works = 16, works_in_all = 32;      // commands that take their time; who has none may have one
  std::size_t line = 4096;                        // bytes of a request
  std::size_t waiting_events = 65536;         // bytes of events that a client has not read; more wait in the journal
  std::uint64_t stalled_ns = 10'000'000'000;  // without reading what waits for it
  std::uint64_t idle_ns = 120'000'000'000;    // without a request, unless it follows events
  // Answering may take this share of a processor, which the users divide evenly, and of each user so much at once:
  // whoever asks without a pause waits.
  double share = 0.25;
  std::int64_t burst_ns = 500'000'000;
  // The same for kFromCounters, besides.
  double counters_share = 0.05;
  std::int64_t counters_burst_ns = 100'000'000;
};

class ConsoleServer {
 public:
  /// Serves from now on. `commands` and `log` outlive it.
  ConsoleServer(LocalSocket socket, Commands& commands, EventJournal& log, const ConsoleLimits& limits = {});
  /// The engine answers commands that wait for it before this: they are waited for.
  ~ConsoleServer();
  ConsoleServer(const ConsoleServer&) = delete;
  ConsoleServer& operator=(const ConsoleServer&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return socket_.path(); }
  /// As LocalSocket::allow.
  void allow(const EngineConfig& config) const { socket_.allow(config); }

 private:
  struct Client {
    std::uint64_t number;
    Fd fd;
    Asker who;
    LineBuffer in;
    std::string out;
    std::uint64_t asked_ns, read_ns;  // when it last sent a request, and last took something or had all
    std::optional<Following> follows;
    bool works = false, ended = false, closing = false, gone = false;  // ended: it sends nothing more
  };
  struct Work {
    std::uint64_t client;
    uid_t uid;
    std::thread thread;
  };
  struct User {
    std::int64_t time_left_ns, counters_left_ns;  // for answers
    std::size_t clients = 0, works = 0;
  };
  void run();
  void accept_clients(std::uint64_t now);
  bool make_place(uid_t uid);
  void read_from(Client& client, std::uint64_t now);
  void next_request(Client& client, std::uint64_t now);
  void write_to(Client& client, std::uint64_t now);
  void start_work(Client& client, CommandAnswer answer);
  void finish_works(std::uint64_t now);
  void pass_events(std::uint64_t now);
  void send_away(std::uint64_t now);
  void earn(std::uint64_t now);
  User& user(uid_t uid);
  /// One request at a time, and none before it took the last answer.
  [[nodiscard]] static bool may_ask(const Client& client) noexcept {
    return !client.works && !client.closing && client.out.empty();
  }
  /// From what its next request is paid.
  std::int64_t& purse(const Client& client);
  [[nodiscard]] bool has_room(const Client& client) const noexcept {
    return client.follows && client.out.size() <= limits_.waiting_events;
  }
  template <typename Which>
  void remove(const Which& which);

  LocalSocket socket_;
  Commands& commands_;
  EventJournal& log_;
  const ConsoleLimits limits_;
  std::list<Client> clients_;
  std::list<Work> works_;
  std::map<uid_t, User> users_;
  std::uint64_t next_number_ = 1, deaf_until_ns_ = 0;
  std::uint64_t earned_ns_;  // until when users have earned
  std::mutex done_mutex_;
  std::vector<std::pair<std::uint64_t, std::string>> done_;  // client and answer
  Fd wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace pqcmav
