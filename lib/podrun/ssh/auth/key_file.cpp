// SPDX-License-Identifier: Apache-2.0
// Reads private keys, public keys and certificates from files, and refuses the weak ones.
#include "podrun/ssh/auth/key_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <libssh/libssh.h>

#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"

namespace podrun::ssh {
namespace {

constexpr std::size_t kMaxSize = 256 * 1024;
constexpr std::size_t kMinRsaBits = 2048;  // ssh's RequiredRSASize is 1024, but sshd often requires more
constexpr mode_t kOthers = 077;

KeyFile bad(KeyFile::Kind kind, std::string problem) {
  KeyFile file;
  file.kind = kind;
  file.problem = std::move(problem);
  return file;
}
KeyFile no_key(const std::string& path) {
  return bad(KeyFile::Kind::bad, fmt::format("\"{}\" is not a usable private key", path));
}
KeyFile unreadable(const std::string& path, int error) {
  return bad(KeyFile::Kind::bad,
             fmt::format("cannot read \"{}\": {}", path, std::generic_category().message(error)));
}

/// The parts of an OpenSSH private key that need no passphrase (OpenSSH's PROTOCOL.key).
struct OpensshKey {
  std::string cipher;
  std::string public_blob;
};

/// None for other formats; empty strings if it is damaged.
std::optional<OpensshKey> read_openssh_key(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN OPENSSH PRIVATE KEY-----";
  constexpr std::string_view kEnd = "-----END OPENSSH PRIVATE KEY-----";
  constexpr std::string_view kMagic{"openssh-key-v1\0", 15};
  const std::size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin + kBegin.size());
  std::string base64(text.substr(0, text.find(kEnd)));
  std::erase_if(base64, [](char c) { return c == '\r' || c == '\n' || c == ' '; });
  const std::optional<std::string> bytes = from_base64(base64);
  if (!bytes) return OpensshKey{};
  WireReader reader(*bytes);
  const bool magic = reader.bytes(kMagic.size()) == kMagic;
  const std::string_view cipher = reader.string();
  reader.string();  // the key derivation
  reader.string();  // its salt and rounds
  const bool one = reader.number() == 1;
  const std::string_view blob = reader.string();
  if (!magic || !one || !reader.ok()) return OpensshKey{};
  return OpensshKey{std::string(cipher), std::string(blob)};
}

/// Whether libssh decrypts keys with this cipher. No key with another reaches it.
bool can_decrypt(std::string_view cipher) {
  constexpr std::array<std::string_view, 7> kCiphers = {
      "aes256-ctr", "aes192-ctr", "aes128-ctr", "aes256-cbc", "aes192-cbc", "aes128-cbc", "3des-cbc"};
  return std::find(kCiphers.begin(), kCiphers.end(), cipher) != kCiphers.end();
}

int note_question(const char*, char*, std::size_t, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

/// `asked` becomes true if it needs a passphrase.
SshKey import(const std::string& text, const char* passphrase, bool& asked) {
  ssh_key key = nullptr;
  // The callback keeps OpenSSL from asking on the terminal.
  if (ssh_pki_import_privkey_base64(text.c_str(), passphrase, note_question, &asked, &key) != SSH_OK) {
    return nullptr;
  }
  return {key, ssh_key_free};
}

/// Why a usable key is not used; empty: it is used.
std::string weakness(const std::string& path, const std::string& blob) {
  if (const auto bits = rsa_bits(blob); bits && *bits < kMinRsaBits) {
    return fmt::format("\"{}\" is an RSA key of {} bits (servers want {} or more)", path, *bits, kMinRsaBits);
  }
  return {};
}

/// Whether it is a public or private DSA key, which libssh may not be able to read.
bool is_dsa(const std::string& text, const std::optional<std::string>& public_blob) {
  const auto openssh = read_openssh_key(text);
  return text.find("-----BEGIN DSA PRIVATE KEY-----") != std::string::npos ||
         key_type(openssh ? openssh->public_blob : public_blob.value_or("")) == "ssh-dss";
}

KeyFile interpret_openssh(const std::string& path, std::string text, const OpensshKey& openssh) {
  if (openssh.cipher.empty() || key_type(openssh.public_blob).empty()) return no_key(path);
  KeyFile file;
  file.kind = KeyFile::Kind::private_key;
  file.public_blob = openssh.public_blob;
  if (is_security_key(file.public_blob)) {
    file.problem = fmt::format(
        "\"{}\" is a security key (FIDO): only an agent can sign with it (ssh-add \"{}\")", path, path);
  } else if (openssh.cipher == "none") {
    bool asked = false;
    file.key = import(text, nullptr, asked);
    if (!file.key) return no_key(path);
  } else if (can_decrypt(openssh.cipher)) {
    file.locked = std::move(text);
  } else {
    return bad(KeyFile::Kind::bad,
               fmt::format("\"{}\" is encrypted with {} (ssh-keygen -p -Z aes256-ctr -f \"{}\")", path,
                           openssh.cipher, path));
  }
  return file;
}

KeyFile interpret_pem(const std::string& path, std::string text) {
  KeyFile file;
  file.kind = KeyFile::Kind::private_key;
  bool asked = false;
  file.key = import(text, nullptr, asked);
  if (file.key) file.public_blob = public_blob(file.key);
  if (asked && !file.key) {
    file.locked = std::move(text);
  } else if (file.public_blob.empty()) {  // also for OpenSSL's Ed25519 keys
    return no_key(path);
  }
  return file;
}

KeyFile interpret(const std::string& path, std::string text, const struct stat& status) {
  KeyFile file;
  const std::optional<std::string> blob = read_public_key(text);
  if (is_dsa(text, blob)) {
    file = bad(KeyFile::Kind::bad, fmt::format("\"{}\" is a DSA key (servers take none)", path));
    file.outdated = true;
  } else if (text.find("PRIVATE KEY-----") == std::string::npos) {
    if (!blob) return no_key(path);
    file.kind = KeyFile::Kind::public_key;
    file.public_blob = *blob;
  } else if (status.st_uid == ::getuid() && (status.st_mode & kOthers) != 0) {
    return bad(KeyFile::Kind::bad, fmt::format("others can read \"{}\" (chmod 600 it)", path));
  } else if (const auto openssh = read_openssh_key(text)) {
    file = interpret_openssh(path, std::move(text), *openssh);
  } else {
    file = interpret_pem(path, std::move(text));
  }
  if (std::string weak = weakness(path, file.public_blob); !weak.empty()) {
    file = bad(file.kind, std::move(weak));
  }
  return file;
}

}  // namespace

KeyFile read_key_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // does not block on a FIFO
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return bad(KeyFile::Kind::missing, fmt::format("there is no file \"{}\"", path));
  }
  if (descriptor < 0) return unreadable(path, errno);
  struct stat status {};
  int error = ::fstat(descriptor, &status) == 0 ? 0 : errno;
  std::optional<std::string> text = "";
  if (error == 0 && !S_ISFIFO(status.st_mode)) text = read_whole(descriptor, kMaxSize);
  if (!text) error = errno;
  ::close(descriptor);
  return error != 0 ? unreadable(path, error) : interpret(path, *std::move(text), status);
}

SshKey unlock_key(const std::string& text, const std::string& passphrase) {
  bool asked = false;
  return import(text, passphrase.c_str(), asked);
}

std::string public_blob(const SshKey& key) {
  char* text = nullptr;
  if (ssh_pki_export_pubkey_base64(key.get(), &text) != SSH_OK || !text) return {};
  const std::optional<std::string> blob = from_base64(text);
  ssh_string_free_char(text);
  return blob.value_or(std::string());
}

SshKey with_certificate(const SshKey& key, const std::string& certificate_path) {
  ssh_key imported = nullptr;
  if (ssh_pki_import_cert_file(certificate_path.c_str(), &imported) != SSH_OK) return nullptr;
  const SshKey certificate(imported, ssh_key_free);
  const SshKey copy(ssh_key_dup(key.get()), ssh_key_free);
  if (!copy || ssh_pki_copy_cert_to_privkey(certificate.get(), copy.get()) != SSH_OK) return nullptr;
  return copy;
}

}  // namespace podrun::ssh
