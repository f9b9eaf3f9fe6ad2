// SPDX-License-Identifier: Apache-2.0
// Decides whether a Match block applies to a host; `exec` runs a command.
#include "podrun/ssh/config/ssh_config_match.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/ssh/config/pattern.hpp"
#include "podrun/ssh/config/ssh_config_line.hpp"
#include "podrun/ssh/config/ssh_config_tokens.hpp"

namespace podrun::ssh {
namespace {

// The criteria of OpenSSH 9.2.
constexpr std::array<std::pair<std::string_view, MatchKind>, 8> kCriteria = {
    {{"all", MatchKind::all},
     {"canonical", MatchKind::canonical},
     {"final", MatchKind::final_pass},
     {"host", MatchKind::host},
     {"originalhost", MatchKind::original_host},
     {"user", MatchKind::user},
     {"localuser", MatchKind::local_user},
     {"exec", MatchKind::exec}}};
constexpr std::string_view kKnown = "host, originalhost, user, localuser, exec, final, canonical or all";

bool is_end(const std::optional<std::string>& word) {
  return !word || word->empty() || word->starts_with('#');
}

}  // namespace

std::vector<MatchCriterion> parse_match(std::string_view text) {
  std::vector<MatchCriterion> criteria;
  std::optional<std::string_view> rest = text;
  std::optional<std::string> word = take_config_word(rest);
  for (; !is_end(word); word = take_config_word(rest)) {
    MatchCriterion criterion{.kind = MatchKind::all, .negated = word->starts_with('!')};
    const std::string name = lower_case(word->substr(criterion.negated ? 1 : 0));
    const auto known = std::find_if(kCriteria.begin(), kCriteria.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (known == kCriteria.end())
      throw UsageError(fmt::format("unknown criterion \"{}\" of Match (expected {})", name, kKnown));
    criterion.kind = known->second;
    if (criterion.kind == MatchKind::all) {
      if (criteria.size() > 1 || !is_end(take_config_word(rest)))
        throw UsageError("\"all\" of Match stands with other criteria (expected it alone)");
      criteria.push_back(criterion);
      return criteria;
    }
    if (criterion.kind != MatchKind::final_pass && criterion.kind != MatchKind::canonical) {
      const std::optional<std::string> argument = take_config_word(rest);
      if (is_end(argument))
        throw UsageError(fmt::format("no value for \"{}\" of Match (expected {} VALUE)", name, name));
      criterion.argument = *argument;
      if (criterion.kind == MatchKind::exec) check_tokens(criterion.argument, kMostTokens);
    }
    criteria.push_back(std::move(criterion));
  }
  if (criteria.empty()) throw UsageError(fmt::format("Match has no criterion (expected {})", kKnown));
  if (word && word->empty() && rest && !rest->empty())
    throw UsageError(fmt::format("bad Match \"{}\" (expected {})", text, kKnown));
  return criteria;
}

bool matches(const std::vector<MatchCriterion>& criteria, const MatchFacts& facts) {
  const auto holds = [&](const MatchCriterion& criterion) {
    switch (criterion.kind) {
      case MatchKind::all:
        return true;
      case MatchKind::canonical:  // in any second pass, whatever its reason, as in ssh
      case MatchKind::final_pass:
        return facts.is_final_pass;
      case MatchKind::host:
        return matches_pattern_list(lower_case(facts.host), lower_case(criterion.argument));
      case MatchKind::original_host:
        return matches_pattern_list(lower_case(facts.original_host), lower_case(criterion.argument));
      case MatchKind::user:
        return matches_pattern_list(facts.user, criterion.argument);
      case MatchKind::local_user:
        return matches_pattern_list(facts.local_user, criterion.argument);
      case MatchKind::exec:
        break;
    }
    return facts.exec(criterion.argument);
  };
  return std::all_of(criteria.begin(), criteria.end(),
                     [&](const auto& criterion) { return holds(criterion) != criterion.negated; });
}

bool asks_for_final_pass(const std::vector<MatchCriterion>& criteria) {
  return std::any_of(criteria.begin(), criteria.end(),
                     [](const auto& criterion) { return criterion.kind == MatchKind::final_pass; });
}

}  // namespace podrun::ssh
