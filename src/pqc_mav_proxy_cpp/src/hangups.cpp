// SPDX-License-Identifier: Apache-2.0
#include "hangups.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace pqc_mav_proxy_cpp {
namespace {

sigset_t hangup() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

void Hangups::block() {
  const auto set = hangup();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Hangups::Hangups(std::function<void()> reload, std::function<void()> end)
    : thread_([this, reload = std::move(reload), end = std::move(end)] {
        const auto set = hangup();
        siginfo_t info{};
        while (!ending_) {
          if (::sigwaitinfo(&set, &info) != SIGHUP || ending_) continue;
          if (info.si_code == SI_KERNEL)
            end();
          else
            reload();
        }
      }) {}

Hangups::~Hangups() {
  ending_ = true;
  ::pthread_kill(thread_.native_handle(), SIGHUP);
  thread_.join();
}

}  // namespace pqc_mav_proxy_cpp
