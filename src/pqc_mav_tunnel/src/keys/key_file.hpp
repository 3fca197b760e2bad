// SPDX-License-Identifier: Apache-2.0
// One key file: its text format, the checks when it is read, and the way it is written whole or not at all.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/secret.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {

enum class KeyKind { psk, sig_secret, sig_public, restart, return_grant };
std::string_view to_string(KeyKind kind) noexcept;

inline constexpr std::string_view kPskAlgorithm = "psk";
inline constexpr std::string_view kRestartAlgorithm = "restart";
inline constexpr std::string_view kReturnAlgorithm = "return";
inline constexpr std::string_view kGcsOwner = "gcs";
inline constexpr std::size_t kKeyFileMax = 64 * 1024;  // the longest key makes a file of 7 KiB

struct KeyFile {
  KeyKind kind = KeyKind::psk;
  std::string algorithm, owner;
  SecretBytes key;  // public keys too: one type for all
};

/// What a caller needs a file to be. An empty owner stands for any.
struct KeyWanted {
  KeyKind kind;
  std::string_view algorithm;
  std::size_t size;
  std::string_view owner;
};

/// Whether something is there, even if it is a link to nowhere. Throws TunnelError(key_missing) when the system does
/// not say.
bool key_file_exists(const std::filesystem::path& file);
/// Reads and parses. Checks what it is on disk: a regular file of at most kKeyFileMax bytes, which nobody else can
/// replace (see key_path.hpp) and, when `secret`, nobody else can read. Throws TunnelError (key_missing,
/// key_permissions, key_format).
KeyFile read_key_file(const std::filesystem::path& file, bool secret);
/// Reads, and checks that it is what is wanted.
KeyFile read_key_file(const std::filesystem::path& file, const KeyWanted& wanted);

/// Writes to a temporary name in the same folder, syncs and renames. Throws TunnelError(io), even when `file` exists
/// and is not to be replaced, and then leaves nothing behind.
enum class Existing { stays, is_replaced };
void write_key_file(const std::filesystem::path& file, const KeyFile& content, Existing existing = Existing::stays);

/// Key files that are written together: all have temporary names until commit(), which syncs them at once and renames
/// them in the order they were added in. Of new ones all get their names or, after an error, none; a crash in between
/// leaves each whole or absent.
class KeyBatch {
 public:
  KeyBatch() = default;
  KeyBatch(const KeyBatch&) = delete;
  KeyBatch& operator=(const KeyBatch&) = delete;
  ~KeyBatch();
  /// As key_file_exists and read_key_file; what was added counts as there.
  [[nodiscard]] bool exists(const std::filesystem::path& file) const;
  [[nodiscard]] KeyFile read(const std::filesystem::path& file, const KeyWanted& wanted) const;
  /// As write_key_file, which is a batch of one. Throws TunnelError.
  void add(const std::filesystem::path& file, const KeyFile& content, Existing existing = Existing::stays);
  void commit();

 private:
  struct Entry {
    std::filesystem::path file, temporary;
    Existing existing;
  };
  [[nodiscard]] std::filesystem::path place_of(const std::filesystem::path& file) const;
  std::vector<Entry> entries_;
  std::map<std::filesystem::path, std::size_t> places_;  // in entries_
};
/// Makes a folder of mode 0700, and its parents, unless it is there. Throws TunnelError(io).
void make_key_folder(const std::filesystem::path& folder);
/// Has what was written to a file or folder outlive a power cut; `flags` for open(). 0, or the code of the error.
int sync_path(const std::filesystem::path& path, int flags);
/// A hidden name in the same folder that nothing else has.
std::filesystem::path temporary_beside(const std::filesystem::path& file);
/// Removes files of such names below a folder that are older than an hour: a call that was killed left them.
void remove_left_over(const std::filesystem::path& root);
/// Renames without replacing anything. Throws TunnelError(io).
void rename_new(const std::filesystem::path& from, const std::filesystem::path& to);
/// Throws TunnelError(key_permissions) when others can write to the folder, or replace it, for then they can replace
/// the keys in it.
void check_key_folder(const std::filesystem::path& folder);

}  // namespace pqcmav
