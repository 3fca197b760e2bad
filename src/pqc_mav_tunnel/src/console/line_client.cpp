// SPDX-License-Identifier: Apache-2.0
#include "console/line_client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "clock.hpp"
#include "text.hpp"

namespace pqcmav {

LineClient::LineClient(const std::filesystem::path& path)
    : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const auto& name = path.native();
  const bool fits = name.size() < sizeof to.sun_path;
  if (fits) std::memcpy(to.sun_path, name.c_str(), name.size());
  ucred who{};
  socklen_t size = sizeof who;
  // Nobody waits for a place in the queue of a daemon that takes no connections: it is tried again.
  if (!fits)
    close("the path is too long");
  else if (!fd_ || ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    close(errno == ENOENT || errno == ECONNREFUSED ? "nobody listens there" : system_reason(errno));
  else if (::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    close(system_reason(errno));
  pid_ = who.pid;
  uid_ = who.uid;
}

void LineClient::close(std::string problem) {
  fd_.reset();
  problem_ = std::move(problem);
}

bool LineClient::wait(short events, std::uint64_t until_ns, const Fd& stop) const {
  std::array<pollfd, 2> waits = {{{fd_.get(), events, 0}, {stop.get(), POLLIN, 0}}};
  for (;;) {
    const auto now = now_ns();
    const auto left_ms = now < until_ns ? std::min<std::uint64_t>((until_ns - now) / 1'000'000 + 1, 60'000) : 0;
    const auto ready = ::poll(waits.data(), waits.size(), static_cast<int>(left_ms));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 && now < until_ns) continue;
    return ready > 0 && waits[1].revents == 0;
  }
}

bool LineClient::say(std::string_view line, std::uint64_t until_ns, const Fd& stop) {
  std::string whole(line);
  whole += '\n';
  std::string_view left = whole;
  while (fd_ && !left.empty()) {
    const auto sent = ::send(fd_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent > 0)
      left.remove_prefix(static_cast<std::size_t>(sent));
    else if (errno != EAGAIN && errno != EINTR)
      close("it ended the connection");
    else if (!wait(POLLOUT, until_ns, stop))
      close("it took no request in time");
  }
  return static_cast<bool>(fd_);
}

std::optional<std::string> LineClient::hear(std::uint64_t until_ns, const Fd& stop) {
  while (fd_) {
    if (const auto end = in_.find('\n', looked_); end != std::string::npos) {
      auto line = in_.substr(0, end);
      in_.erase(0, end + 1);
      looked_ = 0;
      return line;
    }
    looked_ = in_.size();
    if (in_.size() > kLongest) {
      close("a line of it was longer than 16 MiB");
      break;
    }
    std::array<char, 65536> bytes;
    const auto got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (got > 0) {
      in_.append(bytes.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      close("it ended the connection");
    } else if (!wait(POLLIN, until_ns, stop)) {
      break;
    }
  }
  return std::nullopt;
}

}  // namespace pqcmav
