// SPDX-License-Identifier: Apache-2.0
// Keeps the pod up to date with what happens to the connections.
#include "podrun/top/sample_mode.hpp"

#include <chrono>
#include <variant>

#include "podrun/report/summary.hpp"
#include "podrun/session/ask_hosts.hpp"

namespace podrun::top {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

SampleMode::SampleMode(const session::RunSpec& run, const SampleRequest& request, output::Charset charset)
    : run_(run),
      request_(request),
      charset_(charset),
      pod_(run.plan.hosts, request.is_once),
      sampling_(pod_, request, [this](std::size_t host) { changed(host); }) {}

std::vector<std::shared_ptr<output::Sink>> SampleMode::make_sinks(output::Terminal& /*terminal*/) {
  return {std::make_shared<session::Replies>(run_.plan.hosts.size())};
}

void SampleMode::notice(output::Output& /*output*/, const run::RunPolicy& /*policy*/,
                        const run::Notice& notice) {
  if (const auto* abandoned = std::get_if<run::notice::Abandoned>(&notice)) sampling_.stop(abandoned->host);
  std::optional<std::size_t> host;
  if (const auto* later = std::get_if<run::notice::AttemptLater>(&notice)) {
    host = later->host;
    pod_.lose(*host, {later->failure, later->attempt, Clock::now() + later->delay}, Clock::now());
  } else if (const auto* failed = std::get_if<run::notice::Failed>(&notice)) {
    host = failed->host;
    pod_.lose(*host, {.failure = failed->failure}, Clock::now());
  }
  if (host) changed(*host);
}

void SampleMode::print_final_report(output::Output& output, const run::RunPolicy& policy, int /*status*/) {
  for (std::string& line : report::summarize(run_.plan.hosts, policy.outcomes(), {}, policy.interrupted_by(),
                                             output::separator(charset_), report::Work::answers))
    output.say(std::move(line));
}

void SampleMode::judge() { pod_.judge(Clock::now(), sampling_.interval()); }

asio::awaitable<void> SampleMode::prepare(std::size_t host, supervisor::Supervised& supervised) {
  return sampling_.prepare(host, supervised);
}

}  // namespace podrun::top
