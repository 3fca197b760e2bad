// SPDX-License-Identifier: Apache-2.0
#include "control/handshake_server.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "crypto/wipe_stack.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kListenerTag = 0, kWakeTag = 1;
constexpr int kAcceptsPerTurn = 64;
constexpr int kExpireMs = 100;
constexpr int kWorkerNice = 5;

constexpr std::uint64_t kLingerNs = 5'000'000;

/// Sends what the socket takes and keeps the rest in `bytes`; true when nothing is left.
bool send_some(int fd, Bytes& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto sent = ::send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent <= 0 && errno == EINTR) continue;
    if (sent <= 0) break;
    done += static_cast<std::size_t>(sent);
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(done));
  return bytes.empty();
}

}  // namespace

HandshakeServer::HandshakeServer(const SockAddr& listen, const ServerLimits& limits,
                                 std::shared_ptr<const ResponderEnv> env, Install install, Finished finished,
                                 Progress progress, Refused refused)
    : listener_(open_tcp_listener(listen, "handshakes (TCP)")),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      port_(local_address(listener_).port()),
      limits_(limits),
      env_(std::move(env)),
      install_(std::move(install)),
      finished_(std::move(finished)),
      progress_(std::move(progress)),
      refused_(std::move(refused)),
      drones_(std::max(4.0 * limits.per_drone_s, 4.0), limits.per_drone_s) {
  if (!epoll_ || !wake_)
    throw TunnelError(Errc::io, "Cannot create an epoll descriptor: " + system_reason(errno) + ".");
  for (const auto& [fd, tag] : {std::pair{listener_.get(), kListenerTag}, std::pair{wake_.get(), kWakeTag}}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = tag;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }
}

HandshakeServer::~HandshakeServer() { stop(); }

void HandshakeServer::start() {
  for (std::size_t i = 0; i < limits_.threads; ++i)
    workers_.emplace_back([this] {
      name_this_thread("pqc-handshake");
      lower_this_thread(kWorkerNice);
      work();
    });
  thread_ = std::thread([this] {
    name_this_thread("pqc-accept");
    run();
  });
}

void HandshakeServer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_accepting_ = true;
  work_ready_.notify_all();
  ring(wake_);
  if (thread_.joinable()) thread_.join();
  for (auto& worker : workers_) worker.join();
  workers_.clear();
  connections_.clear();
  listener_.reset();  // or the kernel would go on accepting drones that nobody answers
}

void HandshakeServer::run() {
  std::array<epoll_event, 64> ready{};
  std::uint64_t expire_at = 0;
  while (!stop_accepting_) {
    const int count =
        ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), connections_.empty() ? -1 : kExpireMs);
    const auto now = now_ns();
    for (int i = 0; i < count; ++i) {
      const auto& event = ready[static_cast<std::size_t>(i)];
      if (event.data.u64 == kListenerTag) {
        accept_all(now);
      } else if (event.data.u64 == kWakeTag) {
        collect(now);
      } else {
        if ((event.events & EPOLLOUT) != 0) send_pending(event.data.u64, now);
        if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) on_readable(event.data.u64, now);
      }
    }
    if (now >= expire_at) {
      expire(now);
      expire_at = now + static_cast<std::uint64_t>(kExpireMs) * 1'000'000;
    }
  }
}

void HandshakeServer::accept_all(std::uint64_t now) {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    SockAddr source;
    source.size = sizeof source.storage;
    Fd socket(::accept4(listener_.get(), source.get(), &source.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE) make_room();
      return;
    }
    counters_.accepted.add();
    if (!sources_.allows(source.network_text(), now)) {
      counters_.rate_limited.add();
      continue;
    }
    admit(std::move(socket), source, now);
  }
}

/// When all places before the gate are taken, the source that holds most of them loses its oldest.
void HandshakeServer::make_room() {
  std::map<std::string, std::size_t> held;
  for (const auto& [id, c] : connections_)
    if (c->phase == Phase::before_gate) ++held[c->source_network];
  if (held.empty()) return;
  const auto& most = std::max_element(held.begin(), held.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
  for (const auto& [id, c] : connections_)  // ids grow with time: the first is the oldest
    if (c->phase == Phase::before_gate && c->source_network == most) return end(id, HandshakeError::timeout, now_ns());
}

void HandshakeServer::admit(Fd socket, const SockAddr& source, std::uint64_t now) {
  const auto waiting = std::count_if(connections_.begin(), connections_.end(),
                                     [](const auto& item) { return item.second->phase == Phase::before_gate; });
  if (static_cast<std::size_t>(waiting) >= kMaxPreGateConnections) make_room();
  tune_handshake_socket(socket.get());
  const auto id = next_id_++;
  auto connection = std::make_shared<Connection>(std::move(socket), source, env_);
  connection->source_network = source.network_text();
  connection->accepted_ns = now;
  connection->deadline_ns = now + to_ns(kFirstByteLimit);
  connection->out = connection->responder.start(now);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = id;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection->fd.get(), &event) != 0) return;
  connections_.emplace(id, std::move(connection));
  send_pending(id, now);
}

void HandshakeServer::watch(Id id, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  const int fd = connections_.at(id)->fd.get();
  // A hang-up while a worker had it took it off the list.
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) != 0 && errno == ENOENT)
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void HandshakeServer::on_readable(Id id, std::uint64_t now) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  auto& c = *it->second;
  if (c.phase == Phase::with_worker) {  // only a hang-up gets here: the worker's result finds it out
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, c.fd.get(), nullptr);
    return;
  }
  std::array<std::uint8_t, 16384> buffer;
  const auto got = ::recv(c.fd.get(), buffer.data(), c.phase == Phase::before_gate ? 2048 : buffer.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end(id, HandshakeError::closed, now);
  const auto received = ByteView(buffer).first(static_cast<std::size_t>(got));
  if (c.phase == Phase::waiting) {
    watch(id, 0);
    return enqueue(id, Bytes(received.begin(), received.end()));
  }
  if (!c.heard) {
    c.heard = true;
    c.deadline_ns = c.accepted_ns + to_ns(kClientHelloLimit);
  }
  const auto step = c.responder.on_data(received, now);
  if (step.status == HandshakeStatus::failed) return end(id, c.responder.error(), now);
  if (c.responder.gated()) on_gated(id, now);
}

void HandshakeServer::on_gated(Id id, std::uint64_t now) {
  auto& c = *connections_.at(id);
  const auto& drone = c.responder.drone_id();
  counters_.gated.add();
  c.deadline_ns = c.accepted_ns + to_ns(kHandshakeLimit);
  // A drone has one handshake at a time: the newer attempt is the live one.
  if (const auto old = by_drone_.find(drone); old != by_drone_.end()) {
    const auto old_id = old->second;
    if (auto& previous = *connections_.at(old_id); previous.phase == Phase::waiting)
      end(old_id, HandshakeError::cancelled, now);
    else
      previous.abandoned = true;
  }
  const auto in_flight =
      std::count_if(connections_.begin(), connections_.end(), [](const auto& item) { return item.second->counted; });
  const bool too_fast = !drones_.allows(drone, now);
  if (!too_fast) drones_.charge(drone, now);
  c.counted = true;
  by_drone_[drone] = id;
  progress_(drone, +1);
  if (too_fast || static_cast<std::size_t>(in_flight) >= limits_.max_handshakes) {
    counters_.busy.add();
    return on_step(id, c.responder.refuse(Reject::busy), now);
  }
  watch(id, 0);
  enqueue(id, {});
}

void HandshakeServer::enqueue(Id id, Bytes received) {
  auto& connection = connections_.at(id);
  connection->phase = Phase::with_worker;
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({id, connection, std::move(received)});
  }
  work_ready_.notify_one();
}

void HandshakeServer::work() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      work_ready_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    auto step = compute(*job.connection, job.received);
    job.connection.reset();
    {
      const std::lock_guard lock(mutex_);
      results_.push_back({job.id, std::move(step)});
    }
    ring(wake_);
    wipe_stack();
  }
}

/// The expensive part. What it has to say it sends itself, and it waits a moment for the answer: the way over the
/// accept thread would add two thread switches to every message. What does not fit the socket, or comes later, is left
/// to the accept thread.
HandshakeStep HandshakeServer::compute(Connection& c, ByteView received) {
  auto& responder = c.responder;
  auto step = received.empty() ? responder.go_on(now_ns()) : responder.on_data(received, now_ns());
  std::array<std::uint8_t, 16384> buffer;
  for (const auto linger_until = now_ns() + kLingerNs;
       step.status == HandshakeStatus::working && send_some(c.fd.get(), step.send);) {
    const auto now = now_ns();
    pollfd wait{c.fd.get(), POLLIN, 0};
    if (now >= linger_until || ::poll(&wait, 1, static_cast<int>((linger_until - now) / 1'000'000) + 1) <= 0)
      return step;
    const auto got = ::recv(c.fd.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return step;  // the accept thread sees it too, and ends the connection
    step = responder.on_data(ByteView(buffer).first(static_cast<std::size_t>(got)), now_ns());
  }
  if (step.status == HandshakeStatus::done) {
    if (!c.abandoned && install_(responder.drone_id(), responder.take_keys(), responder.prev_session())) {
      (void)send_some(c.fd.get(), step.send);
    } else {
      step.status = HandshakeStatus::failed;
      step.send.clear();
      c.installed = false;
    }
  }
  return step;
}

void HandshakeServer::collect(std::uint64_t now) {
  drain(wake_);
  std::vector<Result> results;
  {
    const std::lock_guard lock(mutex_);
    results.swap(results_);
  }
  for (auto& result : results) on_step(result.id, std::move(result.step), now);
}

void HandshakeServer::on_step(Id id, HandshakeStep step, std::uint64_t now) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  auto& c = *it->second;
  c.phase = Phase::waiting;
  c.last_step = step.status != HandshakeStatus::working;
  if (c.abandoned && !c.last_step) return end(id, HandshakeError::cancelled, now);
  c.out = std::move(step.send);
  c.sent = 0;
  send_pending(id, now);
}

void HandshakeServer::send_pending(Id id, std::uint64_t now) {
  const auto it = connections_.find(id);
  if (it == connections_.end()) return;
  auto& c = *it->second;
  while (c.sent < c.out.size()) {
    const auto sent = ::send(c.fd.get(), c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return watch(id, EPOLLIN | EPOLLOUT);
    if (sent <= 0) return end(id, HandshakeError::closed, now);
    c.sent += static_cast<std::size_t>(sent);
  }
  c.out = Bytes{};
  c.sent = 0;
  if (c.last_step) return end(id, c.installed ? c.responder.error() : HandshakeError::cancelled, now);
  watch(id, EPOLLIN);
}

void HandshakeServer::expire(std::uint64_t now) {
  std::vector<Id> late;
  for (const auto& [id, c] : connections_)
    if (now >= c->deadline_ns && c->phase != Phase::with_worker) late.push_back(id);
  for (const auto id : late) end(id, HandshakeError::timeout, now);
}

void HandshakeServer::end(Id id, HandshakeError error, std::uint64_t now) {
  const auto node = connections_.extract(id);
  auto& c = *node.mapped();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, c.fd.get(), nullptr);
  if (!c.responder.past_gate()) {
    (error == HandshakeError::timeout ? counters_.pregate_timeout : counters_.pregate_failed).add();
    sources_.charge(c.source_network, now);
    refused_(c.source.host_text(), c.responder.drone_id(), error);
    return;
  }
  const auto& drone = c.responder.drone_id();
  if (const auto current = by_drone_.find(drone); current != by_drone_.end() && current->second == id)
    by_drone_.erase(current);
  (error == HandshakeError::none ? counters_.completed : counters_.failed).add();
  HandshakeEvent event;
  event.ok = error == HandshakeError::none;
  event.error = error;
  event.reason = event.ok ? std::string{} : describe(error, c.responder.reject_code(), false);
  if (const auto* suite = c.responder.suite()) event.suite = suite->id;
  event.rekey = c.responder.prev_session() != SessionId{};
  event.peer = c.source.text();
  event.duration_ns = now - c.accepted_ns;
  event.times = c.responder.times();
  if (c.counted) progress_(drone, -1);
  finished_(drone, std::move(event));
}

}  // namespace pqcmav
