// SPDX-License-Identifier: Apache-2.0
#include "cli/job_names.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/output/escape.hpp"

namespace podrun::cli {
namespace {

constexpr const char* kFile = "job_names";
constexpr std::size_t kMostNames = 100;
constexpr std::size_t kMostWithHosts = 20;  ///< a pod may have thousands
constexpr std::size_t kMostShown = 8;

/// A line: `NAME`, and after tabs the hosts that may still have it, and all on which it was started.
struct SeenJob {
  std::string name;
  std::vector<std::string> left = {};
  std::vector<std::string> all = {};
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

std::vector<SeenJob> read_jobs(const hosts::Probe& probe) {
  std::vector<SeenJob> jobs;
  const std::string text = hosts::recall_state(kFile, probe);
  for (std::string_view line : split(text, '\n')) {
    SeenJob job{.name = std::string(take_part(line, '\t'))};
    job.left = words_of(take_part(line, '\t'));
    job.all = words_of(line);
    if (!job.name.empty()) jobs.push_back(std::move(job));
  }
  return jobs;
}

void write_jobs(std::vector<SeenJob> jobs, const hosts::Probe& probe) {
  if (jobs.size() > kMostNames) jobs.erase(jobs.begin(), jobs.end() - kMostNames);
  std::string text;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    text += jobs[i].name;
    if (!jobs[i].left.empty() && jobs.size() - i <= kMostWithHosts)
      text += fmt::format("\t{}\t{}", join(jobs[i].left, " "), join(jobs[i].all, " "));
    text += '\n';
  }
  hosts::remember_state(kFile, text, probe);
}

std::set<std::string> texts_of(const std::vector<hosts::Host>& hosts) {
  std::set<std::string> texts;
  for (const hosts::Host& host : hosts) texts.insert(hosts::to_text(host));
  return texts;
}

void leave_out(std::vector<std::string>& left, const std::set<std::string>& hosts) {
  std::erase_if(left, [&](const std::string& host) { return hosts.contains(host); });
}

}  // namespace

std::vector<std::string> seen_job_names(const hosts::Probe& probe) {
  std::vector<std::string> names;
  for (SeenJob& job : read_jobs(probe)) names.push_back(std::move(job.name));
  return names;
}

void note_started(const std::string& name, const std::vector<hosts::Host>& on, const hosts::Probe& probe) {
  std::vector<SeenJob> jobs = read_jobs(probe);
  std::erase_if(jobs, [&](const SeenJob& job) { return job.name == name; });
  SeenJob job{.name = name};
  for (const hosts::Host& host : on) job.all.push_back(hosts::to_text(host));
  job.left = job.all;
  jobs.push_back(std::move(job));
  write_jobs(std::move(jobs), probe);
}

void note_listed(const std::set<std::string>& names, const std::vector<hosts::Host>& of,
                 const hosts::Probe& probe) {
  const std::set<std::string> listed = texts_of(of);
  std::vector<SeenJob> jobs;
  std::set<std::string> missing = names;
  for (SeenJob& job : read_jobs(probe)) {
    if (missing.erase(job.name) == 0) {
      leave_out(job.left, listed);
      if (job.left.empty()) continue;
    }
    jobs.push_back(std::move(job));
  }
  for (const std::string& name : missing) jobs.push_back({.name = name});
  write_jobs(std::move(jobs), probe);
}

void note_removed(const std::set<std::string>& names, const std::vector<hosts::Host>& from,
                  const hosts::Probe& probe) {
  const std::set<std::string> hosts = texts_of(from);
  std::vector<SeenJob> jobs = read_jobs(probe);
  std::erase_if(jobs, [&](SeenJob& job) {
    if (!names.contains(job.name)) return false;
    leave_out(job.left, hosts);
    return job.left.empty();
  });
  write_jobs(std::move(jobs), probe);
}

std::vector<std::string> describe_left(const std::vector<hosts::Host>& hosts,
                                       const std::vector<std::string>& names, std::string_view verb,
                                       const hosts::Probe& probe) {
  const std::set<std::string> here = texts_of(hosts);
  std::vector<std::string> lines;
  for (SeenJob& job : read_jobs(probe)) {
    const bool is_asked = names.empty() || std::ranges::find(names, job.name) != names.end();
    const bool is_ours =
        std::ranges::any_of(job.all, [&](const std::string& host) { return here.contains(host); });
    leave_out(job.left, here);
    if (!is_asked || !is_ours || job.left.empty()) continue;
    const std::string list = join(job.left, ",");
    const std::string where =
        output::escape_controls(job.left.size() > kMostShown ? count_hosts(job.left.size()) : list);
    lines.push_back(fmt::format(
        "{} was started on {} too, which {} not among these hosts (podrun -H {} {} {})", job.name, where,
        job.left.size() == 1 ? "is" : "are", output::escape_controls(shell_quote(list)), verb, job.name));
  }
  return lines;
}

}  // namespace podrun::cli
