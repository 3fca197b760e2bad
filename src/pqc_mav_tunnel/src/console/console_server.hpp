// SPDX-License-Identifier: Apache-2.0
// Serves the control socket in a thread of its own. What a client can take is bounded: a line, one answer that it has
// not read yet, some events; who neither asks nor reads for long is sent away.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
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
  std::size_t clients = 32;
  std::size_t works = 16;              // commands that take their time, of all clients
  std::size_t line = 4096;             // bytes of a request
  std::size_t waiting_events = 65536;  // bytes of events that a client has not read; more are counted and dropped
  std::uint64_t stalled_ns = 10'000'000'000;  // without reading what waits for it
  std::uint64_t idle_ns = 120'000'000'000;    // without a request, unless it follows events
  // Answering may take this share of a processor, and so much at once: whoever asks without a pause waits.
  double share = 0.25;
  std::int64_t burst_ns = 500'000'000;
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

 private:
  struct Client {
    std::uint64_t number;
    Fd fd;
    Asker who;
    LineBuffer in;
    std::string out;
    std::uint64_t asked_ns, read_ns;  // when it last sent a request, and last took something or had all
    std::optional<EventKinds> follows;
    std::uint64_t lost = 0;
    bool works = false, ended = false, closing = false, gone = false;  // ended: it sends nothing more
  };
  struct Work {
    std::uint64_t client;
    std::thread thread;
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
  /// Whether its next request is wanted: one at a time, and none before it took the last answer.
  [[nodiscard]] bool may_ask(const Client& client) const noexcept {
    return time_left_ns_ > 0 && !client.works && !client.closing && client.out.empty();
  }

  LocalSocket socket_;
  Commands& commands_;
  EventJournal& log_;
  const ConsoleLimits limits_;
  std::list<Client> clients_;
  std::list<Work> works_;
  std::uint64_t next_number_ = 1, next_event_, deaf_until_ns_ = 0;
  std::int64_t time_left_ns_;  // for answers
  std::uint64_t earned_ns_;    // until when it was added to
  std::mutex done_mutex_;
  std::vector<std::pair<std::uint64_t, std::string>> done_;  // client and answer
  Fd wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace pqcmav
