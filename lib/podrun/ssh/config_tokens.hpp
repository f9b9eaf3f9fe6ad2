// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/ssh/config_world.hpp"

// The tokens of ssh_config(5): %h and its like, ~ and ${VARIABLE}.
namespace podrun {

inline constexpr std::string_view kHostNameTokens = "h";
inline constexpr std::string_view kProxyTokens = "hknpr";
inline constexpr std::string_view kMostTokens = "CLdhiklnpru";

/// What the tokens of one host stand for, besides those of this machine.
struct TokenHost {
  std::string name = {};           ///< %n: as it was asked for
  std::string host_name = {};      ///< %h
  std::string host_key_name = {};  ///< %k
  std::string user = {};           ///< %r
  std::uint16_t port = 0;          ///< %p
};

/// Fills in the tokens of one host. All throw UsageError that names the text.
class ConfigTokens {
 public:
  ConfigTokens(const ConfigWorld& world, TokenHost host) : world_(world), host_(std::move(host)) {}

  const TokenHost& host() const { return host_; }

  /// `allowed`: the letters behind % that are known; %% is a %.
  std::string text(std::string_view text, std::string_view allowed) const;
  /// The same for a shell: also throws when the host's name or user would be more than a word there.
  std::string command(std::string_view text, std::string_view allowed) const;
  /// A path with ~, most tokens and ${VARIABLE}.
  std::string path(std::string_view text) const;
  /// A path with ~ alone.
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

/// Where the path behind `~` or `~user` begins, and what stands for it; no home where there is no `~`.
struct TildePath {
  std::string home;
  std::string_view rest;
};
TildePath split_tilde(std::string_view path, const ConfigWorld& world);

/// Throws UsageError for a % with a letter that is not `allowed`.
void check_tokens(std::string_view text, std::string_view allowed);

}  // namespace podrun
