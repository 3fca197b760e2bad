// SPDX-License-Identifier: Apache-2.0
//
// Compiled into the shared library when the liboqs source lacks this function (0.13 does). Newer liboqs-python
// resolves it while it is being imported, so without it the Python side cannot load this library at all.
#include <oqs/oqs.h>
#include <stdbool.h>

OQS_API bool OQS_SIG_supports_ctx_str(const char* method_name);

/// Tells whether the signature algorithm `method_name` takes a context string; false for a name that is unknown
/// or not enabled.
OQS_API bool OQS_SIG_supports_ctx_str(const char* method_name) {
  if (method_name == NULL) {
    return false;
  }
  OQS_SIG* sig = OQS_SIG_new(method_name);
  if (sig == NULL) {
    return false;
  }
  const bool supported = sig->sig_with_ctx_support;
  OQS_SIG_free(sig);
  return supported;
}
