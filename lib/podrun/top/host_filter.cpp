// SPDX-License-Identifier: Apache-2.0
// The filter of the screen.
#include "podrun/top/host_filter.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"

namespace podrun::top {
namespace {

constexpr std::string_view kRun = "run=";

}  // namespace

HostFilter::HostFilter(std::string_view text) : text_(trim_space(text)) {
  std::string_view rest = text_;
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest))
    words_.push_back(parse(word));
}

HostFilter::Word HostFilter::parse(std::string_view text) {
  Word word{std::string(text)};
  const bool is_run = text.starts_with(kRun) && text.size() > kRun.size();
  if (!is_run && text.find_first_of("<>=!") != text.npos)  // no name has these
    throw UsageError(fmt::format("bad filter \"{}\" (as in [0-15], odd, run=train, a name)", text));
  if (text.find_first_not_of("0123456789,-[]") != text.npos) return word;
  std::string_view list = text;
  if (list.starts_with('[') && list.ends_with(']')) list = list.substr(1, list.size() - 2);
  try {
    word.workers = parse_workers(list);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("bad filter \"{}\": {}", text, error.what()));
  }
  std::ranges::sort(word.workers);
  return word;
}

bool HostFilter::accepts(const Pod& pod, std::size_t host) const {
  return std::ranges::all_of(words_, [&](const Word& word) { return is_true(word, pod, host); });
}

bool HostFilter::is_true(const Word& word, const Pod& pod, std::size_t host) {
  const HostRow& row = pod.rows()[host];
  const std::string& text = word.text;
  if (!word.workers.empty()) return std::ranges::binary_search(word.workers, pod.hosts()[host].worker);
  if (text == "odd") return !row.odd.empty();
  for (const Presence state : {Presence::up, Presence::stale, Presence::lost}) {
    if (text == word_of(state)) return row.state == state;
  }
  if (!text.starts_with(kRun)) return pod.hosts()[host].name.find(text) != std::string::npos;
  const std::string wanted = text.substr(kRun.size());
  return std::ranges::any_of(
      row.runs, [&](const std::string& run) { return run == wanted || run.ends_with(" " + wanted); });
}

}  // namespace podrun::top
