// SPDX-License-Identifier: Apache-2.0
// The addresses that drones speak from: whether one is among them is asked for each handshake datagram, of which a flood
// has many, so it must not cost more with a thousand drones than with one.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "net/net.hpp"

namespace pqcmav {

/// Any thread.
class AddressBook {
 public:
  /// An empty address is none.
  void add(const SockAddr& address) {
    if (address.empty()) return;
    const std::lock_guard lock(mutex_);
    ++known_[key_of(address)];
  }
  /// Of those behind the same address and port each is there once.
  void remove(const SockAddr& address) {
    const std::lock_guard lock(mutex_);
    const auto it = address.empty() ? known_.end() : known_.find(key_of(address));
    if (it != known_.end() && --it->second == 0) known_.erase(it);
  }
  [[nodiscard]] bool contains(const SockAddr& address) const noexcept {
    const std::lock_guard lock(mutex_);
    return !known_.empty() && !address.empty() && known_.contains(key_of(address));
  }

 private:
  using Key = ByteArray<18>;  // IP address and port
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<std::string_view>{}({reinterpret_cast<const char*>(key.data()), key.size()});
    }
  };
  static Key key_of(const SockAddr& address) noexcept {
    Key out;
    const auto ip = address.ip16();
    const auto port = address.port();
    std::memcpy(out.data(), ip.data(), ip.size());
    std::memcpy(out.data() + ip.size(), &port, sizeof port);
    return out;
  }
  mutable std::mutex mutex_;
  std::unordered_map<Key, unsigned, Hash> known_;
};

}  // namespace pqcmav
