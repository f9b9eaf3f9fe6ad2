// SPDX-License-Identifier: Apache-2.0
// Blocks of text are compared whole, since the lines of a matrix or a traceback mean nothing alone.
#include "podrun/python/cell_words.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include <fmt/format.h>

#include "podrun/base/lower_median.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"

namespace podrun::python {
namespace {

using Kind = CellReply::Kind;
using std::chrono::seconds;

constexpr std::size_t kLongestPart = 26;  ///< columns of the prompt
constexpr std::size_t kShortAddress = 6;  ///< digits that a number in hexadecimal has at most
constexpr int kMuchLonger = 2;            ///< times the median
constexpr std::string_view kStays = " (the interpreters stay; exit or Ctrl-D leaves)";

constexpr bool is_hexadecimal(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Objects have other addresses on each host.
std::string without_addresses(std::string_view text) {
  std::string kept;
  for (std::size_t at; (at = text.find("0x")) != text.npos;) {
    at += 2;
    kept += text.substr(0, at);
    text.remove_prefix(at);
    const std::size_t digits =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_hexadecimal) - text.begin());
    if (digits < kShortAddress) continue;
    kept += "…";
    text.remove_prefix(digits);
  }
  return kept.append(text);
}

/// The hosts of one text, and the text of the first of them.
struct Group {
  std::string text;
  CellHosts hosts;
};
using TextOf = std::function<std::string(const HostReply&)>;

/// Groups the hosts with equal texts, the largest group first.
std::vector<Group> group_by(std::span<const HostReply> replies, const TextOf& text_of) {
  std::vector<Group> groups;
  std::vector<std::string> keys;
  for (const HostReply& reply : replies) {
    std::string text = text_of(reply);
    std::string key = without_addresses(text);
    const auto known = std::ranges::find(keys, key);
    if (known == keys.end()) {
      keys.push_back(std::move(key));
      groups.push_back({std::move(text), {reply.host}});
    } else {
      groups[static_cast<std::size_t>(known - keys.begin())].hosts.push_back(reply.host);
    }
  }
  std::ranges::stable_sort(groups, std::greater(), [](const Group& group) { return group.hosts.size(); });
  return groups;
}

std::vector<HostReply> with_kind(std::span<const HostReply> replies, Kind kind) {
  std::vector<HostReply> found;
  std::ranges::copy_if(replies, std::back_inserter(found),
                       [kind](const HostReply& reply) { return reply.reply.kind == kind; });
  return found;
}

std::string_view without_end(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

/// Where a traceback's frames end: the exception and its text, which may have several lines, follow.
std::size_t position_of_exception(std::string_view text) {
  constexpr std::string_view kFrame = "\n  File \"";
  std::size_t at = text.rfind(kFrame);
  if (at == text.npos && !text.starts_with(kFrame.substr(1))) return 0;
  at = at == text.npos ? 0 : at + 1;
  while (at < text.size() && text[at] == ' ') at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return at;
}

class Printed {
 public:
  explicit Printed(const std::vector<hosts::Host>& hosts) : hosts_(hosts) {}

  /// Behind the label where it is one line, else below it.
  void add(std::string_view text, const CellHosts& hosts, bool is_labelled) {
    const std::string label = is_labelled ? output::fold_hosts(hosts_, hosts) + ":" : "";
    const bool is_line = text.find('\n') == text.npos;
    if (is_labelled && !is_line) lines_.push_back(label);
    for (const std::string_view line : split(text, '\n')) {
      std::string shown = output::escape_controls(line, output::Tabs::keep);
      lines_.push_back(is_labelled && is_line ? label + " " + shown : std::move(shown));
    }
  }

  std::vector<std::string> take() { return std::move(lines_); }

 private:
  const std::vector<hosts::Host>& hosts_;
  std::vector<std::string> lines_;
};

void add_errors(Printed& printed, std::span<const HostReply> errors, std::size_t asked) {
  const auto frames = [](const HostReply& reply) {
    const std::string_view text = without_end(reply.reply.text);
    return std::string(without_end(text.substr(0, position_of_exception(text))));
  };
  const auto exception = [](const HostReply& reply) {
    const std::string_view text = without_end(reply.reply.text);
    return std::string(text.substr(position_of_exception(text)));
  };
  for (const Group& group : group_by(errors, frames)) {
    std::vector<HostReply> of_group;
    std::ranges::copy_if(errors, std::back_inserter(of_group), [&](const HostReply& reply) {
      return std::ranges::find(group.hosts, reply.host) != group.hosts.end();
    });
    const std::vector<Group> exceptions = group_by(of_group, exception);
    const bool is_labelled = group.hosts.size() < asked;
    if (exceptions.size() == 1) {
      printed.add(group.text.empty() ? exceptions[0].text : group.text + "\n" + exceptions[0].text,
                  group.hosts, is_labelled);
      continue;
    }
    if (!group.text.empty()) printed.add(group.text, group.hosts, is_labelled);
    for (const Group& one : exceptions) printed.add(one.text, one.hosts, true);
  }
}

/// `[0-7]`, or `64 hosts` where that would be too long.
std::string name_in_prompt(const std::vector<hosts::Host>& hosts, const CellHosts& which) {
  std::string text = output::fold_hosts(hosts, which);
  return text.size() <= kLongestPart ? text : count_hosts(which.size());
}

/// ` 9 s`, ` 2 s, [3] 8 s`; nothing of less than a second.
std::string name_times(const std::vector<hosts::Host>& hosts, const std::vector<HostReply>& replies) {
  std::vector<seconds> times;
  for (const HostReply& reply : replies) times.push_back(std::chrono::round<seconds>(reply.reply.took));
  if (times.empty() || std::ranges::max(times) < seconds(1)) return {};
  const seconds usual = lower_median(times);
  CellHosts slow;
  seconds slowest{};
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (times[i] <= kMuchLonger * std::max(usual, seconds(1))) continue;
    slow.push_back(replies[i].host);
    slowest = std::max(slowest, times[i]);
  }
  std::string text;
  if (slow.empty() || usual >= seconds(1))
    text = fmt::format(" {} s", (slow.empty() ? std::ranges::max(times) : usual).count());
  if (!slow.empty())
    text += fmt::format("{} {} {} s", text.empty() ? "" : ",", name_in_prompt(hosts, slow), slowest.count());
  return text;
}

/// `[2,5] FileNotFoundError`, `3 hosts failed`.
std::string name_errors(const std::vector<hosts::Host>& hosts, const std::vector<HostReply>& replies) {
  std::vector<HostReply> errors = with_kind(replies, Kind::error);
  if (errors.empty()) return {};
  const std::vector<Group> kinds = group_by(errors, [](const HostReply& reply) {
    std::string_view text = without_end(reply.reply.text);
    text.remove_prefix(position_of_exception(text));
    const std::string_view name = text.substr(0, text.find_first_of(":\n"));
    return output::escape_controls(name.substr(std::min(name.size(), name.rfind('.') + 1)));
  });
  if (kinds.size() == 1 && kinds[0].text.size() <= kLongestPart)
    return errors.size() == replies.size() ? kinds[0].text
                                           : name_in_prompt(hosts, kinds[0].hosts) + " " + kinds[0].text;
  return count_hosts(errors.size()) + " failed";
}

}  // namespace

std::vector<std::string> describe_replies(const std::vector<hosts::Host>& hosts,
                                          std::span<const HostReply> replies, std::size_t asked) {
  Printed printed(hosts);
  const auto whole = [](const HostReply& reply) { return std::string(without_end(reply.reply.text)); };
  for (const Group& group : group_by(with_kind(replies, Kind::value), whole))
    printed.add(group.text, group.hosts, group.hosts.size() < asked);
  add_errors(printed, with_kind(replies, Kind::error), asked);
  for (const Group& group : group_by(with_kind(replies, Kind::exit), whole))
    printed.add(group.text + std::string(kStays), group.hosts, group.hosts.size() < asked);
  return printed.take();
}

std::vector<std::string> describe_places(const std::vector<hosts::Host>& hosts,
                                         std::span<const HostPlace> places) {
  std::vector<HostReply> replies;
  for (const auto& [host, place] : places) replies.push_back({host, {.text = place}});
  std::vector<Group> groups = group_by(replies, [](const HostReply& reply) { return reply.reply.text; });
  std::ranges::stable_sort(groups, {}, [](const Group& group) { return group.hosts.size(); });
  std::vector<std::string> lines;
  for (const Group& group : groups) {
    lines.push_back(fmt::format("{} {} in {}", output::fold_hosts(hosts, group.hosts),
                                group.hosts.size() == 1 ? "waits" : "wait",
                                output::escape_controls(group.text)));
  }
  return lines;
}

std::string cell_prompt(const std::vector<hosts::Host>& hosts, const CellsBefore& before,
                        std::string_view separator) {
  std::string text = before.idle.empty() ? "no interpreter" : name_in_prompt(hosts, before.idle);
  text += name_times(hosts, before.replies);
  const std::string errors = name_errors(hosts, before.replies);
  if (!errors.empty()) text.append(separator).append(errors);
  if (!before.lost.empty()) text.append(separator).append("lost ").append(name_in_prompt(hosts, before.lost));
  return text + " >>> ";
}

std::string more_prompt(std::string_view prompt) {
  const std::size_t end =
      prompt.starts_with('[') ? prompt.find(']') + 1 : prompt.find(' ', prompt.find(' ') + 1);
  return std::string(end + 1, ' ') + "... ";
}

}  // namespace podrun::python
