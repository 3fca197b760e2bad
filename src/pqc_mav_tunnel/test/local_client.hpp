// SPDX-License-Identifier: Apache-2.0
// A client of a control socket.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "fd.hpp"

namespace pqcmav::test {

class LocalClient {
 public:
  explicit LocalClient(const std::filesystem::path& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::strncpy(to.sun_path, path.c_str(), sizeof to.sun_path - 1);
    connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] const Fd& fd() const { return fd_; }

  void say(std::string_view text) const {
    EXPECT_EQ(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  /// The next line without its end; nullopt when the other side closed, or nothing came in time.
  std::optional<std::string> line(int limit_ms = 10'000) {
    for (;;) {
      if (const auto end = got_.find('\n'); end != std::string::npos) {
        auto out = got_.substr(0, end);
        got_.erase(0, end + 1);
        return out;
      }
      pollfd wait{fd_.get(), POLLIN, 0};
      char bytes[4096];
      const auto count = ::poll(&wait, 1, limit_ms) > 0 ? ::recv(fd_.get(), bytes, sizeof bytes, 0) : -1;
      if (count <= 0) return std::nullopt;
      got_.append(bytes, static_cast<std::size_t>(count));
    }
  }
  /// The other side has closed the connection, whatever waits to be read.
  [[nodiscard]] bool hung_up() const {
    pollfd wait{fd_.get(), 0, 0};
    return ::poll(&wait, 1, 0) > 0 && (wait.revents & POLLHUP) != 0;
  }
  /// All was read, and the other side has closed the connection, or does so in time.
  [[nodiscard]] bool closed(int limit_ms = 10'000) const {
    pollfd wait{fd_.get(), POLLIN, 0};
    char byte;
    return ::poll(&wait, 1, limit_ms) > 0 && ::recv(fd_.get(), &byte, 1, MSG_PEEK) <= 0;
  }

 private:
  Fd fd_;
  bool connected_ = false;
  std::string got_;
};

}  // namespace pqcmav::test
