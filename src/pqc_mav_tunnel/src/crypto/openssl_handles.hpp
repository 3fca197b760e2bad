// SPDX-License-Identifier: Apache-2.0
// Owning handles for OpenSSL objects, and the error that every failed call becomes.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {

template <auto Free>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

using EvpMdHandle = std::unique_ptr<EVP_MD, OpensslFree<EVP_MD_free>>;
using EvpMdCtxHandle = std::unique_ptr<EVP_MD_CTX, OpensslFree<EVP_MD_CTX_free>>;
using EvpPkeyHandle = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using EvpPkeyCtxHandle = std::unique_ptr<EVP_PKEY_CTX, OpensslFree<EVP_PKEY_CTX_free>>;
using EvpCipherHandle = std::unique_ptr<EVP_CIPHER, OpensslFree<EVP_CIPHER_free>>;
using EvpCipherCtxHandle = std::unique_ptr<EVP_CIPHER_CTX, OpensslFree<EVP_CIPHER_CTX_free>>;

/// The error for a failed call; empties OpenSSL's error queue of this thread, so that nothing stale is blamed later.
[[nodiscard]] inline TunnelError openssl_error(std::string_view what) {
  const unsigned long code = ERR_get_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return {Errc::crypto, "OpenSSL could not " + std::string(what) + " (" +
                            (reason == nullptr ? "no reason given" : reason) +
                            "); check that the system's OpenSSL 3 and its default provider are intact."};
}

}  // namespace pqcmav
