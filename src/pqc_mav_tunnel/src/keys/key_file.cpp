// SPDX-License-Identifier: Apache-2.0
#include "keys/key_file.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "fd.hpp"
#include "keys/key_path.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "pqc_mav_tunnel/suites.hpp"
#include "text.hpp"

namespace pqcmav {

namespace fs = std::filesystem;

std::string_view to_string(KeyKind kind) noexcept {
  return name_in<KeyKind::return_grant>({"psk", "sig-secret", "sig-public", "restart", "return"}, kind, "unknown");
}

namespace {

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

[[noreturn]] void bad_format(const fs::path& file, const std::string& what) {
  throw TunnelError(Errc::key_format, "The key file " + file.string() + " " + what);
}

constexpr const char* kCopyAgain = "; copy it again from where it was made.";

/// A folder that keys lie in: nobody else may even add to it, sticky or not.
void check_own_folder(const fs::path& folder) {
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) {
    throw TunnelError(Errc::key_missing, "The key folder " + folder.string() + " cannot be examined (" +
                                             system_reason(errno) + "); check the path and its owner.");
  }
  if ((status.st_mode & 0022) != 0) {
    throw TunnelError(Errc::key_permissions, "The key folder " + folder.string() +
                                                 " can be written to by other users (mode " + octal(status.st_mode) +
                                                 "), who could replace its keys; run: chmod 700 " + folder.string());
  }
}

void check_permissions(const fs::path& file, const struct stat& status, bool secret) {
  const mode_t forbidden = secret ? 0077 : 0022;
  if ((status.st_mode & forbidden) != 0) {
    throw TunnelError(Errc::key_permissions, "The key file " + file.string() + " is open to other users (mode " +
                                                 octal(status.st_mode) + "), so it cannot be trusted; run: chmod " +
                                                 (secret ? "600 " : "644 ") + file.string());
  }
  check_own_folder(file.has_parent_path() ? file.parent_path() : fs::path("."));
  // Where the name is a link, the folder of what it leads to counts as well.
  std::error_code ignored;
  const auto target = fs::canonical(file, ignored);
  if (!ignored) check_own_folder(target.parent_path());
  check_key_path(file);
}

SecretBytes read_limited(const fs::path& file, bool secret) {
  // O_NONBLOCK: a pipe of that name must not hang the program.
  const Fd in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!in) {
    const int code = errno;
    if (code == ENOENT)
      throw TunnelError(Errc::key_missing,
                        "There is no key file " + file.string() + "; make keys with 'pqcmav keys init " +
                            (file.parent_path().filename() == "psk" ? file.stem().string() : "drone1") +
                            "', or copy them from where they were made.");
    throw TunnelError(Errc::key_missing, "The key file " + file.string() + " cannot be read (" + system_reason(code) +
                                             "); run as the user who owns it, or correct its owner with chown.");
  }
  struct stat status{};
  if (::fstat(in.get(), &status) != 0)
    throw TunnelError(Errc::key_missing,
                      "The key file " + file.string() + " cannot be examined (" + system_reason(errno) + ").");
  if (S_ISDIR(status.st_mode)) bad_format(file, "is a directory; give the path of a file.");
  if (!S_ISREG(status.st_mode)) bad_format(file, "is not a regular file; replace it with a copy of the key file.");
  check_permissions(file, status, secret);
  if (status.st_size == 0) bad_format(file, std::string("is empty") + kCopyAgain);

  SecretBytes buffer(kKeyFileMax + 1);
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const auto got = ::read(in.get(), buffer.mut().data() + filled, buffer.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw TunnelError(Errc::key_missing,
                        "The key file " + file.string() + " cannot be read (" + system_reason(errno) + ").");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled > kKeyFileMax)
    bad_format(file, "is larger than any key (more than 64 KiB); check that this is the file you meant.");
  return SecretBytes(buffer.view().first(filled));
}

/// Takes "<name>: <value>\n" off the front of `text`.
std::optional<std::string> take_field(std::string_view& text, std::string_view name) {
  const std::string start = std::string(name) + ": ";
  const auto end = text.find('\n');
  if (end == std::string_view::npos || end > 200 || !text.starts_with(start)) return std::nullopt;
  std::string value(text.substr(start.size(), end - start.size()));
  text.remove_prefix(end + 1);
  return value;
}

/// Strict base64 (RFC 4648, section 4) in lines: OpenSSL alone would pass over white space anywhere and odd trailing
/// bits.
std::optional<SecretBytes> decode_lines(std::string_view text) {
  if (text.empty() || text.back() != '\n') return std::nullopt;
  SecretBytes packed(text.size());
  std::size_t size = 0;
  char before = '\n';
  for (const char c : text) {
    const bool letter =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/' || c == '=';
    if (c == '\n' ? before == '\n' : !letter) return std::nullopt;
    if (letter) packed.mut()[size++] = static_cast<std::uint8_t>(c);
    before = c;
  }
  if (size == 0 || size % 4 != 0) return std::nullopt;
  const auto base64 = packed.view().first(size);
  const auto padding = static_cast<std::size_t>(std::count(base64.begin(), base64.end(), '='));
  SecretBytes decoded(size / 4 * 3);
  if (padding > 2 ||
      EVP_DecodeBlock(decoded.mut().data(), base64.data(), static_cast<int>(size)) != static_cast<int>(decoded.size()))
    return std::nullopt;
  SecretBytes out(decoded.view().first(decoded.size() - padding));
  // Encoding again settles that this was the one proper form of these bytes.
  SecretBytes again(size + 1);
  if (EVP_EncodeBlock(again.mut().data(), out.view().data(), static_cast<int>(out.size())) != static_cast<int>(size))
    return std::nullopt;
  if (!std::equal(base64.begin(), base64.end(), again.view().begin())) return std::nullopt;
  return out;
}

bool fits(KeyKind kind, std::string_view algorithm) {
  if (kind == KeyKind::psk) return algorithm == kPskAlgorithm;
  if (kind == KeyKind::restart) return algorithm == kRestartAlgorithm;
  if (kind == KeyKind::return_grant) return algorithm == kReturnAlgorithm;
  return find_sig(algorithm) != nullptr;
}

KeyFile parse(const fs::path& file, std::string_view text) {
  constexpr std::string_view kFirstLine = "pqcmav-key 1\n";
  if (!text.starts_with(kFirstLine)) {
    if (kFirstLine.starts_with(text)) bad_format(file, std::string("is cut off") + kCopyAgain);
    bad_format(file,
               "is not a key file of this program (its first line is not \"pqcmav-key 1\"); check that this is the "
               "file you meant.");
  }
  text.remove_prefix(kFirstLine.size());
  const auto kind = take_field(text, "kind");
  const auto algorithm = kind ? take_field(text, "algorithm") : std::nullopt;
  const auto owner = algorithm ? take_field(text, "owner") : std::nullopt;
  if (!owner) bad_format(file, std::string("is damaged in its first lines") + kCopyAgain);
  KeyFile out;
  out.algorithm = *algorithm;
  out.owner = *owner;
  bool known = false;
  for (const auto candidate :
       {KeyKind::psk, KeyKind::sig_secret, KeyKind::sig_public, KeyKind::restart, KeyKind::return_grant}) {
    if (*kind != to_string(candidate)) continue;
    out.kind = candidate;
    known = true;
  }
  if (!known || !fits(out.kind, out.algorithm)) {
    bad_format(file,
               "has a kind or algorithm that this version does not know; use the version of pqcmav that made it, or "
               "make new keys.");
  }
  if (!valid_drone_id(out.owner))
    bad_format(file, "names an owner that is neither \"gcs\" nor a drone id (1-32 of a-z 0-9 _ -); make new keys.");
  auto key = decode_lines(text);
  if (!key) bad_format(file, std::string("is cut off or damaged: its key is not whole base64 lines") + kCopyAgain);
  out.key = std::move(*key);
  return out;
}

}  // namespace

void check_key_folder(const fs::path& folder) {
  check_own_folder(folder);
  check_key_path(folder);
}

bool key_file_exists(const fs::path& file) {
  struct stat status{};
  if (::lstat(file.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw TunnelError(Errc::key_missing, "The key file " + file.string() + " cannot be examined (" +
                                           system_reason(errno) + "); check the owner of its folder.");
}

KeyFile read_key_file(const fs::path& file, bool secret) {
  const auto text = read_limited(file, secret);
  return parse(file, as_text(text.view()));
}

KeyFile read_key_file(const fs::path& file, const KeyWanted& wanted) {
  auto out = read_key_file(file, wanted.kind != KeyKind::sig_public);
  if (out.kind != wanted.kind) {
    bad_format(file, "holds a key of kind " + std::string(to_string(out.kind)) + " where one of kind " +
                         std::string(to_string(wanted.kind)) + " is needed; put the right file there.");
  }
  if (out.algorithm != wanted.algorithm) {
    bad_format(file, "holds a key for " + out.algorithm + " where one for " + std::string(wanted.algorithm) +
                         " is needed; put the right file there.");
  }
  if (!wanted.owner.empty() && out.owner != wanted.owner) {
    bad_format(file,
               "belongs to " + out.owner + ", not to " + std::string(wanted.owner) + "; put the right file there.");
  }
  if (out.key.size() != wanted.size) {
    bad_format(file, "holds " + std::to_string(out.key.size()) + " bytes where this kind of key has " +
                         std::to_string(wanted.size) + kCopyAgain);
  }
  return out;
}

}  // namespace pqcmav
