// SPDX-License-Identifier: Apache-2.0
// Reduces lists of algorithms (`+`, `-`, `^`, patterns) to what libssh has and podrun allows.
#include "podrun/ssh/config/algorithms.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "podrun/base/text.hpp"
#include "podrun/ssh/config/pattern.hpp"

namespace podrun::ssh {
namespace {

using Names = std::vector<std::string>;

struct Lists {
  std::string_view ours;
  std::string_view more;  ///< the other ones of libssh 0.10, which silently drops names that it does not know
};
constexpr std::array<Lists, 5> kLists = {{
    {kKexAlgorithms,
     "diffie-hellman-group-exchange-sha256,diffie-hellman-group14-sha1,diffie-hellman-group1-sha1,"
     "diffie-hellman-group-exchange-sha1"},
    {kHostKeyAlgorithms, "sk-ssh-ed25519@openssh.com,sk-ecdsa-sha2-nistp256@openssh.com,ssh-rsa"},
    {kCiphers, "aes256-cbc,aes192-cbc,aes128-cbc,3des-cbc"},
    {kMacs, "hmac-sha1-etm@openssh.com,hmac-sha1"},
    {kPublicKeyAlgorithms, "ssh-rsa-cert-v01@openssh.com,ssh-rsa"},
}};

const Lists& lists_of(AlgorithmKind kind) { return kLists.at(static_cast<std::size_t>(kind)); }

/// Ignores empty names.
Names names_in(std::string_view list) {
  Names names;
  for (const std::string_view name : split(list, ',')) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

/// The known names that the list names or matches, each once, in the order of the list.
Names known_names(std::string_view list, const Names& known) {
  Names names;
  for (const std::string& pattern : names_in(list)) {
    std::copy_if(known.begin(), known.end(), std::back_inserter(names), [&](const std::string& name) {
      return matches_pattern(name, pattern) && std::find(names.begin(), names.end(), name) == names.end();
    });
  }
  return names;
}

/// The type of the keys that an algorithm signs with: RSA keys have three algorithms.
std::string_view key_type_for(std::string_view algorithm) {
  if (algorithm.starts_with("rsa-sha2-"))
    return algorithm.ends_with("-cert-v01@openssh.com") ? "ssh-rsa-cert-v01@openssh.com" : "ssh-rsa";
  return algorithm;
}

}  // namespace

std::string_view our_algorithms(AlgorithmKind kind) { return lists_of(kind).ours; }

std::optional<std::string> configured_algorithms(AlgorithmKind kind, std::string_view value) {
  const Lists& lists = lists_of(kind);
  const Names ours = names_in(lists.ours);
  const Names known = names_in(std::string(lists.ours) + ',' + std::string(lists.more));
  const char mark = value.empty() ? '\0' : value.front();
  if (mark == '+' || mark == '-' || mark == '^') value.remove_prefix(1);
  const std::string listed(value);
  Names names = known_names(value, known);
  if (mark == '+') names = known_names(std::string(lists.ours) + ',' + listed, known);
  if (mark == '^') names = known_names(listed + ',' + std::string(lists.ours), known);
  if (mark == '-') {
    const Names removed = std::move(names);
    names.clear();
    std::copy_if(ours.begin(), ours.end(), std::back_inserter(names), [&](const std::string& name) {
      return std::find(removed.begin(), removed.end(), name) == removed.end();
    });
  }
  if (names.empty()) return std::nullopt;
  return join(names, ",");
}

std::string prefer_key_types(std::string_view algorithms, const std::vector<std::string>& types) {
  Names names = names_in(algorithms);
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
    return std::find(types.begin(), types.end(), key_type_for(name)) != types.end();
  });
  return join(names, ",");
}

bool accepts_key_type(std::string_view algorithms, std::string_view type) {
  const Names names = names_in(algorithms);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return key_type_for(name) == type; });
}

}  // namespace podrun::ssh
