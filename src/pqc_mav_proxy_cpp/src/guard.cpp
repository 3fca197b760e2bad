// SPDX-License-Identifier: Apache-2.0
#include "guard.hpp"

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <utility>

#include "exposure.hpp"
#include "siblings.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

constexpr double kLook_s = 10.0;

std::string variable(const char* name) {
  const auto* value = std::getenv(name);
  return value ? value : "";
}

std::set<std::string> items(const std::string& list) {
  std::set<std::string> out;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');)
    if (const auto item = one_line(part); !item.empty()) out.insert(item);
  return out;
}

/// Each of `plain_endpoints` that others may come to; beyond loopback only where the configuration allows it in so many
/// words (`plain_allow_remote`). The engine names it "tcp-listen:0.0.0.0:5760".
std::set<Listener> listeners(const std::vector<pqcmav::LinkStats>& stats) {
  std::set<Listener> out;
  for (const auto& tunnel : stats)
    for (const auto& each : tunnel.endpoints) {
      const bool udp = each.name.starts_with("udp-listen:");
      if (!udp && !each.name.starts_with("tcp-listen:")) continue;
      const auto digits = each.name.substr(each.name.rfind(':') + 1);
      int port = 0;
      if (const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
          read.ec == std::errc{} && read.ptr == digits.data() + digits.size())
        out.emplace(udp, port);
    }
  return out;
}

}  // namespace

Guard::Guard(std::size_t domain, OnError on_error, FindWriters writers)
    : mark_(variable(kMark)),
      allowed_(items(variable(kAllowed))),
      domain_(domain),
      on_error_(std::move(on_error)),
      writers_(std::move(writers)) {}

const std::vector<Diagnostic>& Guard::diagnostics(double now_s, const pqcmav::EnginePorts& ports,
                                                  const std::vector<pqcmav::LinkStats>& stats) {
  if (!at_s_ || now_s - *at_s_ >= kLook_s) {
    at_s_ = now_s;
    look(now_s, ports, stats);
  }
  return seen_;
}

void Guard::look(double now_s, const pqcmav::EnginePorts& ports, const std::vector<pqcmav::LinkStats>& stats) {
  seen_.clear();
  Meant meant{{ports.data}, {}, allowed_, listeners(stats)};
  for (const auto& [drone, port] : ports.plain) meant.plain.insert(port);
  try {
    seen_.push_back(exposure(siblings(mark_), domain_, meant));
  } catch (const std::system_error&) {
    seen_.clear();  // no /proc here: nothing can be said
  }
  seen_.push_back(graph_.diagnostic(now_s, writers_()));
  std::vector<std::string> errors;
  for (const auto& each : seen_)
    if (each.level == Level::error) errors.push_back(each.message);
  const auto all = join(errors, "; ");
  if (!all.empty() && all != said_) on_error_(all);
  said_ = all;
}

}  // namespace pqc_mav_proxy_cpp
