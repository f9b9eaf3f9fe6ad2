// SPDX-License-Identifier: Apache-2.0
// Composes the command that starts a job: its files move from the run's directory, which ends with the run,
// to that of the job.
#include "podrun/jobs/job_start.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/jobs/scripts.hpp"

namespace podrun::jobs {
namespace {

constexpr std::uint64_t kPiece = 64 * 1024 * 1024;  ///< as in job_state.sh
constexpr std::size_t kMaxText = 4096;

/// For people.
struct DescribeCommand {
  std::string operator()(const remote::Words& words) const { return shell_quote(words.words); }
  std::string operator()(const remote::ShellText& shell) const { return shell.text; }
  std::string operator()(const remote::Script& script) const {
    return script.arguments.empty() ? script.name : script.name + ' ' + shell_quote(script.arguments);
  }
};

}  // namespace

void check_job_name(const std::string& name) {
  if (is_job_name(name)) return;
  throw UsageError(
      fmt::format("bad name of a job \"{}\" (expected letters, digits, _, . and -, {} at most; the first "
                  "one is no . or -)",
                  name, kMaxJobName));
}

remote::RemoteCommand start_command(const JobStart& job, const remote::Command& command) {
  remote::RemoteCommand started = remote::build_command(command);
  started.files.push_back({"podrun.start", std::string(kStartScript)});
  std::string copy = "podrun_files=$(cd -P -- \"$podrun_dir\"/job/files && pwd) && cp -p --";
  for (const remote::RemoteFile& file : started.files)
    copy += " \"$podrun_dir\"/" + shell_quote_in_line(file.name);
  copy += " \"$podrun_files\" || exit 125; ";
  const std::string text = std::visit(DescribeCommand{}, command.what).substr(0, kMaxText);
  const std::uint64_t pieces = std::max<std::uint64_t>(1, job.log_size / kPiece);
  // Others see the arguments of a process, so the words and the values go through variables.
  const std::string again = fmt::format("{}; {}", kDefineNewline, started.text);
  started.text =
      copy + fmt::format(
                 "export podrun_shown={} podrun_command={}; set -- /bin/sh \"$podrun_files\"/podrun.start {}",
                 shell_quote_in_line(text), shell_quote_in_line(again),
                 shell_quote(StartWords{.job = job.name, .limit = std::to_string(pieces)}.list()));
  return started;
}

}  // namespace podrun::jobs
