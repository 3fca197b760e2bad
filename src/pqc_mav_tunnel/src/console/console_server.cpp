// SPDX-License-Identifier: Apache-2.0
#include "console/console_server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <system_error>

#include "clock.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kSampleNs = 1'000'000'000;
constexpr int kPauseMs = 20;

Asker asker_of(const Fd& fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {-1, uid_t(-1), gid_t(-1)};
  return {credentials.pid, credentials.uid, credentials.gid};
}

}  // namespace

ConsoleServer::ConsoleServer(LocalSocket socket, Commands& commands, EventJournal& log, const ConsoleLimits& limits)
    : socket_(std::move(socket)),
      commands_(commands),
      log_(log),
      limits_(limits),
      next_event_(log.next()),
      time_left_ns_(limits.burst_ns),
      earned_ns_(now_ns()),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      thread_([this] {
        name_this_thread("pqc-console");
        lower_this_thread(5);
        run();
      }) {}

ConsoleServer::~ConsoleServer() {
  stopping_ = true;
  ring(wake_);
  thread_.join();
  for (auto& work : works_) work.thread.join();
}

void ConsoleServer::run() {
  std::vector<pollfd> waits;
  auto next_sample = now_ns();
  while (!stopping_) {
    auto now = now_ns();
    earn(now);
    if (now >= next_sample) {
      commands_.sample();
      send_away(now);
      next_sample = now + kSampleNs;
    }
    waits.assign({{wake_.get(), POLLIN, 0}, {log_.bell().get(), POLLIN, 0}});
    waits.push_back({now < deaf_until_ns_ ? -1 : socket_.fd().get(), POLLIN, 0});
    bool more = false;
    for (const auto& client : clients_) {
      more = more || (may_ask(client) && client.in.has_line());
      const auto events = (may_ask(client) && !client.ended ? POLLIN : 0) | (client.out.empty() ? 0 : POLLOUT);
      waits.push_back({client.fd.get(), static_cast<short>(events), 0});
    }
    const auto limit = time_left_ns_ > 0 ? static_cast<int>((next_sample - now) / 1'000'000 + 1) : kPauseMs;
    if (::poll(waits.data(), waits.size(), more ? 0 : limit) < 0) continue;
    now = now_ns();
    if (waits[0].revents != 0) drain(wake_);
    finish_works(now);
    if (waits[1].revents != 0) pass_events(now);
    std::size_t i = 3;
    for (auto& client : clients_) {
      const auto ready = waits[i++].revents;
      if ((ready & POLLOUT) != 0) write_to(client, now);
      if ((ready & (POLLHUP | POLLERR)) != 0) client.gone = true;
      if ((ready & POLLIN) != 0) read_from(client, now);
      next_request(client, now);
      // It asked for something and said that this was all.
      if (client.ended && !client.works && client.out.empty() && !client.in.has_line() && !client.follows)
        client.gone = true;
    }
    clients_.remove_if([](const auto& client) { return client.gone; });
    if (waits[2].revents != 0) accept_clients(now);
  }
}

void ConsoleServer::accept_clients(std::uint64_t now) {
  for (int i = 0; i < 8; ++i) {
    Fd fd(::accept4(socket_.fd().get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      // Without a descriptor to spare it would be asked for again at once, for good.
      if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) deaf_until_ns_ = now + kSampleNs;
      return;
    }
    const auto who = asker_of(fd);
    if (clients_.size() >= limits_.clients && !make_place(who.uid)) {
      const auto line = refusal_line(nullptr, "too_many_clients",
                                     "The control socket serves " + std::to_string(limits_.clients) +
                                         " clients, and all of them are busy; try again later.");
      (void)!::send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL);
      continue;
    }
    clients_.push_back({next_number_++, std::move(fd), who, LineBuffer(limits_.line), {}, now, now, std::nullopt});
  }
}

/// The one that has been idle for longest gives way; if all are busy, one of the user who has most of them, if that is
/// more than the newcomer's user has: nobody shuts others out.
bool ConsoleServer::make_place(uid_t uid) {
  auto longest = clients_.end();
  for (auto it = clients_.begin(); it != clients_.end(); ++it)
    if (!it->works && !it->follows && (longest == clients_.end() || it->asked_ns < longest->asked_ns)) longest = it;
  if (longest == clients_.end()) {
    std::map<uid_t, std::size_t> counts;
    for (const auto& client : clients_) ++counts[client.who.uid];
    std::size_t most = counts[uid] + 1;  // giving up one of two for one of none would only change who is shut out
    for (auto it = clients_.begin(); it != clients_.end(); ++it)
      if (const auto count = counts[it->who.uid]; !it->works && count > most) {
        longest = it;
        most = count;
      }
  }
  if (longest == clients_.end()) return false;
  clients_.erase(longest);
  return true;
}

void ConsoleServer::read_from(Client& client, std::uint64_t now) {
  std::array<char, 4096> bytes;
  const auto room = std::min(bytes.size(), client.in.room());
  if (room == 0 || client.gone) return;
  const auto got = ::recv(client.fd.get(), bytes.data(), room, 0);
  if (got == 0) client.ended = true;
  if (got < 0) client.gone = errno != EAGAIN && errno != EINTR;
  if (got <= 0) return;
  client.in.add({bytes.data(), static_cast<std::size_t>(got)});
  if (!client.in.too_long()) return;
  client.closing = true;
  client.out = refusal_line(nullptr, "too_long",
                            "A request has at most " + std::to_string(limits_.line) + " bytes in its line.");
  client.read_ns = now;
  write_to(client, now);
}

void ConsoleServer::next_request(Client& client, std::uint64_t now) {
  if (client.gone || !may_ask(client)) return;
  const auto line = client.in.take();
  if (!line) return;
  client.asked_ns = now;
  const auto began = now_ns();
  auto answer = commands_.answer(*line, client.who);
  time_left_ns_ -= static_cast<std::int64_t>(now_ns() - began);
  if (answer.follow) {
    client.follows = answer.follow;
    client.lost = 0;
  }
  if (answer.work)
    start_work(client, std::move(answer));
  else
    client.out = std::move(answer.line);
  client.read_ns = now;
  write_to(client, now);
}

/// The packet thread comes first, even on a machine with one processor.
void ConsoleServer::earn(std::uint64_t now) {
  const auto earned = static_cast<double>(now - std::exchange(earned_ns_, now)) * limits_.share;
  time_left_ns_ = std::min(limits_.burst_ns, time_left_ns_ + static_cast<std::int64_t>(earned));
}

void ConsoleServer::write_to(Client& client, std::uint64_t now) {
  while (!client.out.empty()) {
    const auto sent = ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      client.gone = client.gone || (errno != EAGAIN && errno != EINTR);
      return;
    }
    client.out.erase(0, static_cast<std::size_t>(sent));
    client.read_ns = now;
  }
  client.gone = client.gone || client.closing;
}

void ConsoleServer::start_work(Client& client, CommandAnswer answer) {
  const auto body = [this, number = client.number, work = std::move(answer.work)] {
    name_this_thread("pqc-command");
    auto line = work();
    const std::lock_guard lock(done_mutex_);
    done_.emplace_back(number, std::move(line));
    ring(wake_);
  };
  client.works = works_.size() < limits_.works;
  try {
    if (client.works) works_.push_back({client.number, std::thread(body)});
  } catch (const std::system_error&) {  // no thread to be had
    client.works = false;
  }
  if (!client.works) client.out = std::move(answer.line);
}

void ConsoleServer::finish_works(std::uint64_t now) {
  decltype(done_) done;
  {
    const std::lock_guard lock(done_mutex_);
    done.swap(done_);
  }
  for (auto& [number, line] : done) {
    const auto work =
        std::find_if(works_.begin(), works_.end(), [&](const auto& each) { return each.client == number; });
    work->thread.join();
    works_.erase(work);
    const auto client =
        std::find_if(clients_.begin(), clients_.end(), [&](const auto& each) { return each.number == number; });
    if (client == clients_.end()) continue;
    client->works = false;
    client->out += line;
    client->read_ns = client->asked_ns = now;
    write_to(*client, now);
  }
}

void ConsoleServer::pass_events(std::uint64_t now) {
  drain(log_.bell());
  const auto batch = log_.since(next_event_);
  next_event_ = batch.next;
  for (auto& client : clients_)
    if (client.follows) client.lost += batch.lost;
  for (const auto& event : batch.events) {
    std::string line;
    for (auto& client : clients_) {
      if (!client.follows || !client.follows->wants(event)) continue;
      if (client.out.size() > limits_.waiting_events) {
        ++client.lost;
        continue;
      }
      if (line.empty()) line = event_line(event);
      if (client.out.empty()) client.read_ns = now;
      if (client.lost > 0) client.out += lost_line(std::exchange(client.lost, 0));
      client.out += line;
    }
  }
  for (auto& client : clients_) write_to(client, now);
}

void ConsoleServer::send_away(std::uint64_t now) {
  clients_.remove_if([&](const auto& client) {
    const bool stalled = !client.out.empty() && now - client.read_ns > limits_.stalled_ns;
    const bool idle = !client.works && !client.follows && now - client.asked_ns > limits_.idle_ns;
    return stalled || idle;
  });
}

}  // namespace pqcmav
