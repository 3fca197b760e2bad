// SPDX-License-Identifier: Apache-2.0
// A network of this process' own, in which it may have the kernel say what it likes to those who listen for uevents.
#pragma once

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "fd.hpp"

namespace pqcmav::test {

/// From now on this process, which has one thread, is in a network of its own with a loopback interface. False where it
/// may not.
inline bool enter_own_network() {
  static const bool entered = [] {
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
    const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq lo{};
    std::strcpy(lo.ifr_name, "lo");
    lo.ifr_flags = IFF_UP;
    return ::ioctl(any.get(), SIOCSIFFLAGS, &lo) == 0;
  }();
  return entered;
}

/// The kernel passes a uevent of a network's owner on to all who listen there, with itself as the sender: what they get
/// is as if the driver had said it. Fields end with a zero byte.
inline void say_uevent(std::string_view fields) {
  const Fd out(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT));
  nlmsghdr head{};
  head.nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + fields.size());
  head.nlmsg_flags = NLM_F_REQUEST;
  head.nlmsg_type = NLMSG_MIN_TYPE;
  std::string message(reinterpret_cast<const char*>(&head), sizeof head);
  message += fields;
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  ASSERT_EQ(
      ::sendto(out.get(), message.data(), message.size(), 0, reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel),
      static_cast<ssize_t>(message.size()))
      << std::strerror(errno);
}

/// As drivers/virt/vmgenid.c says that the hypervisor changed the generation id.
inline void say_set_back() {
  using namespace std::string_view_literals;
  say_uevent(
      "change@/devices/platform/VMGENCTR:00\0ACTION=change\0DEVPATH=/devices/platform/VMGENCTR:00\0"
      "SUBSYSTEM=platform\0NEW_VMGENID=1\0"sv);
}

}  // namespace pqcmav::test
