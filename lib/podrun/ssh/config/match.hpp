// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/ssh/config/ssh_config_tokens.hpp"
#include "podrun/ssh/config/ssh_config_world.hpp"

// `Match` of ssh_config(5), with the criteria of OpenSSH 9.
namespace podrun::ssh {

enum class MatchKind {
  all,
  canonical,
  final_pass,
  host,
  original_host,
  user,
  local_user,
  exec,
  tagged,
  local_network,
  unknown,
};

struct MatchCriterion {
  MatchKind kind = MatchKind::all;
  bool negated = false;
  std::string argument = {};  ///< a list of patterns or networks, the command of exec, or the unknown name
};

/// The facts that criteria are compared with. `exec`: whether a command of `Match exec` succeeds.
struct MatchFacts {
  const ConfigWorld& world;
  const TokenHost& host;
  std::string tag;
  bool is_final_pass;
  const std::function<bool(const std::string& command)>& exec;
};

/// Reads what follows `Match`. A criterion that is not known ends the list. Throws UsageError.
std::vector<MatchCriterion> parse_match(std::string_view text);

/// Throws UsageError where only an unknown criterion decides.
bool holds(const std::vector<MatchCriterion>& criteria, const MatchFacts& facts);

}  // namespace podrun::ssh
