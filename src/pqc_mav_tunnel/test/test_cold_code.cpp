// SPDX-License-Identifier: Apache-2.0
#include "cold_code.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

#include "crypto/kem_sig.hpp"

namespace pqcmav {
namespace {

using std::chrono::seconds;

/// KiB of a library's pages that are mapped and that this process has not written to.
std::size_t mapped_kib(const std::string& library) {
  std::ifstream maps("/proc/self/smaps");
  std::size_t found = 0;
  bool counts = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string first, permissions;
    words >> first >> permissions;
    if (!first.ends_with(':'))
      counts = line.find(library) != std::string::npos && permissions.find('w') == std::string::npos;
    if (counts && (first == "Shared_Clean:" || first == "Private_Clean:")) found += std::stoul(permissions);
  }
  return found;
}

/// A key exchange and a signature: what a handshake needs of liboqs.
void work() {
  const Kem kem(*find_kem("mlkem768"));
  const auto pair = kem.keypair();
  SecretBytes here;
  const auto ciphertext = kem.encapsulate(pair.public_key, here);
  const auto there = kem.decapsulate(pair.secret_key, ciphertext);
  ASSERT_TRUE(std::ranges::equal(here.view(), there.view()));
  const Sig sig(*find_sig("mldsa65"));
  const auto signer = sig.keypair();
  EXPECT_TRUE(sig.verify(signer.public_key, ciphertext, sig.sign(signer.secret_key, ciphertext)));
}

TEST(ColdCode, PagesOfAHandshakeAreLetGoAndComeBackWhenTheyAreNeeded) {
  work();
  const auto before = mapped_kib("liboqs");
  ASSERT_GT(before, 200U) << "there is nothing to let go of";
  let_go_of_code();
  EXPECT_LT(mapped_kib("liboqs"), before / 4);
  work();
  EXPECT_GT(mapped_kib("liboqs"), before / 4);
}

TEST(ColdCode, WhatTheProcessWroteStays) {
  static int written = 0;
  written = 4711;
  std::string kept(1 << 20, 'k');
  for (int i = 0; i < 100; ++i) let_go_of_code();
  EXPECT_EQ(written, 4711);
  EXPECT_EQ(kept.find_first_not_of('k'), std::string::npos);
  work();
}

TEST(ColdCode, IsDueOnceAfterEachQuiet) {
  const ColdCode::Clock::time_point start{};
  ColdCode code;
  EXPECT_FALSE(code.due(start + seconds(100))) << "nothing was used";
  code.used(start);
  EXPECT_FALSE(code.due(start + seconds(4)));
  code.used(start + seconds(4));
  EXPECT_FALSE(code.due(start + seconds(8))) << "drones come and go";
  EXPECT_TRUE(code.due(start + seconds(9)));
  EXPECT_FALSE(code.due(start + seconds(100)));
  code.used(start + seconds(200));
  EXPECT_TRUE(code.due(start + seconds(205)));
}

}  // namespace
}  // namespace pqcmav
