// SPDX-License-Identifier: Apache-2.0
// A folder of mode 0700 that is gone after the test, and expectations on typed errors.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pqcmav-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void write_text(const std::filesystem::path& file, std::string_view text, mode_t mode = 0600) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  ASSERT_EQ(chmod(file.c_str(), mode), 0);
}

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline unsigned mode_of(const std::filesystem::path& file) {
  struct stat status{};
  return stat(file.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

/// Runs `call`, which must throw TunnelError with `code` and a message of one line that contains every one of `parts`.
template <typename Call>
void expect_error(Errc code, std::initializer_list<std::string> parts, Call&& call) {
  try {
    call();
    ADD_FAILURE() << "no error where " << to_string(code) << " was due";
  } catch (const TunnelError& error) {
    const std::string text = error.what();
    EXPECT_EQ(to_string(error.code()), to_string(code)) << text;
    for (const auto& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with('.') || text.ends_with('?') || text.find("run: ") != std::string::npos) << text;
  }
}

}  // namespace pqcmav::test
