// SPDX-License-Identifier: Apache-2.0
// Which sockets the middleware of a process has, and whether it listens to other machines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "socket_table.hpp"

namespace pqc_mav_proxy_cpp {

/// One process's sockets: those on which DDS listens, those from which it only sends, the others.
struct Split {
  std::vector<BoundSocket> listening, sending, others;
};

/// DDS listens on the ports that the RTPS specification gives to the participants of the process, counted by their even
/// unicast port. To send, Fast DDS binds one socket per participant and address to a free port and never reads it:
/// more than that many on one address cannot all be its own, and then none of them counts as such.
Split split(const std::vector<BoundSocket>& sockets, std::size_t domain);

/// A sentence when this process listens to other machines in the ports of a ROS domain, "" otherwise.
std::string exposed_middleware(std::size_t domain);

}  // namespace pqc_mav_proxy_cpp
