// SPDX-License-Identifier: Apache-2.0
// The ways of a drone to its ground station (docs/paths.md): a socket for each, what is asked by each, and the choice
// among them. The data thread owns it; an address that a path leads to has the path's number with it (SockAddr::path).
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "net/air_side.hpp"
#include "net/counters.hpp"
#include "net/net.hpp"
#include "paths/path_choice.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "session/control_frame.hpp"

namespace pqcmav {

/// What an operator may say of a path.
enum class PathWord : std::uint8_t { on, off, first };

class DronePaths {
 public:
  DronePaths(const EngineConfig& config, EventQueue& events);
  DronePaths(const DronePaths&) = delete;
  DronePaths& operator=(const DronePaths&) = delete;

  // Before the threads run.
  /// Throws TunnelError where that is no matter of time.
  void open_sockets();
  void open_radios(AirSide& air, const std::string& drone);

  // Any thread.
  [[nodiscard]] std::size_t count() const noexcept { return paths_.size(); }
  [[nodiscard]] const PathEntry& entry(std::size_t path) const noexcept { return paths_[path]->entry; }
  [[nodiscard]] std::shared_ptr<const Wire> wire(std::size_t path) const noexcept { return paths_[path]->wire; }
  /// Where the path's radio is; nothing where it has none.
  [[nodiscard]] std::optional<SockAddr> wire_address(std::size_t path) const noexcept;
  [[nodiscard]] bool reaches(std::size_t path, const SockAddr& address) const noexcept;
  /// Does a route lead there now by the interface of its path? Any thread.
  [[nodiscard]] bool has_route(const SockAddr& to) const noexcept;
  /// Is it for what cannot wait, and for nothing else?
  [[nodiscard]] bool only_commands(std::size_t path) const noexcept {
    return path < paths_.size() && paths_[path]->entry.use == PathUse::commands;
  }
  /// May a handshake take it?
  [[nodiscard]] bool usable(std::size_t path) const;
  [[nodiscard]] std::vector<PathStatus> statuses() const;
  /// Of the sockets that are open.
  [[nodiscard]] std::vector<std::uint16_t> ports() const;

  // Data thread.
  [[nodiscard]] int socket(std::size_t path) const noexcept { return paths_[path]->socket.get(); }
  [[nodiscard]] PathChoice& choice() noexcept { return choice_; }
  /// Where the ground station is by this path; empty while that is not known.
  [[nodiscard]] const SockAddr& peer(std::size_t path) const noexcept { return paths_[path]->peer; }
  void set_peer(const SockAddr& address);
  /// Of several ground stations this one is active from now on, and answers there: every path leads to it, or nowhere
  /// while its address by that path is not known.
  void lead_to(const SockAddr& station, std::uint64_t now);
  /// What the ground station is to know: which path is the main one for what it sends, and by which others goes what
  /// goes by several.
  [[nodiscard]] const PathsTold& word() const noexcept { return word_; }
  /// Makes a new word, with the next serial, if things are not as it says any more.
  void refresh_word(std::uint64_t now) noexcept;
  void count_sent(std::size_t path, std::size_t packets, std::size_t bytes) noexcept;
  void count_came(std::size_t path, std::size_t bytes) noexcept;
  void count_taken(std::size_t path) noexcept { paths_[path]->taken.add(); }
  [[nodiscard]] std::uint32_t kernel_drops() noexcept;
  /// A PROBE that leaves by this path now.
  Probe ask(std::size_t path, std::uint64_t now) noexcept;
  /// False where the reply is to another PROBE than those.
  bool on_reply(const ProbeReply& reply, std::uint64_t now) noexcept;
  void close() noexcept;
  /// Opens what is not open and is to be, once a second. Returns whose sockets are new.
  std::vector<std::size_t> tend(std::uint64_t now);
  /// The same with every UDP path, from another port: a free one, or for the first path the known one again.
  std::vector<std::size_t> change_ports();
  void publish(std::uint64_t now);
  /// Says why packets take another path.
  void tell_move(std::size_t from, std::size_t to, const std::string& why) const;

 private:
  struct Path {
    PathEntry entry;
    SockAddr where;     // what its socket is bound to
    bool both = false;  // IPv4 and IPv6
    UdpOptions options;
    Fd socket;
    std::atomic<std::uint16_t> port{0};  // of the socket; 0: it is not open
    unsigned device = 0;                 // index of the interface that the socket has
    std::shared_ptr<const Wire> wire;
    SockAddr peer;
    std::array<Probe, 8> open{};  // id 0: none
    std::uint32_t asked = 0;
    Counter tx_packets, tx_bytes, rx_packets, rx_bytes, taken;
    KernelDrops drops;
    std::string problem;
  };
  bool open(Path& path, bool first);

  EventQueue& events_;
  const std::string drone_;
  std::vector<std::unique_ptr<Path>> paths_;
  PathChoice choice_;
  PathsTold word_{};  // serial 0: none yet
  std::uint64_t next_tend_ns_ = 0;
  mutable std::mutex mutex_;
  std::vector<PathStatus> shown_;
};

}  // namespace pqcmav
