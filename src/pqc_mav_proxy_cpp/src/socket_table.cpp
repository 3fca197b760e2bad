// SPDX-License-Identifier: Apache-2.0
#include "socket_table.hpp"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

namespace pqc_mav_proxy_cpp {
namespace {

namespace fs = std::filesystem;

struct Table {
  const char* name;
  bool udp, v6;
  // include/net/tcp_states.h; of UDP sockets, 7 are unconnected. A connected one hears its peer alone.
  const char* hears_anybody;
};
constexpr std::array<Table, 4> kTables{
    {{"udp", true, false, "07"}, {"udp6", true, true, "07"}, {"tcp", false, false, "0A"}, {"tcp6", false, true, "0A"}}};
constexpr std::pair kEphemeral{32768, 60999};  // the kernel's default
constexpr std::size_t kFirstOfV4 = 12;         // its place in the 16 bytes

template <typename Number>
Number parsed(std::string_view text, int base) {
  Number out{};
  std::from_chars(text.data(), text.data() + text.size(), out, base);
  return out;
}

/// "0100007F:8F36" of a line of the table, whose address is 32-bit numbers in the machine's own byte order.
void take_address(std::string_view text, BoundSocket& into) {
  const auto colon = text.find(':');
  auto* to = into.host.s6_addr + (into.v6 ? 0 : kFirstOfV4);
  for (std::size_t at = 0; at + 8 <= colon; at += 8, to += 4) {
    const auto word = parsed<std::uint32_t>(text.substr(at, 8), 16);
    std::memcpy(to, &word, sizeof word);
  }
  into.port = parsed<std::uint16_t>(text.substr(colon + 1), 16);
}

}  // namespace

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::system_error(errno, std::generic_category(), path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

std::string link_target(const std::string& path) {
  std::array<char, PATH_MAX> buffer{};
  const auto size = ::readlink(path.c_str(), buffer.data(), buffer.size());
  if (size < 0) throw std::system_error(errno, std::generic_category(), path);
  return {buffer.data(), static_cast<std::size_t>(size)};
}

std::string BoundSocket::host_text() const {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  const void* address = v6 ? host.s6_addr : host.s6_addr + kFirstOfV4;
  return ::inet_ntop(v6 ? AF_INET6 : AF_INET, address, buffer.data(), buffer.size());
}

std::string BoundSocket::text() const {
  std::string out = udp ? "UDP " : "TCP ";
  out += v6 ? "[" : "";
  out += host_text();
  out += v6 ? "]:" : ":";
  return out + std::to_string(port);
}

bool BoundSocket::local() const {
  if (v6 && IN6_IS_ADDR_LOOPBACK(&host)) return true;
  return (!v6 || IN6_IS_ADDR_V4MAPPED(&host)) && host.s6_addr[kFirstOfV4] == 127;
}

std::vector<BoundSocket> bound_sockets(const std::string& process) {
  std::vector<BoundSocket> out;
  for (const auto& table : kTables) {
    const auto path = process + "/net/" + table.name;
    if (!fs::exists(path)) continue;  // no IPv6 here
    std::istringstream lines(file_text(path));
    std::string line;
    std::getline(lines, line);  // the titles
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::string slot, local, remote, state, queues, timer, retransmitted, user, timeout, inode;
      fields >> slot >> local >> remote >> state >> queues >> timer >> retransmitted >> user >> timeout >> inode;
      if (state != table.hears_anybody) continue;
      BoundSocket found{table.udp, table.v6, {}, 0, parsed<std::uint64_t>(inode, 10)};
      take_address(local, found);
      out.push_back(found);
    }
  }
  return out;
}

std::set<std::uint64_t> own_sockets(const std::string& process) {
  constexpr std::string_view kSocket = "socket:[";
  std::set<std::uint64_t> out;
  for (const auto& entry : fs::directory_iterator(process + "/fd")) {
    try {
      const auto target = link_target(entry.path());
      if (target.starts_with(kSocket))
        out.insert(parsed<std::uint64_t>(std::string_view(target).substr(kSocket.size()), 10));
    } catch (const std::system_error&) {
      continue;  // closed meanwhile
    }
  }
  return out;
}

std::pair<int, int> ephemeral_ports() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  std::pair<int, int> out;
  return file >> out.first >> out.second ? out : kEphemeral;
}

}  // namespace pqc_mav_proxy_cpp
