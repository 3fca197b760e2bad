// SPDX-License-Identifier: Apache-2.0
// Ephemeral KEM key pairs made ahead on an idle-priority thread, so that a handshake does not wait for Classic McEliece
// key generation. A pair is handed out once; one that grew too old is wiped unused.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "handshake/handshake.hpp"
#include "net/net.hpp"
#include "thread.hpp"

namespace pqcmav {

class KeyPool {
 public:
  /// Keeps `depth` pairs of each of `kems`; others join when first taken. depth 0 makes every take() fresh.
  KeyPool(std::size_t depth, std::uint64_t max_age_ns, std::vector<const KemInfo*> kems);
  ~KeyPool();
  KeyPool(const KeyPool&) = delete;
  KeyPool& operator=(const KeyPool&) = delete;

  /// A pooled pair when one waits, else a fresh one made here. Throws TunnelError as Kem does. Any thread.
  EphemeralKem take(const KemInfo& kem);
  /// Wipes what waits. Any thread.
  void clear();
  [[nodiscard]] std::size_t ready(const KemInfo& kem) const;
  [[nodiscard]] std::uint64_t made() const noexcept { return made_.load(); }

 private:
  struct Pooled {
    KemKeyPair pair;
    std::uint64_t born_ns;
  };
  void run();
  void wake() noexcept;
  const KemInfo* next_due(std::uint64_t now);  // under mutex_

  const std::size_t depth_;
  const std::uint64_t max_age_ns_;
  mutable std::mutex mutex_;
  std::map<const KemInfo*, std::deque<Pooled>> pools_;
  Fd wake_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> made_{0};
  BigThread thread_;
};

}  // namespace pqcmav
