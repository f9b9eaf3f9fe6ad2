// SPDX-License-Identifier: Apache-2.0
#include "podrun/supervisor/mark.hpp"

#include <fmt/format.h>

#include "podrun/base/text.hpp"

namespace podrun::supervisor {
namespace {

constexpr std::string_view kWatch = "watch";

}  // namespace

std::string make_mark(std::string_view run_id, RunKind kind, std::size_t host) {
  return kind == RunKind::watch ? fmt::format("{}.{}.{}.", run_id, kWatch, host)
                                : fmt::format("{}.{}.", run_id, host);
}

std::string run_of(std::string_view mark) {
  constexpr std::size_t kLeast = 8;  // digits that --run requires
  const std::string_view run = take_part(mark, '.');
  const bool is_id = run.size() >= kLeast && run.find_first_not_of("0123456789abcdef") == run.npos;
  return is_id && take_part(mark, '.') != kWatch ? std::string(run) : "";
}

std::string job_of(std::string_view mark) {
  constexpr std::string_view kJob = "job-";
  take_part(mark, '.');
  if (!mark.starts_with(kJob) || !mark.ends_with('.')) return {};
  std::string_view job = mark.substr(kJob.size(), mark.size() - 1 - kJob.size());
  if (!to_number(take_part(job, '-'))) return {};
  return is_job_name(job) ? std::string(job) : "";
}

}  // namespace podrun::supervisor
