// SPDX-License-Identifier: Apache-2.0
// Threads with a stack large enough for the handshake's algorithms (Classic McEliece works on the stack), names and
// priorities.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>

namespace pqcmav {

/// At most 15 characters, as shown by ps and top.
inline void name_this_thread(const char* name) noexcept { ::pthread_setname_np(::pthread_self(), name); }

/// Lower priority than the data thread for threads that compute handshakes: a packet never waits for a signature.
/// Relative to what the process was given: an absolute value would put them above a data thread that was started with
/// 'nice'.
inline void lower_this_thread(int by) noexcept {
  const auto thread = static_cast<id_t>(::gettid());
  ::setpriority(PRIO_PROCESS, thread, std::min(::getpriority(PRIO_PROCESS, thread) + by, 19));
}

/// Runs only when nothing else wants the processor.
inline void idle_this_thread() noexcept {
  const sched_param none{};
  ::pthread_setschedparam(::pthread_self(), SCHED_IDLE, &none);
}

/// Joined at the latest when destroyed. The stack is address space only until it is used.
class BigThread {
 public:
  static constexpr std::size_t kStackBytes = std::size_t{64} << 20;
  BigThread() noexcept = default;
  explicit BigThread(std::function<void()> body) {
    auto owned = std::make_unique<std::function<void()>>(std::move(body));
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, kStackBytes);
    const int code = ::pthread_create(
        &thread_, &attributes,
        [](void* argument) -> void* {
          const std::unique_ptr<std::function<void()>> run(static_cast<std::function<void()>*>(argument));
          (*run)();
          return nullptr;
        },
        owned.get());
    ::pthread_attr_destroy(&attributes);
    if (code != 0) throw std::system_error(code, std::generic_category(), "cannot start a thread");
    (void)owned.release();  // the thread owns it now
    running_ = true;
  }
  BigThread(const BigThread&) = delete;
  BigThread& operator=(const BigThread&) = delete;
  BigThread(BigThread&& other) noexcept : thread_(other.thread_), running_(std::exchange(other.running_, false)) {}
  BigThread& operator=(BigThread&& other) noexcept {
    if (this != &other) {
      join();
      thread_ = other.thread_;
      running_ = std::exchange(other.running_, false);
    }
    return *this;
  }
  ~BigThread() { join(); }
  /// Ends idle priority, so that joining does not wait for a busy machine to become idle.
  void hurry() noexcept {
    const sched_param none{};
    if (running_) ::pthread_setschedparam(thread_, SCHED_OTHER, &none);
  }
  void join() noexcept {
    if (running_) ::pthread_join(thread_, nullptr);
    running_ = false;
  }

 private:
  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace pqcmav
