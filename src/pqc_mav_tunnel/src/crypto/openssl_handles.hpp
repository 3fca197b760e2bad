// SPDX-License-Identifier: Apache-2.0
// Owning handles for OpenSSL objects, and the error that every failed call becomes.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>

#include <cstdio>
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
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  std::string reason = text != nullptr ? text : "no reason given";
  if (text == nullptr && code != 0) {  // a host without OpenSSL's texts
    char hex[24];
    std::snprintf(hex, sizeof hex, "%lX", code);
    reason = "error " + std::string(hex) + ": 'openssl errstr " + hex + "' explains it";
  }
  return {Errc::crypto, "OpenSSL could not " + std::string(what) + " (" + reason +
                            "); check that the system's OpenSSL 3 and its default provider are intact."};
}

}  // namespace pqcmav
