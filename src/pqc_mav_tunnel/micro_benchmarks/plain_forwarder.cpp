// SPDX-License-Identifier: Apache-2.0
// The yardstick: one end of a UDP forwarder pair written like the data thread (epoll, recvmmsg, sendmmsg, the same
// batch classes), without any crypto or GSO.
//
//   plain_forwarder --plain HOST:PORT --plain-peer HOST:PORT|- --air HOST:PORT --air-peer HOST:PORT|-
//                   [--busy-poll-us N]
// "-" learns the peer from the last sender. Prints "ready" and runs until it is killed.
#include <sys/epoll.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "constants.hpp"
#include "net/net.hpp"
#include "net/udp_batch.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace {

using namespace pqcmav;

struct Side {
  Fd socket;
  SockAddr peer;
  bool learn;
  UdpReceiver in;
};

Side open_side(const std::string& local, const std::string& peer) {
  Side side{{}, {}, peer == "-", UdpReceiver(64, 2048, 0, 0, true)};
  bool gro = false;
  side.socket = open_udp(resolve_endpoint(local, "local"), {4096, -1, false}, "the forwarder", &gro);
  if (!side.learn) side.peer = resolve_endpoint(peer, "peer");
  return side;
}

void forward(Side& from, Side& to, UdpSender& sender) {
  const auto got = from.in.receive(from.socket.get());
  for (std::size_t i = 0; i < got; ++i) {
    if (from.learn && !(from.peer == from.in.source(i))) from.peer = from.in.source(i);
    if (sender.full()) (void)sender.flush(to.socket.get(), to.peer);
    sender.add(from.in.slot(i).bytes);
  }
  if (!sender.empty()) (void)sender.flush(to.socket.get(), to.peer);
}

}  // namespace

int main(int argc, char** argv) {
  std::string plain, plain_peer, air, air_peer;
  std::uint64_t spin_ns = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (i + 1 >= argc) return 2;
    const std::string value = argv[++i];
    if (name == "--plain")
      plain = value;
    else if (name == "--plain-peer")
      plain_peer = value;
    else if (name == "--air")
      air = value;
    else if (name == "--air-peer")
      air_peer = value;
    else if (name == "--busy-poll-us")
      spin_ns = std::strtoull(value.c_str(), nullptr, 10) * 1000;
    else
      return 2;
  }
  try {
    auto inner = open_side(plain, plain_peer);
    auto outer = open_side(air, air_peer);
    UdpSender to_air(false), to_plain(false);
    const Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
    for (const auto& [fd, tag] : {std::pair{inner.socket.get(), 0u}, std::pair{outer.socket.get(), 1u}}) {
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u32 = tag;
      ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event);
    }
    std::puts("ready");
    std::fflush(stdout);
    std::array<epoll_event, 64> ready{};
    for (std::uint64_t spin_until = 0;;) {
      const bool spin = spin_ns != 0 && now_ns() < spin_until;
      const int count = ::epoll_wait(epoll.get(), ready.data(), static_cast<int>(ready.size()), spin ? 0 : -1);
      if (count > 0 && spin_ns != 0) spin_until = now_ns() + spin_ns;
      for (int i = 0; i < count; ++i) {
        if (ready[static_cast<std::size_t>(i)].data.u32 == 0)
          forward(inner, outer, to_air);
        else
          forward(outer, inner, to_plain);
      }
    }
  } catch (const TunnelError& error) {
    std::cerr << "plain_forwarder: " << error.what() << '\n';
    return 1;
  }
}
