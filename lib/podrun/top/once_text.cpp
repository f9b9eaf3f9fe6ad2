// SPDX-License-Identifier: Apache-2.0
// `podrun top --once`: a table for a pipe.
#include "podrun/top/once_text.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/top/folding.hpp"

namespace podrun::top {
namespace {

/// Figures of chips, then those of hosts.
std::vector<std::string> table(const Pod& pod) {
  std::vector<std::string> lines;
  std::vector<const FigureKind*> shown;
  for (const FigureKind& kind : figure_kinds()) {
    if (kind.shown.once && pod.extremes(kind.figure)) shown.push_back(&kind);
  }
  std::ranges::stable_partition(shown, [](const FigureKind* kind) { return kind->of_chip != nullptr; });
  for (const FigureKind* const kind : shown) {
    const Extremes& extremes = *pod.extremes(kind->figure);
    const std::string least = short_value(*kind, extremes.least);
    const std::string most = short_value(*kind, extremes.most);
    const std::string worst = least == most ? "" : fmt::format(" {:>10}", pod.hosts()[extremes.worst].worker);
    lines.push_back(fmt::format("{:7} {:>6} {:>7} {:>6}{}", name_of(pod, kind->figure), least,
                                short_value(*kind, extremes.median), most, worst));
  }
  if (!lines.empty())
    lines.insert(lines.begin(),
                 fmt::format("{:7} {:>6} {:>7} {:>6} {:>10}", "", "min", "median", "max", "farthest"));
  return lines;
}

/// The workers and the reasons; hosts with the same words are one line.
std::vector<std::pair<std::string, std::string>> odd_lines(const Pod& pod, std::string_view separator) {
  std::vector<std::pair<std::vector<std::size_t>, std::string>> lines;
  for (const std::size_t host : odd_in_order(pod)) {
    std::string text = describe_odd(pod.rows()[host], separator);
    auto same = std::ranges::find(lines, text, [](const auto& line) { return line.second; });
    if (same == lines.end()) same = lines.insert(same, {{}, std::move(text)});
    same->first.push_back(pod.hosts()[host].worker);
  }
  std::vector<std::pair<std::string, std::string>> folded;
  for (auto& [workers, text] : lines) folded.emplace_back(fold_workers(std::move(workers)), std::move(text));
  return folded;
}

/// `256 hosts: 253 up, 1 stale, 2 lost`
std::string describe_counts(const Pod& pod) {
  std::string text = fmt::format("{}: {} up", count_hosts(pod.rows().size()), pod.count(Presence::up));
  for (const Presence state : {Presence::stale, Presence::lost, Presence::waiting}) {
    const std::string_view word = state == Presence::waiting ? "not answered yet" : word_of(state);
    if (const std::size_t count = pod.count(state)) text += fmt::format(", {} {}", count, word);
  }
  return text;
}

/// `2048 × H100: 2024 busy, 8 idle`; empty: no host has accelerators.
std::string describe_chips(const Pod& pod) {
  const std::string names = describe_accelerators(pod);
  if (names.empty()) return {};
  const ChipCounts counts = count_chips(pod);
  std::string text;
  for (const auto& [count, word] : {std::pair{counts.busy, "busy"}, std::pair{counts.idle, "idle"},
                                    std::pair{counts.unknown(), "unknown"}}) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", count, word);
  }
  return names + text;
}

}  // namespace

std::string in_charset(std::string text, output::Charset charset) {
  if (charset == output::Charset::utf8) return text;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPlain{
      {{"°C", "C"}, {"×", "x"}, {"·", "-"}, {"…", "..."}, {"│", "|"}, {"─", "-"}}};
  for (const auto& [fine, plain] : kPlain) {
    for (std::size_t place = text.find(fine); place != text.npos;
         place = text.find(fine, place + plain.size()))
      text.replace(place, fine.size(), plain);
  }
  std::string shown;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t bytes = std::max<std::size_t>(1, first_utf8(rest).bytes);
    shown += static_cast<unsigned char>(rest.front()) < 0x80 ? rest.front() : '?';
    rest.remove_prefix(bytes);
  }
  return shown;
}

std::vector<std::string> once_lines(const Pod& pod, output::Charset charset) {
  const std::string separator(output::separator(charset));
  std::vector<std::string> lines;
  const std::string chips = describe_chips(pod);
  lines.push_back(describe_counts(pod) + (chips.empty() ? "" : separator + chips));
  for (std::string& line : table(pod)) lines.push_back(std::move(line));
  const auto odd = odd_lines(pod, separator);
  std::size_t width = 0;
  for (const auto& [workers, text] : odd) width = std::max(width, workers.size());
  for (const auto& [workers, text] : odd) lines.push_back(fmt::format("{:{}}  {}", workers, width, text));
  for (const std::vector<std::size_t>& hosts : fold_alike(pod)) {
    const std::string figures = describe_alike(pod, hosts);
    const std::string run = pod.rows()[hosts.front()].run;
    const std::string who =
        hosts.size() == 1
            ? output::fold_hosts(pod.hosts(), hosts)
            : fmt::format("{} ({}) alike", output::fold_hosts(pod.hosts(), hosts), hosts.size());
    std::string line = fmt::format("{}{}{}", who, figures.empty() ? "" : ": ", figures);
    if (!run.empty()) line += fmt::format("{}{}", figures.empty() ? ": " : ", ", run);
    lines.push_back(std::move(line));
  }
  for (std::string& line : lines) line = in_charset(output::escape_controls(line), charset);
  return lines;
}

}  // namespace podrun::top
