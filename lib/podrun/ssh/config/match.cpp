// SPDX-License-Identifier: Apache-2.0
// Reads the criteria of Match, and compares them with a host and this machine.
#include "podrun/ssh/config/match.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <asio/ip/network_v4.hpp>
#include <asio/ip/network_v6.hpp>
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/ssh/config/pattern.hpp"
#include "podrun/ssh/config/ssh_config_statement.hpp"

namespace podrun::ssh {
namespace {

constexpr std::array<std::pair<std::string_view, MatchKind>, 10> kCriteria = {
    {{"all", MatchKind::all},
     {"canonical", MatchKind::canonical},
     {"final", MatchKind::final_pass},
     {"host", MatchKind::host},
     {"originalhost", MatchKind::original_host},
     {"user", MatchKind::user},
     {"localuser", MatchKind::local_user},
     {"exec", MatchKind::exec},
     {"tagged", MatchKind::tagged},
     {"localnetwork", MatchKind::local_network}}};
constexpr std::string_view kKnown =
    "host, originalhost, user, localuser, exec, tagged, localnetwork, final, canonical or all";

bool is_end(const std::optional<std::string>& word) {
  return !word || word->empty() || word->starts_with('#');
}

bool takes_argument(MatchKind kind) {
  return kind != MatchKind::all && kind != MatchKind::canonical && kind != MatchKind::final_pass;
}

/// Whether the address is in the network; none for a network with more than its bits, `10.0.0.1/8`.
template <class Network, class Address>
std::optional<bool> is_within(const Address& address, const Network& network) {
  if (network.canonical() != network) return std::nullopt;
  return Network(address, network.prefix_length()).canonical() == network;
}

/// Whether an address of this machine is in `10.0.0.0/8`, or is the address. Throws UsageError.
bool is_in(const std::string& address, const std::string& network) {
  const bool is_ipv6 = network.find(':') != std::string::npos;
  const std::string whole =
      network.find('/') == std::string::npos ? network + (is_ipv6 ? "/128" : "/32") : network;
  asio::error_code error;
  std::optional<bool> found;
  if (is_ipv6) {
    const auto parsed = asio::ip::make_network_v6(whole, error);
    if (!error) found = is_within(asio::ip::make_address_v6(address, error), parsed);
  } else {
    const auto parsed = asio::ip::make_network_v4(whole, error);
    if (!error) found = is_within(asio::ip::make_address_v4(address, error), parsed);
  }
  if (!found)
    throw UsageError(fmt::format("bad network \"{}\" of Match (expected one such as 10.0.0.0/8)", network));
  return *found && !error;
}

bool is_in_local_network(const std::string& networks, const std::vector<std::string>& addresses) {
  const std::vector<std::string_view> list = split(networks, ',');
  return std::ranges::any_of(list, [&](std::string_view network) {
    return std::ranges::any_of(addresses,
                               [&](const auto& address) { return is_in(address, std::string(network)); });
  });
}

bool holds(const MatchCriterion& criterion, const MatchFacts& facts) {
  const std::string& argument = criterion.argument;
  switch (criterion.kind) {
    case MatchKind::canonical:  // in any second pass, whatever its reason, as in ssh
    case MatchKind::final_pass:
      return facts.is_final_pass;
    case MatchKind::host:
      return matches_pattern_list(lower_case(facts.host.host_name), lower_case(argument));
    case MatchKind::original_host:
      return matches_pattern_list(lower_case(facts.host.name), lower_case(argument));
    case MatchKind::user:
      return matches_pattern_list(facts.host.user, argument);
    case MatchKind::local_user:
      return matches_pattern_list(facts.world.user, argument);
    case MatchKind::exec:
      return facts.exec(ConfigTokens(facts.world, facts.host).command(argument, kMostTokens));
    case MatchKind::tagged:
      return argument.empty() ? facts.tag.empty() : matches_pattern_list(facts.tag, argument);
    case MatchKind::local_network:
      return is_in_local_network(argument, facts.world.own_names());
    case MatchKind::all:
    case MatchKind::unknown:
      break;
  }
  return true;
}

}  // namespace

std::vector<MatchCriterion> parse_match(std::string_view text) {
  std::vector<MatchCriterion> criteria;
  std::optional<std::string_view> rest = text;
  std::optional<std::string> word = take_config_word(rest);
  for (; !is_end(word); word = take_config_word(rest)) {
    MatchCriterion criterion{.negated = word->starts_with('!')};
    const std::string name = lower_case(word->substr(criterion.negated ? 1 : 0));
    const auto known = std::ranges::find(kCriteria, name, &decltype(kCriteria)::value_type::first);
    if (known == kCriteria.end() && text.find("\\\"") != text.npos)
      throw UsageError(fmt::format("bad Match \"{}\" (expected no \\\" in it)", text));
    if (known == kCriteria.end()) {  // whether it has an argument is not known either
      criteria.push_back({MatchKind::unknown, false, name});
      return criteria;
    }
    criterion.kind = known->second;
    if (criterion.kind == MatchKind::all) {
      if (criteria.size() > 1 || !is_end(take_config_word(rest)))
        throw UsageError("\"all\" of Match stands with other criteria (expected it alone)");
      criteria.push_back(criterion);
      return criteria;
    }
    if (takes_argument(criterion.kind)) {
      const std::optional<std::string> argument = take_config_word(rest);
      const bool asks_for_no_tag =
          criterion.kind == MatchKind::tagged && argument && argument->empty() && rest;
      if (is_end(argument) && !asks_for_no_tag)
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

bool holds(const std::vector<MatchCriterion>& criteria, const MatchFacts& facts) {
  const bool all_hold = std::ranges::all_of(
      criteria, [&](const auto& criterion) { return holds(criterion, facts) != criterion.negated; });
  if (all_hold && criteria.back().kind == MatchKind::unknown)
    throw UsageError(fmt::format("unknown criterion \"{}\" of Match decides about this host (expected {})",
                                 criteria.back().argument, kKnown));
  return all_hold;
}

}  // namespace podrun::ssh
