// SPDX-License-Identifier: Apache-2.0
// NIST's known answers of FIPS 203, 204 and 205, in known_answers/acvp.txt.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "crypto/kdf.hpp"
#include "crypto/kem_sig.hpp"
#include "vector_file.hpp"

namespace pqcmav::test {

inline const VectorFile& nist_answers() {
  static const auto file = read_vectors(PQCMAV_KNOWN_ANSWERS "/acvp.txt");
  return file;
}

inline bool here(const auto& info, ProviderChoice choice) { return find_provider(info, choice).provider != nullptr; }

/// Asks each answer of a kind: its algorithm and what is given.
template <typename Ask>
int each(const std::string& kind, Ask&& ask) {
  int count = 0;
  for (const auto& [name, given] : nist_answers()) {
    if (!name.starts_with(kind + "-")) continue;
    SCOPED_TRACE(name);
    const auto from = kind.size() + 1;
    ask(name.substr(from, name.rfind('-') - from), given);
    ++count;
  }
  return count;
}

inline void expect_pair(const KemKeyPair& pair, const VectorSection& given) {
  EXPECT_EQ(hex(sha256({pair.public_key})), given.text("public_sha256"));
  EXPECT_EQ(hex(sha256({pair.secret_key.view()})), given.text("secret_sha256"));
}

}  // namespace pqcmav::test
