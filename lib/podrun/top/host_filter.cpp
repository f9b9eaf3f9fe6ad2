// SPDX-License-Identifier: Apache-2.0
// The filter of the screen.
#include "podrun/top/host_filter.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/devices/watchers.hpp"

namespace podrun::top {
namespace {

bool compare(double left, std::string_view relation, double right) {
  if (relation == "<") return left < right;
  if (relation == "<=") return left <= right;
  if (relation == ">") return left > right;
  if (relation == ">=") return left >= right;
  return (left == right) == (relation == "=");
}

/// Whether any of these texts is meant, or with `!=` whether there is one that is not.
template <typename Texts>
bool matches(const Texts& texts, std::string_view relation, const std::string& wanted) {
  return std::ranges::any_of(texts, [&](const std::string& text) {
    const bool is_equal = text == wanted || text.ends_with(" " + wanted);
    return is_equal == (relation == "=");
  });
}

/// The name of a figure or text, which may also be given as the heading of its column, in upper or lower
/// case.
std::string figure_key(std::string_view word) {
  std::string key = lower_case(word);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOthers{
      {{"w", "watts"}, {"job", "run"}, {"/", "root"}, {"°c", "celsius"}, {"press", "pressure"}}};
  const auto other = std::ranges::find(kOthers, key, [](const auto& each) { return each.first; });
  return other == kOthers.end() ? key : std::string(other->second);
}

}  // namespace

HostFilter::HostFilter(std::string_view text) : text_(trim_space(text)) {
  std::string_view rest = text_;
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest))
    terms_.push_back(parse(word));
}

HostFilter::Term HostFilter::parse(std::string_view word) {
  Term term{.text = std::string(word)};
  const std::size_t begin = word.find_first_of("<>=!");
  if (begin == word.npos) {
    const bool is_numbers = word.find_first_not_of("0123456789,-[]") == word.npos;
    if (is_numbers) {
      std::string_view list = word;
      if (list.starts_with('[') && list.ends_with(']')) list = list.substr(1, list.size() - 2);
      term.kind = Term::Kind::workers;
      try {
        term.workers = parse_workers(list);
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("bad filter \"{}\": {}", word, error.what()));
      }
      std::ranges::sort(term.workers);
    } else if (word == "odd" || word == "lost" || word == "stale" || word == "up") {
      term.kind = Term::Kind::state;
    }
    return term;
  }
  const std::string key = figure_key(word.substr(0, begin));
  const std::size_t end = std::min(word.find_first_not_of("<>=!", begin), word.size());
  term.relation = word.substr(begin, end - begin);
  term.text = word.substr(end);
  constexpr std::array<std::string_view, 6> kRelations = {"<", "<=", ">", ">=", "=", "!="};
  if (std::ranges::find(kRelations, term.relation) == kRelations.end() || term.text.empty())
    throw UsageError(fmt::format("bad filter \"{}\" (as in gpu<50, user!=alice, run=train, [0-15])", word));
  if (key == "user" || key == "run") {
    term.kind = key == "user" ? Term::Kind::user : Term::Kind::run;
    if (term.relation != "=" && term.relation != "!=")
      throw UsageError(fmt::format("bad filter \"{}\" ({} is compared by = or !=)", word, key));
    return term;
  }
  const auto kind = std::ranges::find(figure_kinds(), key == "duty" ? "gpu" : key, &FigureKind::id);
  const auto [last, error] =
      std::from_chars(term.text.data(), term.text.data() + term.text.size(), term.value);
  if (kind == figure_kinds().end() || error != std::errc() || last != term.text.data() + term.text.size() ||
      !std::isfinite(term.value)) {
    std::string known;
    for (const FigureKind& each : figure_kinds())
      known += fmt::format("{}{}", known.empty() ? "" : " ", each.id);
    throw UsageError(fmt::format("bad filter \"{}\" (a number of: {})", word, known));
  }
  term.kind = Term::Kind::figure;
  term.figure = kind->figure;
  return term;
}

bool HostFilter::accepts(const Pod& pod, std::size_t host) const {
  return std::ranges::all_of(terms_, [&](const Term& term) { return is_true(term, pod, host); });
}

bool HostFilter::is_true(const Term& term, const Pod& pod, std::size_t host) {
  const HostRow& row = pod.rows()[host];
  switch (term.kind) {
    case Term::Kind::figure: {
      const std::optional<double>& value = at(row.figures, term.figure);
      return value && compare(*value, term.relation, term.value);
    }
    case Term::Kind::user: {
      std::vector<std::string> users;
      if (row.report.holders) {
        for (const devices::DeviceHolder& holder : row.report.holders->holders) {
          if (devices::is_watcher(holder.name)) continue;
          users.push_back(holder.uid == row.report.uid && term.text == "me" ? "me" : holder.user);
        }
      }
      return matches(users, term.relation, term.text);
    }
    case Term::Kind::run:
      return term.relation == "=" ? matches(row.runs, "=", term.text) : !matches(row.runs, "=", term.text);
    case Term::Kind::workers:
      return std::ranges::binary_search(term.workers, pod.hosts()[host].worker);
    case Term::Kind::state:
      if (term.text == "odd") return !row.odd.empty();
      if (term.text == "lost") return row.state == HostState::lost;
      return term.text == "stale" ? row.state == HostState::stale : row.state == HostState::up;
    case Term::Kind::name:
      break;
  }
  return pod.hosts()[host].name.find(term.text) != std::string::npos;
}

}  // namespace podrun::top
