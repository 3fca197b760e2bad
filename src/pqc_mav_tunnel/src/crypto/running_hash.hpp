// SPDX-License-Identifier: Apache-2.0
// SHA-256 over a stream: fed as bytes arrive, so that a message of a megabyte is hashed by the time its last byte is
// there.
#pragma once

#include "crypto/kdf.hpp"
#include "crypto/openssl_handles.hpp"

namespace pqcmav {

/// Throws TunnelError(crypto) if OpenSSL fails.
class RunningHash {
 public:
  RunningHash();
  void add(ByteView bytes);
  /// Once; nothing may be added afterwards.
  [[nodiscard]] Hash finish();

 private:
  EvpMdCtxHandle ctx_;
};

}  // namespace pqcmav
