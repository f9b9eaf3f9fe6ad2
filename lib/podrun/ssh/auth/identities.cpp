// SPDX-License-Identifier: Apache-2.0
// Finds the keys and certificates for logins, in the order in which ssh would offer them.
#include "podrun/ssh/auth/identities.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"

namespace podrun::ssh {
namespace {

constexpr std::array<const char*, 4> kDefaultFiles = {"id_ed25519", "id_ecdsa", "id_rsa",
                                                      "google_compute_engine"};
constexpr std::string_view kPublicEnd = ".pub";
constexpr std::string_view kCertificateEnd = "-cert.pub";

/// The private key file of a public key or certificate file, by its name.
std::string private_path(const std::string& path) {
  for (const std::string_view end : {kCertificateEnd, kPublicEnd}) {
    if (path.ends_with(end)) return path.substr(0, path.size() - end.size());
  }
  return path;
}

/// The path where ssh looks for a key file's certificate.
std::string certificate_path(const std::string& path) { return private_path(path).append(kCertificateEnd); }

bool names_no_file(const std::string& path) { return path == "none" || path == "/dev/null"; }

/// Adds each key once, since a repeat would cost an attempt; keeps the one that can sign.
void add(IdentityList& list, std::shared_ptr<const Identity> identity) {
  if (!identity) return;
  const auto same = std::find_if(list.begin(), list.end(), [&](const std::shared_ptr<const Identity>& other) {
    return other == identity ||
           (!identity->public_blob.empty() && other->public_blob == identity->public_blob);
  });
  if (same == list.end()) {
    list.push_back(std::move(identity));
  } else if (!(*same)->key && identity->key) {
    *same = std::move(identity);
  }
}

}  // namespace

/// A key file, its identity, and its certificates by file.
struct Identities::File {
  KeyFile content;
  std::shared_ptr<Identity> identity;  ///< null: nothing is offered
  std::map<std::string, std::shared_ptr<Identity>> certificates = {};
};

Identities::Identities(std::string home) : home_(std::move(home)) {}
Identities::~Identities() = default;

/// Files that only the configuration names may be missing, as in ssh.
Identities::Named Identities::must_be_there(const SshSettings& settings, const std::string& path) {
  const auto& optional = settings.optional_files;
  return std::find(optional.begin(), optional.end(), path) == optional.end() ? Named::yes : Named::no;
}

IdentityList Identities::find(const SshSettings& settings) {
  const Named any_named = settings.identity_files.empty() ? Named::no : Named::yes;
  std::vector<std::string> paths = settings.identity_files;
  if (any_named == Named::no) {
    for (const char* name : kDefaultFiles) paths.push_back(fmt::format("{}/.ssh/{}", home_, name));
  }
  for (const std::string& path : settings.certificate_files) {
    report("CertificateFile", read_certificate(path), must_be_there(settings, path));
  }

  IdentityList list;
  for (const std::string& path : paths) {
    if (names_no_file(path)) continue;
    const std::shared_ptr<File> file = load(path);
    report("--identity", file->content, any_named == Named::no ? any_named : must_be_there(settings, path));
    if (!file->identity) continue;
    for (const std::string& named_by_user : settings.certificate_files) {
      add(list, certificate(*file, named_by_user));
    }
    add(list, certificate(*file, certificate_path(path)));
    add(list, file->identity);
  }
  return with_agents_certificates(std::move(list), settings);
}

/// Puts certificates first that the user named but that fit none of these keys: their keys may be in an
/// agent.
IdentityList Identities::with_agents_certificates(IdentityList list, const SshSettings& settings) {
  IdentityList all;
  for (const std::string& path : settings.certificate_files) {
    const std::string& blob = read_certificate(path).public_blob;
    if (!blob.empty()) all.push_back(std::make_shared<Identity>(Identity{path, blob, nullptr, {}}));
  }
  std::erase_if(all, [&](const auto& certificate) {
    return std::any_of(list.begin(), list.end(), [&](const auto& identity) {
      return identity->public_blob == certificate->public_blob;
    });
  });
  for (auto& identity : list) add(all, std::move(identity));
  return all;
}

bool Identities::unlock(const std::string& locked_file, const std::string& passphrase) {
  const auto found = files_.find(locked_file);
  if (found == files_.end()) return false;
  File& file = *found->second;
  if (file.content.locked.empty()) return true;
  const SshKey key = unlock_key(file.content.locked, passphrase);
  if (!key) return false;
  file.content.locked.clear();
  file.identity->key = key;
  file.identity->public_blob = public_blob(key);
  file.identity->locked_file.clear();
  for (const auto& [path, certificate] : file.certificates) {
    certificate->key = with_certificate(key, path);
    certificate->locked_file.clear();
  }
  return true;
}

/// Throws for unusable files that the user named; warns about other ones.
void Identities::report(const char* option, const KeyFile& content, Named named) {
  const bool missing = content.kind == KeyFile::Kind::missing;
  if (named == Named::yes && (missing || content.kind == KeyFile::Kind::bad)) {
    throw UsageError(fmt::format("{}: {}", option, content.problem));
  }
  if (missing || content.problem.empty()) return;
  std::vector<std::string>& notes = content.outdated ? ignored_ : warnings_;
  if (std::find(notes.begin(), notes.end(), content.problem) == notes.end()) notes.push_back(content.problem);
}

std::shared_ptr<Identities::File> Identities::load(const std::string& path) {
  const auto found = files_.find(path);
  if (found != files_.end()) return found->second;
  std::shared_ptr<File> file = read(path);
  files_.emplace(path, file);
  return file;
}

std::shared_ptr<Identities::File> Identities::read(const std::string& path) {
  auto file = std::make_shared<File>();
  KeyFile& content = file->content;
  content = read_key_file(path);
  if (content.kind == KeyFile::Kind::public_key && private_path(path) != path) {
    std::shared_ptr<File> beside = load(private_path(path));
    report("", beside->content, Named::no);
    const bool is_its_key = beside->content.kind == KeyFile::Kind::private_key && beside->identity &&
                            beside->identity->public_blob == plain_key(content.public_blob);
    if (is_its_key) return beside;
  } else if (content.kind == KeyFile::Kind::missing || !content.locked.empty()) {
    // The file has only the public key, or is a private file without it (PEM).
    const KeyFile beside = read_key_file(path + ".pub");
    const bool wanted = beside.kind == KeyFile::Kind::public_key && content.public_blob.empty();
    if (wanted && content.kind == KeyFile::Kind::missing) content = beside;
    if (wanted) content.public_blob = beside.public_blob;
  }
  const bool locked = !content.locked.empty();
  if (locked || !content.public_blob.empty()) {
    file->identity = std::make_shared<Identity>(
        Identity{path, content.public_blob, content.key, locked ? path : std::string()});
  }
  return file;
}

const KeyFile& Identities::read_certificate(const std::string& path) {
  const auto found = certificates_.find(path);
  if (found != certificates_.end()) return found->second;
  KeyFile content = read_key_file(path);
  if (content.problem.empty() && !is_user_certificate(content.public_blob)) {
    const char* what = is_certificate(content.public_blob) ? "is a certificate for hosts, not for users"
                                                           : "is not a certificate";
    content = KeyFile();
    content.kind = KeyFile::Kind::bad;
    content.problem = fmt::format("\"{}\" {}", path, what);
  }
  return certificates_.emplace(path, std::move(content)).first->second;
}

/// The certificate in a file as an identity; null if it is missing or for another key.
std::shared_ptr<const Identity> Identities::certificate(File& file, const std::string& path) {
  const auto found = file.certificates.find(path);
  if (found != file.certificates.end()) return found->second;
  const KeyFile& content = read_certificate(path);
  report("CertificateFile", content, Named::no);
  const Identity& key = *file.identity;
  if (content.public_blob.empty() || plain_key(content.public_blob) != key.public_blob) return nullptr;
  const auto identity = std::make_shared<Identity>(Identity{
      path, content.public_blob, key.key ? with_certificate(key.key, path) : nullptr, key.locked_file});
  file.certificates.emplace(path, identity);
  return identity;
}

}  // namespace podrun::ssh
