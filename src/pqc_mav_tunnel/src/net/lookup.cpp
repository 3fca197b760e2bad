// SPDX-License-Identifier: Apache-2.0
#include "net/lookup.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <thread>

#include "pqc_mav_tunnel/error.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

/// Written by the thread that asks, read after `done` became readable; the last of the two frees it.
struct Answer {
  Fd done{event_descriptor()};
  std::vector<SockAddr> found;
  std::string error;  // sentence, "" when found
};

void ask(const std::shared_ptr<Answer>& answer, const std::string& host, std::uint16_t port, int socket_type) {
  name_this_thread("pqc-lookup");
  try {
    answer->found = resolve_all(host, port, false, socket_type);
  } catch (const std::exception& error) {
    answer->error = error.what();
  }
  ring(answer->done);
}

}  // namespace

std::optional<std::vector<SockAddr>> lookup(const std::string& host, std::uint16_t port, int socket_type, int cancel_fd,
                                            int limit_ms) {
  if (is_ipv4(host) || is_ipv6(host)) return resolve_all(host, port, false, socket_type);
  const auto answer = std::make_shared<Answer>();
  std::thread([answer, host, port, socket_type] { ask(answer, host, port, socket_type); }).detach();
  pollfd fds[2] = {{answer->done.get(), POLLIN, 0}, {cancel_fd, POLLIN, 0}};
  int ready = 0;
  while ((ready = ::poll(fds, 2, limit_ms)) < 0 && errno == EINTR) {
  }
  if (ready == 0 || fds[1].revents != 0) return std::nullopt;
  drain(answer->done);  // after it, what the thread wrote is here
  if (!answer->error.empty()) throw TunnelError(Errc::address, answer->error);
  return std::move(answer->found);
}

}  // namespace pqcmav
