// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <optional>
#include <string>
#include <utility>

#include "podrun/remote/scripts.hpp"
#include "podrun/run/check_text.hpp"
#include "podrun/run/summary.hpp"

namespace podrun {
namespace {

using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

/// For a host to answer; each part of the script has less.
constexpr std::chrono::seconds kTimeout{60};
/// There is nothing to save: a second Ctrl-C need not wait.
constexpr std::chrono::seconds kGrace{1};

/// What the hosts have printed, and when each said its time.
class Replies final : public Sink {
 public:
  struct Reply {
    std::string text;
    std::optional<std::chrono::system_clock::time_point> clock_received;
    Clock::time_point received;
  };

  explicit Replies(std::size_t hosts) : replies_(hosts) {}

  void line(const Line& line) override {
    Reply& reply = replies_[line.host];
    if (line.stream != StreamId::out || reply.text.size() > kMost) return;
    if (line.text.starts_with("clock ")) {
      reply.clock_received = std::chrono::system_clock::now();
      reply.received = Clock::now();
    }
    reply.text += line.text;
    reply.text += '\n';
  }

  const Reply& of(std::size_t host) const { return replies_[host]; }

 private:
  static constexpr std::size_t kMost = 256 * 1024;  ///< bytes of one host

  std::vector<Reply> replies_;
};

class CheckPurpose final : public Purpose {
 public:
  CheckPurpose(const Plan& plan, const Options& options, Charset charset)
      : plan_(plan), options_(options), charset_(charset), started_(plan.run.hosts.size()) {}

  std::vector<std::shared_ptr<Sink>> make_sinks(Terminal& /*terminal*/) override {
    replies_ = std::make_shared<Replies>(plan_.run.hosts.size());
    return {replies_};
  }

  void host_started(Output& /*output*/, std::size_t host) override { started_[host] = Clock::now(); }

  void conclude(Output& output, const RunPolicy& policy, int /*status*/) override {
    const std::vector<Host>& hosts = plan_.run.hosts;
    if (policy.interrupted_by()) {
      for (std::string& line :
           summarize(hosts, policy.outcomes(), {}, policy.interrupted_by(), separator(charset_)))
        output.say(std::move(line));
      return;
    }
    std::vector<CheckedHost> checked;
    for (std::size_t host = 0; host < hosts.size(); ++host)
      checked.push_back(check(host, policy.outcomes()[host]));
    const CheckReport report = compare_hosts(checked, options_.check);
    well_ = report.is_well();
    if (options_.json) {
      output.print(check_json(std::chrono::system_clock::now(), hosts, checked, report));
      return;
    }
    for (std::string& line : describe_check(hosts, report, separator(charset_)))
      output.print(std::move(line));
  }

  int status(const RunPolicy& policy) const override {
    if (policy.interrupted_by()) return 128 + *policy.interrupted_by();
    return well_ ? 0 : 1;
  }

  std::optional<std::chrono::milliseconds> patience() const override { return kGrace; }

 private:
  CheckedHost check(std::size_t host, const HostOutcome& outcome) const {
    const Replies::Reply& reply = replies_->of(host);
    CheckedHost checked{outcome, parse_check_reply(reply.text, plan_.run.run_id)};
    if (reply.clock_received) {
      const auto received = std::chrono::floor<microseconds>(reply.clock_received->time_since_epoch());
      const auto round_trip = std::chrono::ceil<microseconds>(reply.received - started_[host]);
      checked.clock = clock_offset(checked.facts, received, round_trip);
    }
    return checked;
  }

  const Plan& plan_;
  const Options& options_;
  const Charset charset_;
  std::vector<Clock::time_point> started_;
  std::shared_ptr<Replies> replies_;
  bool well_ = false;
};

}  // namespace

Plan make_check_plan(const Options& options, const Probe& probe) {
  const std::string python = options.check.python.empty() ? "python3" : options.check.python;
  // The script is too long for an argument that others see in a list of processes.
  const Words words{{"/bin/sh", "-c", "eval \"$PODRUN_CHECK\"", "podrun", python, options.check.directory}};
  Plan plan = make_plan(options, probe, words, {"PODRUN_CHECK", std::string(kCheckScript)});
  Limits& limits = plan.run.limits;
  limits.wait = options.wait;
  if (!limits.timeout) limits.timeout = kTimeout;
  limits.serial = 0;  // whatever a configuration says of commands
  limits.on_failure = OnFailure::go_on;
  limits.on_unreachable = OnUnreachable::skip;
  limits.grace = kGrace;
  plan.run.supervision.grace = kGrace;
  plan.run.supervision.clean_up = CleanUp::no;
  return plan;
}

std::unique_ptr<Purpose> make_check_purpose(const Plan& plan, const Options& options, Charset charset) {
  return std::make_unique<CheckPurpose>(plan, options, charset);
}

}  // namespace podrun
