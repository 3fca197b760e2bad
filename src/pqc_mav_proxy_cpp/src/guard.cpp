// SPDX-License-Identifier: Apache-2.0
#include "guard.hpp"

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

}  // namespace

Guard::Guard(std::size_t domain, OnError on_error, FindWriters writers)
    : mark_(variable(kMark)),
      allowed_(items(variable(kAllowed))),
      domain_(domain),
      on_error_(std::move(on_error)),
      writers_(std::move(writers)) {}

const std::vector<Diagnostic>& Guard::diagnostics(double now_s, const pqcmav::EnginePorts& ports) {
  if (!at_s_ || now_s - *at_s_ >= kLook_s) {
    at_s_ = now_s;
    look(now_s, ports);
  }
  return seen_;
}

void Guard::look(double now_s, const pqcmav::EnginePorts& ports) {
  seen_.clear();
  Meant meant{{ports.data}, {}, allowed_};
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
