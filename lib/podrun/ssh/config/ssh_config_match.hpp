// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace podrun::ssh {

/// The criteria of a `Match` of ssh_config(5).
enum class MatchKind { all, canonical, final_pass, host, original_host, user, local_user, exec };
struct MatchCriterion {
  MatchKind kind;
  bool negated = false;
  std::string argument = {};  ///< a list of patterns, or the command of exec
};

/// Throws UsageError.
std::vector<MatchCriterion> parse_match(std::string_view text);

/// The known facts about the host at the position of the Match.
struct MatchFacts {
  std::string_view host;  ///< the HostName found so far
  std::string_view original_host;
  std::string_view user;
  std::string_view local_user;
  bool is_final_pass = false;
  std::function<bool(const std::string& command)> exec;  ///< only called if all criteria before it hold
};
bool matches(const std::vector<MatchCriterion>& criteria, const MatchFacts& facts);

/// Whether it requires a second pass, wherever it appears.
bool asks_for_final_pass(const std::vector<MatchCriterion>& criteria);

}  // namespace podrun::ssh
