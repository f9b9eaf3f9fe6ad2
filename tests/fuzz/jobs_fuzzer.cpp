// SPDX-License-Identifier: Apache-2.0
// Anything as what a host says of its jobs and sends of their output: lists of bounded size, words that are
// safe on a terminal, and frames that are the same wherever they are cut.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "podrun/jobs/job_report.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/jobs/log_frames.hpp"
#include "podrun/link/failure.hpp"

namespace {

constexpr std::size_t kMostJobs = 1024;
constexpr std::size_t kMostText = 512;

void expect(bool condition) {
  if (!condition) std::abort();
}

void expect_printable(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    for (const char c : line) expect(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
}

/// The bytes of both streams and the end, or that it was refused.
std::string read_frames(std::string_view text, std::size_t step) {
  std::string out;
  std::string err;
  podrun::jobs::LogFrames frames([&](const podrun::jobs::LogPiece& piece) {
    (piece.stream == podrun::StreamId::out ? out : err) += piece.bytes;
  });
  try {
    for (std::size_t at = 0; at < text.size(); at += step) frames.feed(text.substr(at, step));
  } catch (const podrun::link::HostError&) {
    return out + '|' + err + "|refused";
  }
  return out + '|' + err + '|' + frames.number() + '|' + frames.state().value_or("");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace jobs = podrun::jobs;
  const std::string text(data, data + size);
  const jobs::JobList list = jobs::parse_job_list("noise\npodrun-jobs n\n" + text, "n");
  expect(list.jobs.size() <= kMostJobs);
  for (const jobs::Job& job : list.jobs) {
    expect(job.name.size() <= kMostText && job.command.size() <= kMostText);
    expect(job.status >= 0 && job.status <= 255);
  }
  const std::vector<podrun::hosts::Host> hosts = {{.worker = 0, .name = "a"}};
  const std::vector<jobs::ListedJobs> listed = {{0, list}};
  expect_printable(jobs::describe_jobs(hosts, listed, " - ", jobs::Heading::shown, 80));
  for (const jobs::Job& job : list.jobs) expect_printable(jobs::describe_start("a", hosts, {job}));
  expect(
      jobs::jobs_json({}, hosts, {podrun::link::Exited{0}}, listed).starts_with(R"({"v":1,"event":"jobs")"));
  if (size > 0) expect(read_frames(text, size) == read_frames(text, 1));
  return 0;
}
