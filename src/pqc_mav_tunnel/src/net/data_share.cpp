// SPDX-License-Identifier: Apache-2.0
#include "net/data_share.hpp"

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {

/// The filter sees the datagram's content. What is too short for a load is the first socket's: the kernel ends the
/// filter with 0 then. Nothing here is trusted: a packet with a foreign id reaches a thread that does not know it.
void steer_packets(const Fd& first, std::size_t threads) {
  constexpr std::uint32_t kSessionAt = 5, kIndexAt = 1, kCompact = 0x80, kWide = 0x10, kHandshakes = 0x30;
  const auto n = static_cast<std::uint32_t>(threads);
  std::array<sock_filter, 13> program{{
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kCompact, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kHandshakes, 3, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kSessionAt),
      BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, n),
      BPF_STMT(BPF_RET | BPF_A, 0),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kWide, 2, 0),
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kIndexAt),
      BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, kIndexAt),
      BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, n),
      BPF_STMT(BPF_RET | BPF_A, 0),
  }};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::setsockopt(first.get(), SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &filter, sizeof filter) != 0)
    throw TunnelError(Errc::io, "This kernel does not spread packets over several sockets (" + system_reason(errno) +
                                    "); set 'data_threads' to 1.");
}

}  // namespace pqcmav
