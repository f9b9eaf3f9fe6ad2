// SPDX-License-Identifier: Apache-2.0
// Judges a host's key by all known_hosts files that apply to it.
#include "podrun/ssh/host_keys/known_hosts.hpp"

#include <utility>

#include "podrun/hosts/host.hpp"

namespace podrun::ssh {

void HashedSearch::run() {
  for (const auto& file : files_) {
    for (KnownKey& key : file->hashed_keys_of(name_)) keys_.push_back(std::move(key));
  }
}

std::optional<KnownKey> KnownHosts::find(const std::string& name, const HostKey& key) const {
  for (const auto& file : files_) {
    if (auto known = file->find(name, key)) return known;
  }
  return std::nullopt;
}

std::optional<KnownKey> KnownHosts::find_revoked(std::string_view host, std::uint16_t port,
                                                 const HostKey& key) const {
  for (const auto& file : files_) {
    for (const std::uint16_t candidate : {port, hosts::kSshPort}) {
      if (auto revoked = file->find_revoked(known_hosts_name(host, candidate), key)) return revoked;
    }
  }
  return std::nullopt;
}

std::optional<KnownKey> KnownHosts::find_authority(std::string_view host, std::uint16_t port) const {
  for (const auto& file : files_) {
    for (const std::uint16_t candidate : {port, hosts::kSshPort}) {
      if (auto authority = file->find_authority(known_hosts_name(host, candidate))) return authority;
    }
  }
  return std::nullopt;
}

std::vector<KnownKey> KnownHosts::plain_keys_of(const std::string& name) const {
  std::vector<KnownKey> keys;
  for (const auto& file : files_) {
    for (KnownKey& key : file->plain_keys_of(name)) keys.push_back(std::move(key));
  }
  return keys;
}

KeyCheck KnownHosts::check(std::string_view host, std::uint16_t port, const HostKey& key,
                           const HashedSearch* search) const {
  const std::string name = known_hosts_name(host, port);
  if (auto revoked = find_revoked(host, port, key)) return {KeyVerdict::revoked, std::move(revoked)};
  if (auto known = find(name, key)) return {KeyVerdict::known, std::move(known)};

  KeyCheck other_type{KeyVerdict::other_type};
  const auto find_other_of_its_type = [&](const std::vector<KnownKey>& stored) -> const KnownKey* {
    for (const KnownKey& known : stored) {
      if (known.key.type == key.type) return &known;
      other_type.other_types.push_back(known.key.type);
      if (!other_type.entry) other_type.entry = known;
    }
    return nullptr;
  };
  const std::vector<KnownKey> plain = plain_keys_of(name);
  if (const KnownKey* const other = find_other_of_its_type(plain)) return {KeyVerdict::changed, *other};
  HashedSearch own(files_, name);
  if (!search) own.run();
  if (const KnownKey* const other = find_other_of_its_type((search ? *search : own).keys_))
    return {KeyVerdict::changed, *other};
  if (other_type.entry) return other_type;
  if (auto known = find(known_hosts_name(host, hosts::kSshPort), key))
    return {KeyVerdict::known, std::move(known)};
  return {};
}

std::shared_ptr<HashedSearch> KnownHosts::search_for(std::string_view host, std::uint16_t port,
                                                     const HostKey& key) const {
  constexpr std::size_t kFew = 1000;  // below this, another thread would cost as much time
  std::size_t lines = 0;
  for (const auto& file : files_) lines += file->hashed_lines();
  const HashedSearch nothing({}, "");
  const KeyVerdict verdict = lines > kFew ? check(host, port, key, &nothing).verdict : KeyVerdict::known;
  if (verdict != KeyVerdict::unknown && verdict != KeyVerdict::other_type) return nullptr;
  return std::make_shared<HashedSearch>(files_, known_hosts_name(host, port));
}

std::vector<std::string> KnownHosts::known_types(std::string_view host, std::uint16_t port) const {
  std::vector<std::string> types;
  for (const std::uint16_t candidate : {port, hosts::kSshPort}) {
    if (!types.empty()) break;
    for (KnownKey& stored : plain_keys_of(known_hosts_name(host, candidate))) {
      types.push_back(std::move(stored.key.type));
    }
  }
  return types;
}

}  // namespace podrun::ssh
