// SPDX-License-Identifier: Apache-2.0
// The applications at both ends of many tunnels: chaos/traffic_host.py for fleets whose messages a Python process cannot
// keep up with. The same messages (chaos/messages.py), commands and results, without bursts and without a log.
//
// It looks once a millisecond and does all that is due at once: an application that is woken for each message takes
// the processors away from what is measured.
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "clock.hpp"
#include "fd.hpp"
#include "net/net.hpp"

namespace pqcmav {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kHead = 16, kLargest = 2048, kTableSize = kLargest + 256;
constexpr std::uint8_t kCheck = 0xA7;
constexpr std::uint64_t kLookNs = 1'000'000, kLateNs = 250'000'000;
constexpr int kBufferBytes = 8 << 20;

/// Filling byte i of message n is (131 n + 7 i) mod 256: a window of one table, found through 7 * 183 = 1 (mod 256).
const std::uint8_t* filling(std::uint32_t number) noexcept {
  static const auto table = [] {
    std::array<std::uint8_t, kTableSize> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(7 * i);
    return out;
  }();
  return table.data() + ((number * 131u * 183u) & 0xFFu);
}

/// One stream: a drone and a way.
struct Tally {
  std::uint64_t sent = 0, send_errors = 0, received = 0, duplicates = 0, reordered = 0, longest_gap_ns = 0, last_ns = 0,
                kernel_dropped = 0;
  std::vector<bool> seen;
  std::int64_t highest = -1;

  void arrive(std::uint32_t number, std::uint64_t now) {
    if (number >= seen.size()) seen.resize(std::max<std::size_t>(number + 1, seen.size() + 4096));
    if (seen[number]) {
      ++duplicates;
      return;
    }
    seen[number] = true;
    ++received;
    if (number < highest)
      ++reordered;
    else
      highest = number;
    if (last_ns != 0) longest_gap_ns = std::max(longest_gap_ns, now - last_ns);
    last_ns = now;
  }
};

struct Endpoint {
  int socket = -1;
  std::uint16_t drone = 0;
  std::uint8_t way = 0;
  SockAddr to;
  double period_ns = 0;
  std::uint64_t start_ns = 0;
  std::uint32_t number = 0;
  Tally tally;  // of the stream that it sends: 'sent'; of the one that arrives here: all else

  [[nodiscard]] std::uint64_t due() const noexcept {
    return start_ns + static_cast<std::uint64_t>(period_ns * static_cast<double>(number));
  }
};

class Traffic {
 public:
  explicit Traffic(const Json& config) : sizes_(config.at("sizes").get<std::vector<std::size_t>>()) {
    if (sizes_.empty() || std::ranges::any_of(sizes_, [](auto size) { return size < kHead || size > kLargest; }))
      throw std::invalid_argument("'sizes' must be from 16 to 2048");
    if (config.contains("log") && !config.at("log").is_null()) throw std::invalid_argument("this one keeps no log");
    const auto& all = config.at("endpoints");
    const auto now = now_ns();
    for (const auto& each : all) {
      if (each.at("burst").get<int>() != 0) throw std::invalid_argument("this one sends no bursts");
      Endpoint end;
      end.socket = each.at("fd");
      end.drone = each.at("drone");
      end.way = each.at("way");
      end.to = resolve(each.at("to").at(0).get<std::string>(), each.at("to").at(1), false, SOCK_DGRAM);
      end.period_ns = 1e9 / each.at("rate").get<double>();
      // Starts are spread over one period, so that endpoints do not send in step.
      end.start_ns = now + static_cast<std::uint64_t>(end.period_ns * static_cast<double>(ends_.size()) /
                                                      static_cast<double>(all.size()));
      ::setsockopt(end.socket, SOL_SOCKET, SO_RCVBUFFORCE, &kBufferBytes, sizeof kBufferBytes);
      due_.emplace(end.due(), ends_.size());
      ends_.push_back(std::move(end));
    }
  }

  void watch(int epoll) const {
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      ::epoll_ctl(epoll, EPOLL_CTL_ADD, ends_[i].socket, &event);
    }
  }

  void send_due(std::uint64_t now) {
    std::array<std::uint8_t, kLargest> message;
    while (!due_.empty() && due_.top().first <= now) {
      const auto [when, index] = due_.top();
      due_.pop();
      auto& end = ends_[index];
      if (now - when > kLateNs) ++late_;
      const auto size = sizes_[end.number % sizes_.size()];
      store_be(message.data(), end.drone);
      message[2] = end.way;
      message[3] = kCheck;
      store_be(message.data() + 4, end.number);
      store_be(message.data() + 8, now_ns());
      std::memcpy(message.data() + kHead, filling(end.number), size - kHead);
      if (::sendto(end.socket, message.data(), size, MSG_DONTWAIT, end.to.get(), end.to.size) < 0) {
        ++send_errors_;
        ++end.tally.send_errors;
      }
      ++end.tally.sent;
      ++end.number;
      due_.emplace(end.due(), index);
    }
  }

  /// Takes one message of an endpoint: most have no more, and epoll tells.
  bool receive(std::size_t index) {
    auto& end = ends_[index];
    std::array<std::uint8_t, 4096> data;
    const auto got = ::recv(end.socket, data.data(), data.size(), MSG_DONTWAIT);
    if (got < 0) return false;
    take(end, ByteView(data).first(static_cast<std::size_t>(got)), now_ns());
    return true;
  }

  [[nodiscard]] Json results() {
    Json streams = Json::array();
    for (const auto& end : ends_) {
      const auto* other = opposite(end);  // what it sends arrives there
      const Tally none;
      const auto& arrived = other != nullptr ? other->tally : none;
      streams.push_back({{"drone", end.drone},
                         {"way", end.way},
                         {"sent", end.tally.sent},
                         {"send_errors", end.tally.send_errors},
                         {"received", arrived.received},
                         {"duplicates", arrived.duplicates},
                         {"reordered", arrived.reordered},
                         {"longest_gap_ns", arrived.longest_gap_ns},
                         {"last_ns", arrived.last_ns},
                         {"kernel_dropped", other != nullptr ? kernel_drops(other->socket) : 0}});
    }
    for (auto& end : ends_) end.tally.longest_gap_ns = 0;
    return {{"streams", streams},
            {"corrupted", corrupted_},
            {"misdelivered", misdelivered_},
            {"send_errors", send_errors_},
            {"late", late_}};
  }

 private:
  static std::uint32_t kernel_drops(int socket) noexcept {
    std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
    socklen_t size = sizeof info;
    return ::getsockopt(socket, SOL_SOCKET, SO_MEMINFO, info.data(), &size) == 0 ? info[SK_MEMINFO_DROPS] : 0;
  }

  void take(Endpoint& end, ByteView data, std::uint64_t now) {
    if (data.size() < kHead || data.size() > kLargest || data[3] != kCheck || data[2] > 1) {
      ++corrupted_;
      return;
    }
    const auto number = load_be<std::uint32_t>(data.data() + 4);
    if (data.size() != sizes_[number % sizes_.size()] ||
        std::memcmp(data.data() + kHead, filling(number), data.size() - kHead) != 0)
      ++corrupted_;
    else if (load_be<std::uint16_t>(data.data()) != end.drone || data[2] == end.way)
      ++misdelivered_;
    else
      end.tally.arrive(number, now);
  }

  [[nodiscard]] const Endpoint* opposite(const Endpoint& end) {
    if (opposite_.empty())
      for (std::size_t i = 0; i < ends_.size(); ++i) opposite_[{ends_[i].drone, ends_[i].way}] = i;
    const auto it = opposite_.find({end.drone, static_cast<std::uint8_t>(1 - end.way)});
    return it == opposite_.end() ? nullptr : &ends_[it->second];
  }

  std::vector<std::size_t> sizes_;
  std::vector<Endpoint> ends_;
  using Due = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::map<std::pair<std::uint16_t, std::uint8_t>, std::size_t> opposite_;
  std::uint64_t corrupted_ = 0, misdelivered_ = 0, send_errors_ = 0, late_ = 0;
};

/// Lines from a descriptor. nullopt: none yet.
class Commands {
 public:
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  std::optional<Json> next() {
    auto end = buffer_.find('\n');
    if (end == std::string::npos && !ended_) {
      std::array<char, 65536> more;
      const auto got = ::read(STDIN_FILENO, more.data(), more.size());
      if (got > 0)
        buffer_.append(more.data(), static_cast<std::size_t>(got));
      else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        ended_ = true;
      end = buffer_.find('\n');
    }
    if (end == std::string::npos) return std::nullopt;
    auto out = Json::parse(buffer_.substr(0, end));
    buffer_.erase(0, end + 1);
    return out;
  }

 private:
  std::string buffer_;
  bool ended_ = false;
};

void answer(const Json& command, Json result) {
  std::cout << Json{{"id", command.at("id")}, {"ok", true}, {"result", std::move(result)}}.dump() << std::endl;
}

int run() {
  Commands commands;
  std::optional<Json> start;
  while (!start && !commands.ended()) start = commands.next();
  if (!start) return 0;
  ::prctl(PR_SET_TIMERSLACK, 1000);
  std::optional<Traffic> traffic;
  try {
    traffic.emplace(*start);
  } catch (const std::exception& error) {
    std::cout << Json{{"id", start->at("id")}, {"ok", false}, {"error", error.what()}}.dump() << std::endl;
    return 1;
  }
  const Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  traffic->watch(epoll.get());
  ::fcntl(STDIN_FILENO, F_SETFL, ::fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
  answer(*start, now_ns());

  std::array<epoll_event, 1024> ready{};
  std::optional<Json> stop;
  std::uint64_t quiet_ns = 0, quiet_at = 0, give_up_at = 0, next_command = 0;
  for (auto look = now_ns();; look = std::max(look + kLookNs, now_ns())) {
    const timespec when{static_cast<time_t>(look / 1'000'000'000), static_cast<long>(look % 1'000'000'000)};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
    if (!stop) traffic->send_due(now_ns());
    bool any = false;
    for (int count = 1; count > 0;) {
      count = ::epoll_wait(epoll.get(), ready.data(), static_cast<int>(ready.size()), 0);
      for (int i = 0; i < count; ++i) any = traffic->receive(ready[static_cast<std::size_t>(i)].data.u64) || any;
    }
    const auto now = now_ns();
    if (any && stop) quiet_at = now + quiet_ns;
    if (stop && now >= std::min(quiet_at, give_up_at)) {
      answer(*stop, traffic->results());
      return 0;
    }
    if (now < next_command) continue;
    next_command = now + 10'000'000;
    while (const auto command = commands.next()) {
      if (command->at("do") == "snapshot") {
        answer(*command, traffic->results());
        continue;
      }
      stop = command;
      quiet_ns = to_ns(command->at("quiet_s").get<double>());
      quiet_at = now + quiet_ns;
      give_up_at = now + to_ns(command->at("limit_s").get<double>());
    }
    if (commands.ended()) return 0;
  }
}

}  // namespace
}  // namespace pqcmav

int main() { return pqcmav::run(); }
