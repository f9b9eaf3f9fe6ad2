// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/ssh/config/ssh_config_world.hpp"

// The tokens of ssh_config(5): %h and others, ~ and ${VARIABLE}.
namespace podrun::ssh {

inline constexpr std::string_view kHostNameTokens = "h";
inline constexpr std::string_view kProxyTokens = "hknpr";
inline constexpr std::string_view kMostTokens = "CLdhijklnpru";

/// The values of one host's tokens, besides those of this machine.
struct TokenHost {
  std::string name = {};           ///< %n: as given by the user
  std::string host_name = {};      ///< %h
  std::string host_key_name = {};  ///< %k
  std::string user = {};           ///< %r
  std::string proxy_jump = {};     ///< %j: ProxyJump
  std::uint16_t port = 0;          ///< %p
};

/// Expands the tokens of one host. All functions throw UsageError that names the text.
class ConfigTokens {
 public:
  ConfigTokens(const ConfigWorld& world, TokenHost host) : world_(world), host_(std::move(host)) {}

  const TokenHost& host() const { return host_; }

  /// `allowed`: the known letters after %; %% is a %.
  std::string text(std::string_view text, std::string_view allowed) const {
    return fill_in(text, allowed, Variables::kept);
  }
  /// The same for shell text: also throws if the host's name or user is more than a word there.
  std::string command(std::string_view text, std::string_view allowed) const;
  /// Expands ~, most tokens and ${VARIABLE} in a path.
  std::string path(std::string_view text) const;
  /// Expands only ~ in a path.
  std::string home_path(std::string_view text) const;
  std::optional<std::string> env(const std::string& name) const { return world_.env(name); }

 private:
  enum class Variables { kept, expanded };
  std::string fill_in(std::string_view text, std::string_view allowed, Variables variables) const;
  std::string token(char letter) const;
  std::string connection_hash() const;

  const ConfigWorld& world_;
  TokenHost host_;
};

/// The expansion of `~` or `~user` and where the rest of the path begins; `home` is empty without `~`.
struct TildePath {
  std::string home;
  std::string_view rest;
};
TildePath split_tilde(std::string_view path, const ConfigWorld& world);

/// Throws UsageError for a % with a letter that is not `allowed`.
void check_tokens(std::string_view text, std::string_view allowed);

}  // namespace podrun::ssh
