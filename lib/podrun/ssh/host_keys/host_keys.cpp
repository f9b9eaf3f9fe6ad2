// SPDX-License-Identifier: Apache-2.0
// Decides whether a host's key is accepted, stored, asked about or refused.
#include "podrun/ssh/host_keys/host_keys.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/ssh/config/algorithms.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"
#include "podrun/ssh/host_keys/known_hosts_store.hpp"

namespace podrun::ssh {
namespace {

std::string describe(const HostKey& key) { return fmt::format("{} ({})", fingerprint(key), key.type); }

HostKeyDecision refused(link::Cause cause, std::string detail, link::Retry retry = link::Retry::no) {
  return {HostKeyDecision::Kind::refused,
          link::Failure{link::Stage::host_key, cause, std::move(detail), retry}};
}

/// Advice with the command that shows the key on the host.
std::string compare_on_host(const HostKey& key) {
  std::string_view kind = key.type;
  if (kind.starts_with("ssh-")) kind.remove_prefix(4);
  if (kind.starts_with("ecdsa-")) kind = "ecdsa";
  return fmt::format(
      "compare it with the host's own: ssh-keygen -lf /etc/ssh/ssh_host_{}_key.pub; if it is the same: ",
      kind);
}

std::string describe_change(const HostKey& key, const KnownKey& known) {
  if (known.file.empty()) {
    return fmt::format("{}, but it was {} before, in this run", describe(key), describe(known.key));
  }
  const std::string type = known.key.type == key.type ? "" : known.key.type + ", ";
  return fmt::format("{}, but known_hosts has {} ({}{}:{})", describe(key), fingerprint(known.key), type,
                     known.file, known.line);
}

/// Why an RSA key is too short; none for a longer key or another type.
std::optional<std::string> too_short(const SshSettings& settings, const HostKey& key) {
  const auto bits = rsa_bits(key.blob);
  if (!bits || *bits >= settings.required_rsa_size) return std::nullopt;
  return fmt::format("the host key {} has {} bits, and RequiredRSASize is {} (give the host a longer key)",
                     describe(key), *bits, settings.required_rsa_size);
}

}  // namespace

HostKeyTarget host_key_target(const SshSettings& settings, const std::string& host) {
  if (!settings.host_key_alias.empty()) return {settings.host_key_alias, hosts::kSshPort};
  return {host, settings.port};
}

HostKeys::File& HostKeys::file(const std::string& path) {
  const auto found = files_.find(path);
  if (found != files_.end()) return found->second;
  std::string text = path.empty() ? "" : read_known_hosts(path);
  return files_.emplace(path, File{std::make_shared<KnownHostsFile>(std::move(text), path)}).first->second;
}

KnownHosts HostKeys::known_hosts(const SshSettings& settings) {
  std::vector<std::shared_ptr<const KnownHostsFile>> files;
  for (const auto* paths : {&settings.user_known_hosts, &settings.global_known_hosts}) {
    for (const std::string& path : *paths) files.push_back(file(path).index);
  }
  files.push_back(file({}).index);
  return KnownHosts(std::move(files));
}

std::string HostKeys::algorithms(const SshSettings& settings, const std::string& host) {
  const HostKeyTarget target = host_key_target(settings, host);
  const auto hashed = hashed_types_.find(known_hosts_name(target.host, target.port));
  const std::string& configured = settings.host_key_algorithms;
  return prefer_key_types(configured.empty() ? kHostKeyAlgorithms : configured,
                          hashed != hashed_types_.end()
                              ? hashed->second
                              : known_hosts(settings).known_types(target.host, target.port));
}

std::shared_ptr<HashedSearch> HostKeys::search_for(const SshSettings& settings, const std::string& host,
                                                   const HostKey& key) {
  const HostKeyTarget target = host_key_target(settings, host);
  return known_hosts(settings).search_for(target.host, target.port, key);
}

HostKeyDecision HostKeys::judge(const SshSettings& settings, const std::string& host, const HostKey& key,
                                const HashedSearch* search) {
  if (auto why = too_short(settings, key)) return refused(link::Cause::host_key_too_short, *std::move(why));
  const HostKeyTarget target = host_key_target(settings, host);
  const KeyCheck check = known_hosts(settings).check(target.host, target.port, key, search);
  if (check.verdict == KeyVerdict::known) return {};
  if (check.verdict == KeyVerdict::revoked) {
    return refused(link::Cause::host_key_revoked,
                   fmt::format("the host key {} is revoked ({}:{})", describe(key), check.entry->file,
                               check.entry->line));
  }
  if (check.verdict == KeyVerdict::other_type) {
    const std::string offered = algorithms(settings, host);
    hashed_types_[known_hosts_name(target.host, target.port)] = check.other_types;
    if (algorithms(settings, host) != offered)
      return {HostKeyDecision::Kind::connect_again,
              link::Failure{link::Stage::host_key, link::Cause::host_key_changed,
                            describe_change(key, *check.entry)}};
    return changed(settings, target, key, *check.entry);
  }
  if (check.verdict == KeyVerdict::changed) return changed(settings, target, key, *check.entry);
  return unknown(settings, target, key);
}

HostKeyDecision HostKeys::changed(const SshSettings& settings, const HostKeyTarget& target,
                                  const HostKey& key, const KnownKey& known) {
  const std::string what = describe_change(key, known);
  if (settings.host_key_check == HostKeyCheck::no) {
    const std::string warning = fmt::format(
        "WARNING: the host key of {} has changed: {}; somebody may be listening in. StrictHostKeyChecking "
        "is no, so the login goes on, without an agent",
        known_hosts_name(target.host, target.port), what);
    if (warnings_.insert(warning).second) warn_(warning);
    return {HostKeyDecision::Kind::in_doubt};
  }
  if (known.file.empty()) return refused(link::Cause::host_key_changed, what);
  return refused(
      link::Cause::host_key_changed,
      fmt::format("{}; {}ssh-keygen -R {} -f {}", what, compare_on_host(key),
                  shell_quote(known_hosts_name(target.host, target.port)), shell_quote(known.file)));
}

/// Stores an unknown key, leaves it to the user, or refuses it.
HostKeyDecision HostKeys::unknown(const SshSettings& settings, const HostKeyTarget& target,
                                  const HostKey& key) {
  const std::string what = describe(key);
  const auto authority = known_hosts(settings).find_authority(target.host, target.port);
  if (authority && settings.host_key_check != HostKeyCheck::no) {
    return refused(
        link::Cause::host_key_unknown,
        fmt::format("{}, and {}:{} (@cert-authority) wants a host certificate, which podrun cannot check "
                    "(connect by ssh: --via 'ssh {{host}}')",
                    what, authority->file, authority->line));
  }
  HostKeyQuestion question{known_hosts_name(target.host, target.port), key};
  if (!settings.user_known_hosts.empty()) question.file = settings.user_known_hosts.front();
  if (settings.hash_known_hosts) question.form = NameForm::hashed;
  const bool remembered = !question.file.empty() && question.file != "/dev/null";
  if (settings.host_key_check == HostKeyCheck::no && !remembered) return {};  // not stored, as in ssh
  if (settings.host_key_check <= HostKeyCheck::accept_new) {
    store(question);
    if (remembered && file(question.file).writable) new_.push_back(std::move(question));
    return {};
  }
  if (settings.host_key_check == HostKeyCheck::yes || settings.batch_mode) {
    const std::string_view why = settings.host_key_check == HostKeyCheck::yes
                                     ? ", and StrictHostKeyChecking is yes"
                                     : ", StrictHostKeyChecking is ask, and BatchMode is yes";
    return refused(link::Cause::host_key_unknown, fmt::format("{}{}; {}-o StrictHostKeyChecking=accept-new",
                                                              what, why, compare_on_host(key)));
  }
  const bool asked = std::find(questions_.begin(), questions_.end(), question) != questions_.end();
  if (!asked) questions_.push_back(question);
  return refused(link::Cause::host_key_unknown,  // shown after the answer no
                 what +
                     ", and it was not accepted (StrictHostKeyChecking is ask; to accept new keys without a "
                     "question: -o StrictHostKeyChecking=accept-new)",
                 link::Retry::after_asking);
}

std::vector<std::string> HostKeys::ignored() const {
  std::vector<std::string> notes;
  for (const auto& [path, file] : files_) {
    if (file.index->authorities() > 0)
      notes.push_back(fmt::format("{}: {} @cert-authority lines: host certificates are not supported", path,
                                  file.index->authorities()));
    if (file.index->bad_lines() > 0)
      notes.push_back(fmt::format("{}: {} lines that cannot be read", path, file.index->bad_lines()));
  }
  return notes;
}

void HostKeys::accept(const std::vector<HostKeyQuestion>& questions) {
  const std::vector<HostKeyQuestion> accepted = questions;  // a copy: the argument may be questions_ itself
  for (const HostKeyQuestion& question : accepted) {
    std::erase(questions_, question);
    store(question);
  }
}

void HostKeys::store(const HostKeyQuestion& key) {
  File& destination = file(key.file);
  const std::string line = destination.index->add(key.name, key.key, key.form);
  if (key.file.empty() || !destination.writable) return;
  const std::string error = append_known_host(key.file, line);
  destination.writable = error.empty();
  if (!error.empty() && warning_.empty()) {
    warning_ =
        fmt::format("cannot write {:?}: {} (new host keys are kept for this run only)", key.file, error);
  }
}

}  // namespace podrun::ssh
