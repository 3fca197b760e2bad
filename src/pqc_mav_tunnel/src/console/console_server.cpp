// SPDX-License-Identifier: Apache-2.0
#include "console/console_server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "clock.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kSampleNs = 1'000'000'000;
constexpr int kPauseMs = 20;
constexpr std::size_t kBatch = 64;  // events that are passed on before others are heard

Asker asker_of(const Fd& fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {-1, uid_t(-1), gid_t(-1)};
  return {credentials.pid, credentials.uid, credentials.gid, false, std::make_shared<Diagnoser>()};
}

}  // namespace

ConsoleServer::ConsoleServer(LocalSocket socket, Commands& commands, EventJournal& log, const ConsoleLimits& limits)
    : socket_(std::move(socket)),
      commands_(commands),
      log_(log),
      limits_(limits),
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
    auto limit = static_cast<int>((next_sample - now) / 1'000'000 + 1);
    const auto next_event = log_.next();
    for (const auto& client : clients_) {
      const bool asks = may_ask(client), has_line = client.in.has_line();
      if (asks && has_line) limit = std::min(limit, purse(client) > 0 ? 0 : kPauseMs);
      if (has_room(client) && client.follows->next < next_event) limit = 0;
      const auto events = (asks && !has_line && !client.ended ? POLLIN : 0) | (client.out.empty() ? 0 : POLLOUT);
      waits.push_back({client.fd.get(), static_cast<short>(events), 0});
    }
    if (::poll(waits.data(), waits.size(), limit) < 0) continue;
    now = now_ns();
    if (waits[0].revents != 0) drain(wake_);
    if (waits[1].revents != 0) drain(log_.bell());
    finish_works(now);
    pass_events(now);
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
    remove([](const auto& client) { return client.gone; });
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
    if (!make_place(who.uid)) {
      const auto line = refusal_line(nullptr, "too_many_clients",
                                     "The control socket serves " + std::to_string(limits_.clients) +
                                         " clients of a user, and all of them are busy; try again later.");
      (void)!::send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL);
      continue;
    }
    ++user(who.uid).clients;
    clients_.push_back({next_number_++, std::move(fd), who, LineBuffer(limits_.line), {}, now, now, std::nullopt});
  }
}

/// Of a user who has all places of one, the client that has been idle for longest gives way. If all places of all users
/// are taken, it is that of the users who have no fewer than the newcomer's; or, if all are busy, one of the user who
/// has most, if that is more: nobody shuts others out.
bool ConsoleServer::make_place(uid_t uid) {
  const auto mine = user(uid).clients;
  const bool full = mine >= limits_.clients;
  if (!full && clients_.size() < limits_.clients_in_all) return true;
  auto longest = clients_.end();
  for (auto it = clients_.begin(); it != clients_.end(); ++it)
    if ((full ? it->who.uid == uid : user(it->who.uid).clients >= mine) && !it->works && !it->follows &&
        (longest == clients_.end() || it->asked_ns < longest->asked_ns))
      longest = it;
  if (longest == clients_.end() && !full) {
    std::size_t most = mine + 1;  // giving up one of two for one of none would only change who is shut out
    for (auto it = clients_.begin(); it != clients_.end(); ++it)
      if (const auto count = user(it->who.uid).clients; !it->works && count > most) {
        longest = it;
        most = count;
      }
  }
  if (longest == clients_.end()) return false;
  --user(longest->who.uid).clients;
  clients_.erase(longest);
  return true;
}

ConsoleServer::User& ConsoleServer::user(uid_t uid) {
  return users_.try_emplace(uid, User{limits_.burst_ns, limits_.counters_burst_ns}).first->second;
}

/// Whoever writes the name into another request has that one paid from the smaller purse, and gains nothing.
std::int64_t& ConsoleServer::purse(const Client& client) {
  auto& who = user(client.who.uid);
  return client.in.front().find(kFromCounters) == std::string_view::npos ? who.time_left_ns : who.counters_left_ns;
}

template <typename Which>
void ConsoleServer::remove(const Which& which) {
  clients_.remove_if([&](const auto& client) {
    if (!which(client)) return false;
    --user(client.who.uid).clients;
    return true;
  });
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
  if (client.gone || !may_ask(client) || !client.in.has_line()) return;
  auto& left = purse(client);
  if (left <= 0) return;
  const auto line = client.in.take();
  client.asked_ns = now;
  const auto began = now_ns();
  auto answer = commands_.answer(*line, client.who);
  left -= static_cast<std::int64_t>(now_ns() - began);
  if (answer.follow) client.follows = answer.follow;
  if (answer.work)
    start_work(client, std::move(answer));
  else
    client.out = std::move(answer.line);
  client.read_ns = now;
  write_to(client, now);
}

/// The packet thread comes first, even on a machine with one processor.
void ConsoleServer::earn(std::uint64_t now) {
  const auto here = std::ranges::count_if(users_, [](const auto& each) { return each.second.clients > 0; });
  const auto each_ns = static_cast<double>(now - std::exchange(earned_ns_, now)) / std::max<double>(1, here);
  const auto add = [&](std::int64_t& left, double share, std::int64_t most) {
    left = std::min(most, left + static_cast<std::int64_t>(each_ns * share));
  };
  for (auto& [uid, who] : users_) {
    add(who.time_left_ns, limits_.share, limits_.burst_ns);
    add(who.counters_left_ns, limits_.counters_share, limits_.counters_burst_ns);
  }
  // Who left is remembered until nothing is owed: who comes again at once has no more than before.
  std::erase_if(users_, [&](const auto& each) {
    const auto& who = each.second;
    return who.clients == 0 && who.works == 0 && who.time_left_ns == limits_.burst_ns &&
           who.counters_left_ns == limits_.counters_burst_ns;
  });
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
  auto& running = user(client.who.uid).works;
  client.works = running < limits_.works && (works_.size() < limits_.works_in_all || running == 0);
  try {
    if (client.works) works_.push_back({client.number, client.who.uid, std::thread(body)});
  } catch (const std::system_error&) {  // no thread to be had
    client.works = false;
  }
  if (client.works)
    ++running;
  else
    client.out = std::move(answer.line);
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
    --user(work->uid).works;
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

/// Each follower has its own place in the journal: what it has no room for waits there, until newer events need the
/// room.
void ConsoleServer::pass_events(std::uint64_t now) {
  auto number = std::numeric_limits<std::uint64_t>::max();
  for (const auto& client : clients_)
    if (has_room(client)) number = std::min(number, client.follows->next);
  const auto batch = log_.since(number, kBatch);
  number = batch.next - batch.events.size();
  for (const auto& event : batch.events) {
    std::array<std::string, 4> written;  // once for all who want it so
    for (auto& client : clients_) {
      if (!has_room(client) || client.follows->next > number) continue;
      auto& follows = *client.follows;
      if (client.out.empty()) client.read_ns = now;
      if (follows.next < number)
        client.out += lost_line(number - follows.next, follows.numbered ? Number(number) : Number());
      follows.next = number + 1;
      if (!follows.wants(*event)) continue;
      auto& line = written[(follows.numbered ? 1 : 0) + (follows.pictured ? 2 : 0)];
      if (line.empty()) line = event_line(*event, follows.numbered ? Number(number) : Number(), follows.pictured);
      client.out += line;
    }
    ++number;
  }
  if (!batch.events.empty())
    for (auto& client : clients_) write_to(client, now);
}

void ConsoleServer::send_away(std::uint64_t now) {
  remove([&](const auto& client) {
    const bool stalled = !client.out.empty() && now - client.read_ns > limits_.stalled_ns;
    const bool idle = !client.works && !client.follows && now - client.asked_ns > limits_.idle_ns;
    return stalled || idle;
  });
}

}  // namespace pqcmav
