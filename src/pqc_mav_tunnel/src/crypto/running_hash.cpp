// SPDX-License-Identifier: Apache-2.0
#include "crypto/running_hash.hpp"

namespace pqcmav {
namespace {

// Fetching walks the providers; it is done once per process.
const EVP_MD* digest() {
  static const EvpMdHandle md(EVP_MD_fetch(nullptr, "SHA256", nullptr));
  if (!md) throw openssl_error("provide SHA-256");
  return md.get();
}

}  // namespace

RunningHash::RunningHash() : ctx_(EVP_MD_CTX_new()) {
  if (!ctx_ || EVP_DigestInit_ex2(ctx_.get(), digest(), nullptr) != 1) throw openssl_error("start SHA-256");
}

void RunningHash::add(ByteView bytes) {
  if (EVP_DigestUpdate(ctx_.get(), bytes.data(), bytes.size()) != 1) throw openssl_error("compute SHA-256");
}

Hash RunningHash::finish() {
  Hash out;
  if (EVP_DigestFinal_ex(ctx_.get(), out.data(), nullptr) != 1) throw openssl_error("finish SHA-256");
  return out;
}

}  // namespace pqcmav
