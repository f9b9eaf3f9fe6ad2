// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/host_keys.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/ssh/algorithms.hpp"
#include "podrun/ssh/key_blob.hpp"
#include "podrun/ssh/known_hosts_store.hpp"

namespace podrun {
namespace {

std::string describe(const HostKey& key) { return fmt::format("{} ({})", fingerprint(key), key.type); }

std::string algorithms_of(const SshSettings& settings) {
  return settings.host_key_algorithms.empty() ? std::string(kHostKeyAlgorithms)
                                              : settings.host_key_algorithms;
}

HostKeyDecision refused(std::string what, Retry retry = Retry::no) {
  return {HostKeyDecision::Kind::refused, Failure{"host key", std::move(what), retry}};
}

/// How to see on the host which key it has.
std::string see_on_host(const HostKey& key) {
  std::string_view kind = key.type;
  if (kind.starts_with("ssh-")) kind.remove_prefix(4);
  if (kind.starts_with("ecdsa-")) kind = "ecdsa";
  return fmt::format("ssh-keygen -lf /etc/ssh/ssh_host_{}_key.pub", kind);
}

std::string describe_change(const HostKey& key, const KnownKey& known) {
  if (known.file.empty()) {
    return fmt::format("{}, but it was {} before, in this run", describe(key), describe(known.key));
  }
  const std::string type = known.key.type == key.type ? "" : known.key.type + ", ";
  return fmt::format("{}, but known_hosts has {} ({}{}:{})", describe(key), fingerprint(known.key), type,
                     known.file, known.line);
}

/// Nothing when it is long enough, or no RSA key.
std::optional<std::string> too_short(const SshSettings& settings, const HostKey& key) {
  const auto bits = rsa_bits(key.blob);
  if (!bits || *bits >= settings.required_rsa_size) return std::nullopt;
  return fmt::format("the host key {} has {} bits, and RequiredRSASize is {} (give the host a longer key)",
                     describe(key), *bits, settings.required_rsa_size);
}

}  // namespace

HostKeyTarget host_key_target(const SshSettings& settings, const std::string& host) {
  if (!settings.host_key_alias.empty()) return {settings.host_key_alias, kSshPort};
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

void HostKeys::load(const SshSettings& settings) { known_hosts(settings); }

std::string HostKeys::algorithms(const SshSettings& settings, const std::string& host) {
  const HostKeyTarget target = host_key_target(settings, host);
  const auto hashed = hashed_types_.find(known_hosts_name(target.host, target.port));
  return prefer_key_types(algorithms_of(settings),
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
  if (auto why = too_short(settings, key)) return refused(*std::move(why));
  const HostKeyTarget target = host_key_target(settings, host);
  const KeyCheck check = known_hosts(settings).check(target.host, target.port, key, search);
  if (check.verdict == KeyVerdict::known) return {};
  if (check.verdict == KeyVerdict::revoked) {
    return refused(fmt::format("the host key {} is revoked ({}:{})", describe(key), check.entry->file,
                               check.entry->line));
  }
  if (check.verdict == KeyVerdict::other_type) {
    const std::string offered = algorithms(settings, host);
    hashed_types_[known_hosts_name(target.host, target.port)] = check.other_types;
    if (algorithms(settings, host) != offered)
      return {HostKeyDecision::Kind::connect_again, Failure{"host key", describe_change(key, *check.entry)}};
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
  if (known.file.empty()) return refused("the host key has changed: " + what);
  return refused(
      fmt::format("the host key has changed: {}; compare it with the host's own: {}; if it is the same: "
                  "ssh-keygen -R {} -f {}",
                  what, see_on_host(key), shell_quote(known_hosts_name(target.host, target.port)),
                  shell_quote(known.file)));
}

/// Stores it, leaves it to the user, or refuses it.
HostKeyDecision HostKeys::unknown(const SshSettings& settings, const HostKeyTarget& target,
                                  const HostKey& key) {
  const std::string what = "the host key is not known: " + describe(key);
  const auto authority = known_hosts(settings).find_authority(target.host, target.port);
  if (authority && settings.host_key_check != HostKeyCheck::no) {
    return refused(
        fmt::format("{}, and {}:{} (@cert-authority) wants a host certificate, which podrun cannot check "
                    "(connect by ssh: --via 'ssh {{host}}')",
                    what, authority->file, authority->line));
  }
  HostKeyQuestion question{known_hosts_name(target.host, target.port), key};
  if (!settings.user_known_hosts.empty()) question.file = settings.user_known_hosts.front();
  if (settings.hash_known_hosts) question.form = NameForm::hashed;
  const bool remembered = !question.file.empty() && question.file != "/dev/null";
  if (settings.host_key_check == HostKeyCheck::no && !remembered)
    return {};  // like ssh, to which it stays new
  if (settings.host_key_check <= HostKeyCheck::accept_new) {
    store(question);
    return {};
  }
  const std::string compare = fmt::format(
      "compare it with the host's own: {}; if it is the same: -o "
      "StrictHostKeyChecking=accept-new",
      see_on_host(key));
  if (settings.host_key_check == HostKeyCheck::yes)
    return refused(fmt::format("{}, and StrictHostKeyChecking is yes; {}", what, compare));
  if (settings.batch_mode)
    return refused(fmt::format("{}, StrictHostKeyChecking is ask, and BatchMode is yes; {}", what, compare));
  const bool asked = std::find(questions_.begin(), questions_.end(), question) != questions_.end();
  if (!asked) questions_.push_back(question);
  return refused(what +
                     ", and StrictHostKeyChecking is ask (podrun asks on a terminal; to accept new ones "
                     "without asking: -o StrictHostKeyChecking=accept-new)",
                 Retry::after_asking);
}

std::vector<std::string> HostKeys::passed_over() const {
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
  const std::vector<HostKeyQuestion> accepted = questions;  // may be the ones that are removed here
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

}  // namespace podrun
