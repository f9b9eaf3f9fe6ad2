// SPDX-License-Identifier: Apache-2.0
// The table of `podrun ps`, and what `podrun start` says at its end.
#include "podrun/jobs/job_words.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/line_words.hpp"
#include "podrun/report/silence.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::jobs {
namespace {

using std::chrono::seconds;

constexpr std::size_t kCommandCells = 16;  ///< the least room for a command
constexpr std::size_t kGap = 2;
constexpr std::size_t kIndent = 4;

/// The range of some times.
struct Times {
  std::optional<seconds> shortest = std::nullopt;
  std::optional<seconds> longest = std::nullopt;

  void add(std::optional<seconds> time) {
    if (!time) return;
    shortest = std::min(shortest.value_or(*time), *time);
    longest = std::max(longest.value_or(*time), *time);
  }
  /// `3 h ago` after the word, `12 s to 3 h ago` if they are far apart; empty: there is none.
  std::string describe(std::string_view word) const {
    if (!shortest) return {};
    const bool is_alike = *longest <= 2 * *shortest + seconds(5);
    return fmt::format("{}{} ago", word, report::describe_ages(is_alike ? *longest : *shortest, *longest));
  }
};

/// The places of hosts that have been silent for much longer than half of the others.
std::vector<std::size_t> silent_places(const std::vector<std::optional<seconds>>& silences) {
  return report::silent_ones({silences.begin(), silences.end()});
}

/// The jobs of one name on all hosts.
struct Named {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> states = {};  ///< words, and the hosts
  std::vector<std::size_t> present = {};  ///< hosts that have it, in order, each once
  std::vector<std::size_t> missing = {};  ///< other hosts that have answered
  Times started = {};
  Times ended = {};
  std::vector<std::size_t> active = {};               ///< hosts
  std::vector<std::optional<seconds>> outputs = {};   ///< of these: how long ago; none: never
  std::vector<std::optional<seconds>> silences = {};  ///< the same, since the start where there is no output
  std::string command = {};
  bool is_kept_here = false;

  void add(std::size_t host, const Job& job) {
    std::string state = describe_state(job) + (job.place.empty() ? "" : ", of another list");
    const auto known = std::ranges::find(states, state, &decltype(states)::value_type::first);
    if (known != states.end()) {
      known->second.push_back(host);
    } else {
      states.emplace_back(std::move(state), std::vector{host});
    }
    if (present.empty() || present.back() != host) present.push_back(host);
    if (job.is_active()) {
      active.push_back(host);
      outputs.push_back(job.output);
      silences.push_back(job.output ? job.output : job.age);
    }
    started.add(job.age);
    ended.add(job.ended);
    if (command.empty()) command = output::escape_controls(job.command);
    is_kept_here = is_kept_here || job.is_kept_here;
  }

  /// `output 4 s ago, [6] 1 min ago`, or when it has ended. `hosts`: none: the hosts are not told apart.
  std::string describe_last(const std::vector<hosts::Host>& hosts) const {
    if (active.empty()) return ended.describe("ended ");
    Times usual;
    Times of_silent;
    std::vector<std::size_t> silent;
    const std::vector<std::size_t> places = silent_places(silences);
    for (std::size_t place = 0; place < active.size(); ++place) {
      const bool is_silent = std::ranges::binary_search(places, place);
      (is_silent ? of_silent : usual).add(outputs[place]);
      if (is_silent) silent.push_back(active[place]);
    }
    std::string text = usual.describe("output ");
    if (silent.empty() || hosts.empty()) return text;
    const std::string age = of_silent.describe("");
    return fmt::format("{}{}{} {}", text, text.empty() ? "" : ", ", output::fold_hosts(hosts, silent),
                       age.empty() ? "never" : age);
  }
};

constexpr std::size_t kColumns = 5;
using Row = std::array<std::string, kColumns>;

Row make_row(const std::string& name, const Named& named, const std::vector<hosts::Host>& hosts,
             std::string_view separator) {
  const bool is_here = named.is_kept_here || (hosts.size() == 1 && hosts[0].kind == hosts::HostKind::local);
  std::vector<std::string> states;
  for (const auto& [state, where] : named.states)
    states.push_back(is_here ? state : fmt::format("{} {}", state, output::fold_hosts(hosts, where)));
  if (!named.missing.empty())
    states.push_back(fmt::format("not on {}", output::fold_hosts(hosts, named.missing)));
  return {output::escape_controls(name), join(states, separator), named.started.describe(""),
          named.describe_last(hosts), named.command};
}

/// `2 running, kept here`, `waiting for [3], try 2, kept here`, `exit 3, kept here`
std::string state_of_kept(const Job& job) {
  if (job.state == JobState::elsewhere) return describe_state(job) + ", kept there";
  if (job.state != JobState::running) return describe_state(job) + ", kept here";
  std::string state = job.doing.empty() ? "being started" : output::escape_controls(job.doing);
  if (job.tries > 1) state += fmt::format(", try {}", job.tries);
  return state + ", kept here";
}

Row row_of_kept(const Job& job) {
  Named named;
  named.add(0, job);
  return {output::escape_controls(job.name), state_of_kept(job), named.started.describe(""),
          named.describe_last({}), named.command};
}

/// The columns are two blanks apart; empty ones are left out. The last is cut to the width, or stands below
/// the others where they leave no room.
std::vector<std::string> align(const std::vector<Row>& rows, const Row* heading, std::size_t columns) {
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < kColumns; ++i)
      widths[i] = std::max(widths[i], output::cell_width(row[i]));
  }
  std::size_t width = 0;
  for (const std::size_t each : widths) width += each == 0 ? 0 : each + kGap;
  const bool is_below = columns != 0 && width + kCommandCells > columns;
  // Where the times have no room either, they stand before the command.
  const std::size_t above = columns != 0 && width > columns + kGap ? 2 : kColumns - 1;
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < above; ++i) {
      if (widths[i] == 0) continue;
      line += row[i] + std::string(widths[i] - output::cell_width(row[i]) + kGap, ' ');
    }
    if (columns == 0)
      line += row.back();
    else if (!is_below)
      line += report::cut(row.back(), columns - width - 1);
    lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    std::string below;
    for (std::size_t i = above; i < kColumns; ++i)
      below += row[i].empty() ? "" : (below.empty() ? "" : std::string(kGap, ' ')) + row[i];
    if (is_below && !below.empty() && &row != heading)
      lines.push_back(std::string(kIndent, ' ') +
                      report::cut(below, std::max(columns, kIndent + kCommandCells) - kIndent - 1));
  }
  return lines;
}

}  // namespace

std::string describe_state(const Job& job) {
  const auto with_open = [&job](const std::string& text) {
    return job.is_open ? text + ", output open" : text;
  };
  switch (job.state) {
    case JobState::starting:
      return job.is_stopped ? "stopped" : "starting";
    case JobState::running:
      return "running";
    case JobState::ended:
      if (job.is_stopped) return with_open("stopped");
      if (job.status == 0) return with_open("exit 0");
      return with_open(report::describe(run::HostOutcome(link::Exited{job.status})));
    case JobState::rebooted:
      return "lost (rebooted)";
    case JobState::unsupervised:
      return "running (podrun's script was killed)";
    case JobState::removed:
      return "removed";
    case JobState::elsewhere:
      return "on " + output::escape_controls(job.machine);
    default:
      return "lost (podrun's script was killed)";
  }
}

std::vector<std::string> describe_jobs(const std::vector<Job>& kept, const std::vector<hosts::Host>& hosts,
                                       const std::vector<ListedJobs>& listed, std::string_view separator,
                                       Heading heading, std::size_t columns) {
  std::map<std::string, Named> jobs;
  for (const ListedJobs& each : listed) {
    for (const Job& job : each.list.jobs) jobs[job.name].add(each.host, job);
  }
  if (jobs.empty() && kept.empty()) return {};
  std::vector<Row> rows;
  if (heading == Heading::shown) rows.push_back({"NAME", "STATE", "STARTED", "LAST", "COMMAND"});
  for (const Job& job : kept) rows.push_back(row_of_kept(job));
  for (auto& [name, named] : jobs) {
    for (const ListedJobs& each : listed) {
      if (!std::binary_search(named.present.begin(), named.present.end(), each.host))
        named.missing.push_back(each.host);
    }
    rows.push_back(make_row(name, named, hosts, separator));
  }
  return align(rows, heading == Heading::shown ? &rows.front() : nullptr, columns);
}

std::vector<hosts::Host> silent_hosts(const std::vector<hosts::Host>& hosts,
                                      const std::vector<ListedJobs>& listed) {
  std::map<std::string, Named> jobs;
  for (const ListedJobs& each : listed) {
    for (const Job& job : each.list.jobs) jobs[job.name].add(each.host, job);
  }
  std::set<std::size_t> silent;
  for (const auto& [name, named] : jobs) {
    for (const std::size_t place : silent_places(named.silences)) silent.insert(named.active[place]);
  }
  std::vector<hosts::Host> found;
  for (const std::size_t host : silent) found.push_back(hosts[host]);
  return found;
}

std::string describe_place(std::string_view place) {
  const std::string text = output::escape_controls(std::string(place));
  return fmt::format("as worker {} of another list ({})", text.substr(0, text.find('-')), text);
}

std::string describe_elsewhere(std::string_view name, std::string_view machine, std::string_view place) {
  const std::string on = output::escape_controls(std::string(machine));
  return fmt::format(
      "{} is on {}, another machine with this home directory (podrun on {} stops it; if that machine is "
      "gone, "
      "remove ~/.podrun/jobs/{}/{})",
      name, on, on, name, output::escape_controls(shell_quote(place)));
}

std::vector<std::string> describe_strays(const std::string& name, const std::vector<hosts::Host>& hosts,
                                         const std::vector<ListedJobs>& listed) {
  std::vector<std::size_t> with_other_list;
  std::string first;
  std::set<std::string> elsewhere;
  for (const ListedJobs& each : listed) {
    for (const Job& job : each.list.jobs) {
      if (job.name != name) continue;
      if (job.state == JobState::elsewhere) {
        elsewhere.insert(describe_elsewhere(
            name, job.machine, job.place.empty() ? hosts::host_file_name(hosts[each.host]) : job.place));
      } else if (!job.place.empty()) {
        if (first.empty()) first = describe_place(job.place);
        if (with_other_list.empty() || with_other_list.back() != each.host)
          with_other_list.push_back(each.host);
      }
    }
  }
  std::vector<std::string> lines(elsewhere.begin(), elsewhere.end());
  if (with_other_list.empty()) return lines;
  const std::string folded = output::fold_hosts(hosts, with_other_list);
  lines.push_back(with_other_list.size() == 1 ? fmt::format("{} has {} {}", folded, name, first)
                                              : fmt::format("{} have {}: [{}] {}", folded, name,
                                                            hosts[with_other_list.front()].worker, first));
  return lines;
}

std::vector<std::string> describe_start(const std::string& name, const std::vector<hosts::Host>& hosts,
                                        const std::vector<Job>& jobs, const std::string& called) {
  std::vector<std::size_t> running;
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> ended;  // by state and last line
  for (std::size_t host = 0; host < jobs.size(); ++host) {
    const Job& job = jobs[host];
    if (job.is_active())
      running.push_back(host);
    else
      ended[{describe_state(job), job.status != 0 && !job.is_stopped ? job.last_line : ""}].push_back(host);
  }
  std::vector<std::string> lines;
  for (const auto& [how, where] : ended) {
    const auto& [state, last_line] = how;
    lines.push_back(fmt::format("podrun: {} {}{}", state, output::fold_hosts(hosts, where),
                                last_line.empty() ? "" : ": " + output::escape_controls(last_line)));
  }
  const std::string on = count_hosts(running.size());
  lines.push_back(
      running.empty()
          ? fmt::format("podrun: {0} has ended ({1} logs {0} shows its output)", name, called)
          : fmt::format("podrun: {0} runs on {1} ({2} logs -f {0} shows its output, {2} stop {0} stops it)",
                        name, on, called));
  return lines;
}

}  // namespace podrun::jobs
