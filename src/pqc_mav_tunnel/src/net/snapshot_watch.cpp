// SPDX-License-Identifier: Apache-2.0
#include "net/snapshot_watch.hpp"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <utility>

namespace pqcmav {
namespace {

constexpr unsigned kFromKernel = 1;     // the multicast group; what udev passes on has another
constexpr std::size_t kLongest = 8192;  // of a uevent: the kernel makes none longer
// Each device that comes or goes is a uevent: thousands find room while the data thread is busy.
constexpr int kRoom = 1 << 20;
constexpr std::string_view kSign = "NEW_VMGENID=1";

/// Fields end with a zero byte.
bool has_sign(std::string_view message) noexcept {
  while (!message.empty()) {
    const auto end = message.find('\0');
    if (message.substr(0, end) == kSign) return true;
    if (end == std::string_view::npos) return false;
    message.remove_prefix(end + 1);
  }
  return false;
}

Fd listen_to_kernel() noexcept {
  Fd out(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT));
  if (!out) return out;
  (void)::setsockopt(out.get(), SOL_SOCKET, SO_RCVBUF, &kRoom, sizeof kRoom);
  sockaddr_nl at{};
  at.nl_family = AF_NETLINK;
  at.nl_groups = kFromKernel;
  if (::bind(out.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) out.reset();
  return out;
}

}  // namespace

SnapshotWatch::SnapshotWatch(std::filesystem::path boot_id)
    : file_(std::move(boot_id)), boot_id_(read_boot_id()), socket_(listen_to_kernel()) {}

bool SnapshotWatch::told() noexcept {
  bool found = false;
  std::array<char, kLongest> message;
  for (;;) {
    sockaddr_nl from{};
    socklen_t size = sizeof from;
    const auto got =
        ::recvfrom(socket_.get(), message.data(), message.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0 && errno == ENOBUFS) continue;  // some had no room
    if (got < 0) return found;
    // Only the kernel has no port of its own.
    if (size == sizeof from && from.nl_pid == 0 && (from.nl_groups & kFromKernel) != 0)
      found = has_sign({message.data(), static_cast<std::size_t>(got)}) || found;
  }
}

bool SnapshotWatch::boot_changed() {
  auto now = read_boot_id();
  if (now.empty() || now == boot_id_) return false;
  const bool known = !boot_id_.empty();
  boot_id_ = std::move(now);
  return known;
}

std::string SnapshotWatch::read_boot_id() const {
  std::string out;
  std::ifstream(file_) >> out;
  return out;
}

}  // namespace pqcmav
