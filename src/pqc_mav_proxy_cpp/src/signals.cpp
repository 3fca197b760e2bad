// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace pqc_mav_proxy_cpp {
namespace {

sigset_t all() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&set, number);
  return set;
}

}  // namespace

void Signals::block() {
  const auto set = all();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

bool Signals::asked_to_end() {
  sigset_t waiting;
  sigemptyset(&waiting);
  ::sigpending(&waiting);
  return sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1;
}

Signals::Signals(std::function<void()> reload, std::function<void()> end)
    : thread_([this, reload = std::move(reload), end = std::move(end)] {
        const auto set = all();
        siginfo_t info{};
        while (!ending_) {
          const int number = ::sigwaitinfo(&set, &info);
          if (number < 0 || ending_) continue;
          if (number == SIGHUP && info.si_code != SI_KERNEL)
            reload();
          else
            end();
        }
      }) {}

Signals::~Signals() {
  ending_ = true;
  ::pthread_kill(thread_.native_handle(), SIGHUP);
  thread_.join();
}

}  // namespace pqc_mav_proxy_cpp
