// SPDX-License-Identifier: Apache-2.0
// Anything as what a host answers to a script: values of bounded size, whatever its rc files print before,
// and words that are safe on a terminal. The first byte chooses the script.
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "podrun/base/answer.hpp"
#include "podrun/check/check_report.hpp"
#include "podrun/jobs/job_report.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/jobs/log_frames.hpp"
#include "podrun/kill/kill_report.hpp"
#include "podrun/link/failure.hpp"
#include "podrun/restarts/settled_host.hpp"
#include "podrun/supervisor/mark.hpp"

namespace {

using namespace podrun;

const std::vector<hosts::Host> kHosts = {{.worker = 0, .name = "a"}, {.worker = 1, .name = "b"}};

void expect(bool condition) {
  if (!condition) std::abort();
}

void expect_printable(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    for (const char c : line) expect(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
}

/// A command with it may be suggested.
void expect_plain(const std::string& name) {
  for (const char c : name)
    expect(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_');
}

void read_check(const std::string& text) {
  const check::HostFacts facts = check::parse_check_reply("podrun-check n\n" + text, "n");
  expect(facts.has_begun && facts.devices.size() <= kMostEntries && facts.holders.size() <= kMostEntries &&
         facts.disks.size() <= kMostEntries);
  for (const auto& [name, value] : facts.values) expect(!value.empty() && value.size() <= kMostOfText);
  for (const check::DiskSpace& disk : facts.disks) expect(disk.mount.size() <= kMostOfText);
  for (const check::HeldDevice& holder : facts.holders) expect_plain(holder.job);
  const auto again = check::parse_check_reply("noise\nkernel x\n\npodrun-check n\n" + text, "n");
  expect(again.values == facts.values && again.is_complete == facts.is_complete &&
         again.clock == facts.clock);

  using namespace std::chrono_literals;
  const auto clock = check::clock_offset(facts, 1'795'289'820s, 20ms);
  check::CheckedHost other{link::Exited{0}};
  other.facts.has_begun = other.facts.is_complete = true;
  const std::vector<check::CheckedHost> checked = {{link::Exited{0}, facts, clock}, other};
  const check::CheckReport report = check::compare_hosts(checked, {"python3", "~/app"});
  expect_printable(check::describe_check(kHosts, report, " - "));
  expect(check::check_json({}, kHosts, checked, report).starts_with(R"({"v":1,"event":"check")"));
}

void read_kill(const std::string& text) {
  const auto list = read_answer<devices::DeviceHolders>("noise\npodrun-holders n\n" + text, "n");
  expect(list.holders.size() <= kMostEntries && list.devices.size() <= kMostEntries &&
         list.above.size() <= kMostEntries && list.marks.size() <= kMostEntries);
  for (const devices::DeviceHolder& holder : list.holders) {
    expect(holder.pid > 0 && holder.command.size() <= kMostOfText && holder.user.size() <= kMostOfText);
    expect_plain(supervisor::run_of(holder.mark) + supervisor::job_of(holder.mark));
  }
  const std::vector<kill::ListedHost> listed = {{0, list, kill::choose(list, {})}};
  expect(listed.front().choices.size() == list.holders.size());
  for (const kill::Choice& choice : listed.front().choices)
    expect(!choice.why_kept.empty() || choice.holder.uid == list.uid);
  expect_printable(kill::describe_choices(kHosts, listed, " - "));
  expect_printable({kill::describe_result(kHosts, listed, listed, " - ")});
  const std::vector<run::HostOutcome> outcomes(kHosts.size(), link::Exited{0});
  expect(kill::kill_json({}, kHosts, outcomes, listed, listed).starts_with(R"({"v":1,"event":"kill")"));
}

void read_jobs(const std::string& text) {
  const jobs::JobList list = jobs::parse_job_list("noise\npodrun-jobs n\n" + text, "n");
  expect(list.jobs.size() <= kMostEntries);
  for (const jobs::Job& job : list.jobs) {
    expect(job.name.size() <= kMostOfText && job.command.size() <= kMostOfText);
    expect(job.status >= 0 && job.status <= 255);
    expect_printable(jobs::describe_start("a", kHosts, {job}, "podrun"));
  }
  const std::vector<jobs::ListedJobs> listed = {{0, list}};
  expect_printable(jobs::describe_jobs(list.jobs, kHosts, listed, " - ", jobs::Heading::shown, 80));
  const std::vector<run::HostOutcome> outcomes(kHosts.size(), link::Exited{0});
  expect(jobs::jobs_json({}, list.jobs, kHosts, outcomes, listed).starts_with(R"({"v":1,"event":"jobs")"));
}

void read_settle(const std::string& text) {
  restarts::SettledHost now = restarts::parse_settled_host("noise\npodrun-settled n\n" + text, "n");
  expect(now.obstacles.size() <= 2 * kMostEntries && now.boot.size() <= kMostOfText);
  expect(restarts::compare(now, now).was_rebooted == false);
  const restarts::SettledHost before = now;
  restarts::forget_sharers(now, before);
  for (const restarts::Obstacle& obstacle : now.obstacles) expect(obstacle.pid > 0 && obstacle.is_left);
}

/// The bytes of both streams and the end, or that it was refused.
std::string read_frames(std::string_view text, std::size_t step) {
  std::string out;
  std::string err;
  jobs::LogFrames frames(
      [&](const jobs::LogPiece& piece) { (piece.stream == StreamId::out ? out : err) += piece.bytes; });
  try {
    for (std::size_t at = 0; at < text.size(); at += step) frames.feed(text.substr(at, step));
  } catch (const link::HostError&) {
    return out + '|' + err + "|refused";
  }
  return out + '|' + err + '|' + frames.number() + '|' + frames.state().value_or("");
}

/// They are the same wherever they are cut.
void read_log(const std::string& text) {
  if (!text.empty()) expect(read_frames(text, text.size()) == read_frames(text, 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr void (*kReaders[])(const std::string&) = {read_check, read_kill, read_jobs, read_settle,
                                                      read_log};
  kReaders[data[0] % std::size(kReaders)](std::string(data + 1, data + size));
  return 0;
}
