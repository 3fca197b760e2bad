// SPDX-License-Identifier: Apache-2.0
// A TCP client of the handshake port that does whatever the test wants, from any loopback address.
#pragma once

#include "engine_fixture.hpp"
#include "handshake/handshake.hpp"

namespace pqcmav::test {

class TcpClient {
 public:
  explicit TcpClient(std::uint16_t port, const std::string& from = "127.0.0.1")
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto local = resolve(from, 0, true, SOCK_STREAM), remote = resolve("127.0.0.1", port, false, SOCK_STREAM);
    connected_ =
        ::bind(fd_.get(), local.get(), local.size) == 0 && ::connect(fd_.get(), remote.get(), remote.size) == 0;
  }
  [[nodiscard]] bool connected() const { return connected_; }
  bool send(ByteView bytes) const {
    return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  /// What comes next: empty = the other side closed (or reset), nullopt = nothing in time.
  [[nodiscard]] std::optional<Bytes> receive(milliseconds limit = 20s) const {
    pollfd wait{fd_.get(), POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
    Bytes out(65536);
    const auto got = ::recv(fd_.get(), out.data(), out.size(), 0);
    out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return out;
  }
  /// Everything until the other side closes; nullopt when it does not.
  [[nodiscard]] std::optional<Bytes> receive_all(milliseconds limit = 20s) const {
    Bytes out;
    for (;;) {
      const auto more = receive(limit);
      if (!more) return std::nullopt;
      if (more->empty()) return out;
      append(out, *more);
    }
  }
  /// Closes with a reset instead of a goodbye.
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    fd_.reset();
  }
  void close() { fd_.reset(); }

 private:
  Fd fd_;
  bool connected_ = false;
};

}  // namespace pqcmav::test
