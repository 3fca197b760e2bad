// SPDX-License-Identifier: Apache-2.0
#include "control/handshake_client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "net/lookup.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

/// A gcs that does not answer the connection with its challenge by then is not there: better try again than wait for
/// the kernel's retries, which a long blackout has spread far apart.
constexpr seconds kAnswerLimit{5};

enum class Ready { yes, cancelled, timeout };

/// Waits for `events` on `fd` until the deadline (monotonic ns).
Ready wait_for(int fd, short events, int cancel_fd, std::uint64_t deadline_ns) {
  for (;;) {
    const auto now = now_ns();
    if (now >= deadline_ns) return Ready::timeout;
    pollfd fds[2] = {{fd, events, 0}, {cancel_fd, POLLIN, 0}};
    const int count = ::poll(fds, 2, static_cast<int>((deadline_ns - now) / 1'000'000 + 1));
    if (count < 0 && errno == EINTR) continue;
    if (fds[1].revents != 0) return Ready::cancelled;
    if (fds[0].revents != 0) return Ready::yes;
  }
}

HandshakeError error_of(Ready ready) {
  return ready == Ready::cancelled ? HandshakeError::cancelled : HandshakeError::timeout;
}

/// Sends everything, also what does not fit the socket buffer at once.
HandshakeError send_all(int fd, ByteView bytes, int cancel_fd, std::uint64_t deadline_ns) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (const auto ready = wait_for(fd, POLLOUT, cancel_fd, deadline_ns); ready != Ready::yes) return error_of(ready);
    } else if (errno != EINTR) {
      return HandshakeError::closed;
    }
  }
  return HandshakeError::none;
}

class Attempt {
 public:
  Attempt(const std::string& host, std::uint16_t port, int cancel_fd,
          const std::function<bool(const SockAddr&)>& usable)
      : host_(host), port_(port), cancel_fd_(cancel_fd), usable_(usable), start_ns_(now_ns()) {}

  ClientOutcome run(InitiatorParams params) {
    if (connect()) converse(std::move(params));
    out_.duration_ns = now_ns() - start_ns_;
    return std::move(out_);
  }

 private:
  bool fail(HandshakeError error, std::string reason) {
    out_.error = error;
    out_.reason = std::move(reason);
    return false;
  }

  std::string target() const { return out_.gcs.empty() ? host_ + ":" + std::to_string(port_) : out_.gcs.text(); }

  bool connect() {
    std::vector<SockAddr> found;
    try {
      auto addresses = lookup(host_, port_, SOCK_STREAM, cancel_fd_);
      if (!addresses) return fail(HandshakeError::cancelled, "The handshake was cancelled.");
      found = std::move(*addresses);
    } catch (const TunnelError& error) {
      return fail(HandshakeError::closed, error.what());
    }
    std::erase_if(found, [&](const auto& address) { return !usable_(address); });
    if (found.empty())
      return fail(HandshakeError::closed, "'" + host_ +
                                              "' has no address that the configured 'bind' can reach: leave 'bind' "
                                              "empty, or give an address of the peer's kind (IPv4, IPv6).");
    for (const auto& address : found) {
      if (connect_to(address)) return true;
      if (out_.error == HandshakeError::cancelled) break;
    }
    return false;
  }

  bool connect_to(const SockAddr& address) {
    out_.gcs = address;
    deadline_ns_ = now_ns() + to_ns(kAnswerLimit);
    socket_ = Fd(::socket(out_.gcs.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    tune_handshake_socket(socket_.get());
    if (!socket_ || (::connect(socket_.get(), out_.gcs.get(), out_.gcs.size) != 0 && errno != EINPROGRESS))
      return fail_connect(errno);
    if (const auto ready = wait_for(socket_.get(), POLLOUT, cancel_fd_, deadline_ns_); ready != Ready::yes)
      return fail(error_of(ready), ready == Ready::cancelled ? "The handshake was cancelled."
                                                             : "No answer from the gcs at " + target() +
                                                                   "; check 'peer', the network and firewalls.");
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return fail_connect(error);
    out_.connect_ns = now_ns() - start_ns_;
    out_.error = HandshakeError::none;
    out_.reason.clear();
    return true;
  }

  bool fail_connect(int error) {
    if (error == ECONNREFUSED)
      return fail(HandshakeError::closed, "Nothing listens for handshakes at " + target() +
                                              "; start the gcs proxy or check 'peer' and 'handshake_port'.");
    return fail(HandshakeError::closed, "Cannot connect to the gcs at " + target() + ": " + system_reason(error) + ".");
  }

  void converse(InitiatorParams params) {
    HandshakeInitiator initiator(std::move(params));
    Bytes buffer(std::size_t{256} << 10);
    for (;;) {
      const auto got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) {
        if (const auto ready = wait_for(socket_.get(), POLLIN, cancel_fd_, deadline_ns_); ready != Ready::yes)
          return finish(initiator, error_of(ready));
        continue;
      }
      if (got <= 0) return finish(initiator, HandshakeError::closed);
      out_.answered = true;
      deadline_ns_ = start_ns_ + to_ns(kHandshakeLimit);
      const auto step = initiator.on_data(ByteView(buffer).first(static_cast<std::size_t>(got)), now_ns());
      if (!step.send.empty())
        if (const auto error = send_all(socket_.get(), step.send, cancel_fd_, deadline_ns_);
            error != HandshakeError::none)
          return finish(initiator, error);
      if (step.status == HandshakeStatus::failed) return finish(initiator, initiator.error());
      if (step.status == HandshakeStatus::done) {
        out_.keys = initiator.take_keys();
        return finish(initiator, HandshakeError::none);
      }
      initiator.prepare();
    }
  }

  void finish(const HandshakeInitiator& initiator, HandshakeError error) {
    out_.times = initiator.times();
    out_.reject_code = initiator.reject_code();
    out_.error = error;
    if (error != HandshakeError::none) out_.reason = describe(error, out_.reject_code, true);
  }

  const std::string& host_;
  std::uint16_t port_;
  int cancel_fd_;
  const std::function<bool(const SockAddr&)>& usable_;
  std::uint64_t start_ns_, deadline_ns_ = 0;
  Fd socket_;
  ClientOutcome out_;
};

}  // namespace

ClientOutcome run_client_handshake(const std::string& host, std::uint16_t port, InitiatorParams params, int cancel_fd,
                                   const std::function<bool(const SockAddr&)>& usable) {
  return Attempt(host, port, cancel_fd, usable).run(std::move(params));
}

}  // namespace pqcmav
