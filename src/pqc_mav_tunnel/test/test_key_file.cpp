// SPDX-License-Identifier: Apache-2.0
// Every way in which a key file can be wrong, through the loaders of keystore.hpp.
#include "keys/key_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "crypto/kdf.hpp"
#include "key_samples.hpp"
#include "keys/key_folders.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::kPskText;
using test::mldsa44;
using test::read_text;
using test::TempFolder;
using test::write_text;

class KeyFileTest : public testing::Test {
 protected:
  fs::path file(std::string_view text, mode_t mode = 0600) {
    const auto path = folder_ / "psk.key";
    write_text(path, text, mode);
    return path;
  }
  TempFolder folder_;
};

TEST_F(KeyFileTest, ReadsTheDocumentedFormat) {
  const auto psk = load_psk(file(kPskText));
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(psk.view()[i], i);
}

TEST_F(KeyFileTest, WritesWhatItReads) {
  const auto path = folder_ / "psk.key";
  SecretBytes key(32);
  for (std::size_t i = 0; i < 32; ++i) key.mut()[i] = static_cast<std::uint8_t>(i);
  write_key_file(path, {KeyKind::psk, "psk", "alpha", std::move(key)});
  EXPECT_EQ(read_text(path), kPskText);
  EXPECT_EQ(test::mode_of(path), 0600u);
}

TEST_F(KeyFileTest, RoundTripsLongKeysOfEverySizeModuloThree) {
  for (const std::size_t size : {1u, 2u, 3u, 47u, 48u, 49u, 4896u}) {
    const auto path = folder_ / ("k" + std::to_string(size));
    Bytes bytes(size);
    random_bytes(bytes);
    write_key_file(path, {KeyKind::sig_secret, "mldsa87", "gcs", SecretBytes(bytes)});
    const auto back = read_key_file(path, true);
    EXPECT_EQ(Bytes(back.key.view().begin(), back.key.view().end()), bytes);
    EXPECT_EQ(back.owner, "gcs");
  }
}

TEST_F(KeyFileTest, MissingFile) {
  expect_error(Errc::key_missing, {"no key file", "psk.key", "pqcmav keys init"},
               [&] { load_psk(folder_ / "psk.key"); });
}

TEST_F(KeyFileTest, UnreadableFile) {
  const auto path = folder_ / "loop";
  fs::create_symlink(path, path);
  expect_error(Errc::key_missing, {"loop", "cannot be read"}, [&] { load_psk(path); });
}

TEST_F(KeyFileTest, FileOfAnotherUser) {
  const auto path = file(kPskText);
  if (geteuid() == 0) {
    ASSERT_EQ(chmod(folder_.path().c_str(), 0711), 0);
    ASSERT_EQ(seteuid(65534), 0);
  } else {
    ASSERT_EQ(chmod(path.c_str(), 0), 0);
  }
  expect_error(Errc::key_missing, {"psk.key", "cannot be read", "Permission denied", "chown"}, [&] { load_psk(path); });
  if (getuid() == 0) {
    ASSERT_EQ(seteuid(0), 0);
  }
}

TEST_F(KeyFileTest, SecretOpenToOthers) {
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0610, 0601, 0644, 0666, 0777}) {
    const auto path = file(kPskText, mode);
    expect_error(Errc::key_permissions, {path.string(), "chmod 600 " + path.string()}, [&] { load_psk(path); });
  }
  EXPECT_NO_THROW(load_psk(file(kPskText, 0400)));
}

TEST_F(KeyFileTest, FolderThatOthersCanWriteTo) {
  const auto path = file(kPskText);
  for (const mode_t mode : {0770, 0720, 0702, 0777, 01777}) {
    ASSERT_EQ(chmod(folder_.path().c_str(), mode), 0);
    expect_error(Errc::key_permissions, {"folder", "chmod 700 " + folder_.path().string()}, [&] { load_psk(path); });
  }
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_NO_THROW(load_psk(path));
}

TEST_F(KeyFileTest, PublicKeyThatOthersCanWrite) {
  const auto path = folder_ / "mldsa44.pub";
  write_key_file(path, {KeyKind::sig_public, "mldsa44", "gcs", SecretBytes(mldsa44().public_key)});
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_EQ(load_sig_public(path, mldsa44()).size(), mldsa44().public_key);
  ASSERT_EQ(chmod(path.c_str(), 0664), 0);
  expect_error(Errc::key_permissions, {"chmod 644"}, [&] { load_sig_public(path, mldsa44()); });
}

TEST_F(KeyFileTest, LinkIsFollowedAndItsTargetChecked) {
  const auto target = folder_ / "real";
  ASSERT_TRUE(fs::create_directory(target));
  ASSERT_EQ(chmod(target.c_str(), 0700), 0);
  write_text(target / "psk.key", kPskText);
  const auto link = folder_ / "link.key";
  fs::create_symlink(target / "psk.key", link);
  EXPECT_NO_THROW(load_psk(link));
  ASSERT_EQ(chmod(target.c_str(), 0770), 0);
  expect_error(Errc::key_permissions, {"chmod 700 ", "real"}, [&] { load_psk(link); });
  ASSERT_EQ(chmod(target.c_str(), 0700), 0);
  ASSERT_EQ(chmod((target / "psk.key").c_str(), 0644), 0);
  expect_error(Errc::key_permissions, {"chmod 600 "}, [&] { load_psk(link); });
  // Anyone who can replace the link can point it at another file.
  ASSERT_EQ(chmod((target / "psk.key").c_str(), 0600), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  expect_error(Errc::key_permissions, {"chmod 700 " + folder_.path().string()}, [&] { load_psk(link); });
}

TEST_F(KeyFileTest, DirectoryInsteadOfFile) {
  expect_error(Errc::key_format, {"is a directory"}, [&] { load_psk(folder_.path()); });
}

TEST_F(KeyFileTest, PipeInsteadOfFileDoesNotHang) {
  const auto path = folder_ / "pipe.key";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_error(Errc::key_format, {"not a regular file"}, [&] { load_psk(path); });
}

TEST_F(KeyFileTest, EmptyFile) {
  expect_error(Errc::key_format, {"is empty", "copy it again"}, [&] { load_psk(file("")); });
}

TEST_F(KeyFileTest, TruncatedAtEveryByte) {
  for (std::size_t size = 1; size < kPskText.size(); ++size) {
    expect_error(Errc::key_format, {"psk.key", "copy it again"}, [&] { load_psk(file(kPskText.substr(0, size))); });
  }
}

TEST_F(KeyFileTest, NotAKeyFile) {
  expect_error(Errc::key_format, {"not a key file"}, [&] { load_psk(file("-----BEGIN PRIVATE KEY-----\nAAAA\n")); });
  expect_error(Errc::key_format, {"not a key file"}, [&] { load_psk(file("pqcmav-key 2\nkind: psk\n")); });
  expect_error(Errc::key_format, {"not a key file"}, [&] { load_psk(file(std::string(100, '\0'))); });
}

TEST_F(KeyFileTest, TooLarge) {
  std::string text(kPskText);
  while (text.size() <= kKeyFileMax) text += "AAAA\n";
  expect_error(Errc::key_format, {"larger than any key"}, [&] { load_psk(file(text)); });
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kPskText);
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST_F(KeyFileTest, WrongLength) {
  expect_error(Errc::key_format, {"holds 31 bytes", "has 32"}, [&] { load_psk(file(replaced("Hh8=", "Hg=="))); });
  expect_error(Errc::key_format, {"holds 33 bytes", "has 32"}, [&] { load_psk(file(replaced("Hh8=", "Hh8A"))); });
}

TEST_F(KeyFileTest, WrongKind) {
  const auto path = file(kPskText);
  expect_error(Errc::key_format, {"kind psk", "kind sig-secret is needed"}, [&] { load_sig_secret(path, mldsa44()); });
  write_key_file(folder_ / "public", {KeyKind::sig_public, "mldsa44", "gcs", SecretBytes(mldsa44().public_key)});
  expect_error(Errc::key_format, {"kind sig-public", "kind sig-secret is needed"},
               [&] { load_sig_secret(folder_ / "public", mldsa44()); });
  expect_error(Errc::key_format, {"kind sig-public", "kind psk is needed"}, [&] { load_psk(folder_ / "public"); });
}

TEST_F(KeyFileTest, WrongAlgorithm) {
  const auto path = folder_ / "k";
  write_key_file(path, {KeyKind::sig_secret, "mldsa65", "gcs", SecretBytes(find_sig("mldsa65")->secret_key)});
  expect_error(Errc::key_format, {"for mldsa65", "one for mldsa44 is needed"},
               [&] { load_sig_secret(path, mldsa44()); });
}

TEST_F(KeyFileTest, WrongOwner) {
  ASSERT_TRUE(fs::create_directory(folder_ / "psk"));
  ASSERT_EQ(chmod((folder_ / "psk").c_str(), 0700), 0);
  write_text(folder_ / "psk" / "bravo.key", kPskText);
  write_text(folder_ / "psk.key", kPskText);
  expect_error(Errc::key_format, {"belongs to alpha, not to bravo"},
               [&] { (void)GcsKeys(folder_.path()).psk("bravo"); });
  expect_error(Errc::key_format, {"belongs to alpha, not to bravo"},
               [&] { (void)DroneKeys(folder_.path(), "bravo").psk(); });
  EXPECT_NO_THROW((void)DroneKeys(folder_.path(), "alpha").psk());
}

TEST_F(KeyFileTest, UnknownKindAlgorithmOrOwner) {
  for (const auto& [from, to] :
       {std::pair("kind: psk", "kind: rsa"), std::pair("algorithm: psk", "algorithm: mldsa44"),
        std::pair("algorithm: psk", "algorithm: none"), std::pair("kind: psk", "kind: restart"),
        std::pair("algorithm: psk", "algorithm: restart")}) {
    expect_error(Errc::key_format, {"does not know"}, [&] { load_psk(file(replaced(from, to))); });
  }
  for (const auto* owner : {"owner: ", "owner: Alpha", "owner: ../x", "owner: 123456789012345678901234567890123"}) {
    expect_error(Errc::key_format, {"names an owner"}, [&] { load_psk(file(replaced("owner: alpha", owner))); });
  }
  expect_error(Errc::key_format, {"first lines"}, [&] { load_psk(file(replaced("kind: ", "Kind: "))); });
  expect_error(Errc::key_format, {"first lines"}, [&] { load_psk(file(replaced("owner: alpha\n", ""))); });
}

TEST_F(KeyFileTest, ARestartKeyIsNoPskAndAPskNoRestartKey) {
  const KeyWanted wanted{KeyKind::restart, kRestartAlgorithm, kRestartKeySize, kGcsOwner};
  write_key_file(folder_ / "restart", {KeyKind::restart, std::string(kRestartAlgorithm), std::string(kGcsOwner),
                                       SecretBytes(kRestartKeySize)});
  EXPECT_EQ(read_key_file(folder_ / "restart", wanted).key.size(), kRestartKeySize);
  expect_error(Errc::key_format, {"kind restart", "kind psk is needed"}, [&] { load_psk(folder_ / "restart"); });
  expect_error(Errc::key_format, {"kind psk", "kind restart is needed"},
               [&] { (void)read_key_file(file(kPskText), wanted); });
}

TEST_F(KeyFileTest, OnlyStrictBase64) {
  const auto with = [&](std::string_view from, std::string_view to) {
    return [this, text = replaced(from, to)] { load_psk(file(text)); };
  };
  for (const auto& [from, to] : {std::pair("Hh8=\n", "Hh8\n"),         // padding missing
                                 std::pair("Hh8=\n", "Hh9=\n"),        // stray bits behind the last byte
                                 std::pair("Hh8=\n", "Hh=8\n"),        // padding inside
                                 std::pair("Hh8=\n", "Hh8=====\n"),    // padding too long
                                 std::pair("Hh8=\n", "Hh8="),          // no end of line
                                 std::pair("Hh8=\n", "Hh8=\n\n"),      // empty line
                                 std::pair("Hh8=\n", "Hh8=\nmore\n"),  // something behind
                                 std::pair("AAEC", "AA C"),            // blank
                                 std::pair("AAEC", "AA-_"),            // another alphabet
                                 std::pair("alpha\n", "alpha\n\n"),    // empty line in front
                                 std::pair("Hh8=\n", "Hh8=\r\n")}) {
    expect_error(Errc::key_format, {"cut off or damaged"}, with(from, to));
  }
}

TEST_F(KeyFileTest, NeverReplacesAFile) {
  const auto path = file(kPskText);
  expect_error(Errc::io, {"cannot be created", "exists"},
               [&] { write_key_file(path, {KeyKind::psk, "psk", "alpha", SecretBytes(32)}); });
  EXPECT_EQ(read_text(path), kPskText);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

/// A PSK whose bytes are all `value`.
KeyFile psk_of(std::uint8_t value) {
  SecretBytes key(32);
  std::ranges::fill(key.mut(), value);
  return {KeyKind::psk, "psk", "alpha", std::move(key)};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path().filename().string());
  std::ranges::sort(out);
  return out;
}

TEST_F(KeyFileTest, ABatchHasItsNamesWhenItIsCommitted) {
  for (const int count : {2, 100}) {  // each file synced by itself, and the whole file system at once
    const auto folder = folder_ / std::to_string(count);
    make_key_folder(folder);
    KeyBatch batch;
    for (int i = 0; i < count; ++i) batch.add(folder / std::to_string(i), psk_of(static_cast<std::uint8_t>(i)));
    EXPECT_TRUE(batch.exists(folder / "1"));
    EXPECT_FALSE(key_file_exists(folder / "1"));
    EXPECT_EQ(batch.read(folder / "1", {KeyKind::psk, "psk", 32, "alpha"}).key.view()[0], 1);
    batch.commit();
    EXPECT_EQ(names_in(folder).size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(read_key_file(folder / std::to_string(i), true).key.view()[31], static_cast<std::uint8_t>(i));
  }
}

TEST_F(KeyFileTest, ABatchThatIsNotCommittedLeavesNothingBehind) {
  {
    KeyBatch batch;
    batch.add(folder_ / "a", psk_of(1));
    EXPECT_EQ(names_in(folder_.path()).size(), 1U);
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(KeyFileTest, ABatchMakesAllOrNone) {
  KeyBatch batch;
  for (const auto* name : {"a", "b", "c"}) batch.add(folder_ / name, psk_of(2));
  write_key_file(folder_ / "b", psk_of(1));  // somebody else was faster
  expect_error(Errc::io, {"/b cannot be created", "exists"}, [&] { batch.commit(); });
  EXPECT_FALSE(key_file_exists(folder_ / "a"));
  EXPECT_FALSE(key_file_exists(folder_ / "c"));
  EXPECT_EQ(read_key_file(folder_ / "b", true).key.view()[0], 1);
}

TEST_F(KeyFileTest, RefusesToWriteWhereOthersCanWrite) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  expect_error(Errc::key_permissions, {"chmod 700"},
               [&] { write_key_file(folder_ / "psk.key", {KeyKind::psk, "psk", "alpha", SecretBytes(32)}); });
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(KeyFileTest, FullDiskLeavesNothingBehind) {
  // The limit makes write() stop in the middle of the file, as a full disk does.
  struct rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error(Errc::io, {"cannot be written", "make room"},
               [&] { write_key_file(folder_ / "k", {KeyKind::sig_secret, "mldsa44", "gcs", SecretBytes(2560)}); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace pqcmav
