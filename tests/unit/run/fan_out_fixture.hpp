// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/base/text.hpp"
#include "podrun/report/run_notices.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/run/fan_out.hpp"

#include "support/fake_connector.hpp"
#include "support/run_coroutine.hpp"
#include "unit/output/pipe.hpp"

namespace podrun::test {

/// The stage of prepare_host_.
inline constexpr link::StageWords kPreparingWords{"preparing", "preparing"};
inline constexpr link::Stage kPreparing{kPreparingWords};

/// Keeps lines as `1 out: text`.
class RecordingSink final : public output::Sink {
 public:
  explicit RecordingSink(std::shared_ptr<std::vector<std::string>> lines) : lines_(std::move(lines)) {}
  void line(const output::Line& line) override {
    lines_->push_back(
        fmt::format("{} {}: {}", line.host, line.stream == StreamId::out ? "out" : "err", line.text));
  }

 private:
  std::shared_ptr<std::vector<std::string>> lines_;
};

/// A FanOut over hosts in memory: set up hosts_ and plan_, begin(), go on with run_until() or finish().
class FanOutTest : public testing::Test {
 protected:
  FanOutTest() {
    std::signal(SIGPIPE, SIG_IGN);
    plan_.run_id = "id";
    plan_.command.text = "set -- true";
  }

  void set_up(std::size_t count) {
    hosts_.resize(count);
    plan_.hosts.resize(count);
    for (std::size_t worker = 0; worker < count; ++worker) {
      plan_.hosts[worker].worker = worker;
      plan_.hosts[worker].name = fmt::format("tpu-{}", worker);
      hosts_[worker].answers["go"] = {link::Exited{0}, link::Closed{}};
      hosts_[worker].answers["end of input"] = {link::Signaled{SIGTERM}, link::Closed{}};
    }
  }

  /// Does what can be done at once.
  void begin() {
    launch();
    run_what_is_due();
  }
  /// Nothing runs yet.
  void launch() {
    output_.emplace(context_->get_executor(), hosts_.size(), std::vector{make_sink()}, terminal_,
                    [](const output::WriteError&) {});
    run::RunWorld world{context_->get_executor(),
                        [this](const hosts::Host&) -> link::Connector& { return *connector_used_; },
                        *output_,
                        input_ ? &*input_ : nullptr,
                        [this] { left_ = true; },
                        [this](const run::Notice& notice) { hear(notice); },
                        prepare_host_,
                        kPreparing};
    fan_out_.emplace(plan_, world);
    notices_.emplace(context_->get_executor(), plan_, fan_out_->policy(), *output_,
                     report::FirstFailures::not_told, report::OwnWordsFor());
    asio::co_spawn(*context_, fan_out_->run(), [this](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
      done_ = true;
    });
  }
  void hear(const run::Notice& notice) {
    notices_->tell(notice);
    if (const auto* ended = std::get_if<run::notice::HostEnded>(&notice)) ended_.push_back(ended->host);
    const auto* open = std::get_if<run::notice::OutputOpen>(&notice);
    if (!open) return;
    const bool waits = open->fate == run::notice::OutputOpen::Fate::waits;
    open_outputs_.push_back(
        fmt::format("{}: {}{}", open->host, report::describe(open->holders), waits ? ", waits" : ""));
  }
  void run_what_is_due() {
    context_->restart();
    while (context_->poll() > 0) context_->restart();
  }
  bool run_until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      context_->restart();
      context_->run_one_for(std::chrono::milliseconds(10));
    }
    return true;
  }
  /// To the end; the outcomes joined by `, `.
  std::string finish() {
    if (!run_until([this] { return done_; })) return "not finished: " + outcomes();
    return outcomes();
  }
  std::string run() {
    begin();
    return finish();
  }
  std::string outcomes() const {
    std::vector<std::string> texts;
    for (const run::HostOutcome& outcome : fan_out_->policy().outcomes())
      texts.push_back(report::describe(outcome));
    return join(texts, ", ");
  }
  int status() const {
    return run::exit_status(fan_out_->policy().outcomes(), fan_out_->policy().interrupted_by());
  }
  void interrupt(int signal) {
    fan_out_->interrupt(signal);
    run_what_is_due();
  }

  /// The messages that it received, joined by `, `.
  std::string told(std::size_t host) const { return join(hosts_[host].told(), ", "); }

  /// The lines of the hosts, after the end of the run.
  std::vector<std::string> lines() {
    output_.reset();
    return *lines_;
  }
  /// The messages of podrun itself, after the end of the run.
  std::string said() {
    output_.reset();
    err_.close_write();
    return err_.read_to_end();
  }

  virtual std::shared_ptr<output::Sink> make_sink() { return std::make_shared<RecordingSink>(lines_); }

  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
  std::vector<FakeHost> hosts_;
  FakeConnector connector_{context_->get_executor(), hosts_};
  link::Connector* connector_used_ = &connector_;
  Pipe out_;
  Pipe err_;
  std::shared_ptr<output::Terminal> terminal_ =
      std::make_shared<output::Terminal>(out_.write_fd(), err_.write_fd());
  std::shared_ptr<std::vector<std::string>> lines_ = std::make_shared<std::vector<std::string>>();
  run::RunPlan plan_;
  decltype(run::RunWorld::prepare_host) prepare_host_ = nullptr;
  std::optional<output::Output> output_;
  std::optional<run::Input> input_;
  std::optional<run::FanOut> fan_out_;
  std::optional<report::RunNotices> notices_;
  std::vector<std::size_t> ended_;         ///< hosts
  std::vector<std::string> open_outputs_;  ///< `0: pid 7 (cat), waits`
  bool done_ = false;
  bool left_ = false;
};

}  // namespace podrun::test
