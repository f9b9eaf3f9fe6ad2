// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/event.hpp"
#include "podrun/link/link.hpp"
#include "podrun/supervisor/scripts.hpp"

// Hosts that live in memory: each does what its script says and records what was done to it.
namespace podrun::test {

inline link::StreamEvent out(std::string text) {
  return link::Received{StreamId::out, Chunk(std::move(text))};
}
inline link::StreamEvent err(std::string text) {
  return link::Received{StreamId::err, Chunk(std::move(text))};
}
using StreamEvents = std::vector<link::StreamEvent>;

/// A program's end of the pipes in the hand of the test.
class FakeStream : public link::Stream {
 public:
  explicit FakeStream(const asio::any_io_executor& executor) : readable_(executor), writable_(executor) {}

  void say(link::StreamEvent event) {
    events_.push_back(std::move(event));
    readable_.notify();
  }
  void say(const StreamEvents& events) {
    for (const link::StreamEvent& event : events) say(event);
  }
  /// From now on it reads this many chunks more.
  void take(std::size_t chunks) {
    room_ = chunks;
    writable_.notify();
  }
  void take_everything() { take(static_cast<std::size_t>(-1)); }

  const std::string& written() const { return written_; }
  bool input_ended() const { return input_ended_; }
  const std::optional<link::Failure>& stopped() const { return stopped_; }
  std::size_t unread() const { return events_.size(); }

  asio::awaitable<link::StreamEvent> next() override {
    for (;;) {
      if (stopped_) co_return *stopped_;
      if (!events_.empty()) {
        const link::StreamEvent event = std::move(events_.front());
        events_.pop_front();
        co_return event;
      }
      co_await readable_.wait();
    }
  }
  asio::awaitable<bool> write(Chunk chunk) override {
    while (room_ == 0 && !input_ended_) co_await writable_.wait();
    if (input_ended_) co_return false;
    --room_;
    written_ += chunk.bytes();
    on_input(chunk.bytes());
    co_return true;
  }
  void close_write() override {
    if (std::exchange(input_ended_, true)) return;
    writable_.notify();
    on_end_of_input();
  }
  void stop(link::Failure failure) override {
    if (stopped_) return;
    stopped_ = std::move(failure);
    readable_.notify();
    input_ended_ = true;
    writable_.notify();
  }

 protected:
  virtual void on_input(std::string_view) {}
  virtual void on_end_of_input() {}

 private:
  Event readable_;
  Event writable_;
  std::deque<link::StreamEvent> events_;
  std::size_t room_ = static_cast<std::size_t>(-1);
  std::string written_;
  bool input_ended_ = false;
  std::optional<link::Failure> stopped_;
};

/// Supervisor and feeder: say hello, then answer to lines and to the end of the input as the script says.
class ScriptedStream final : public FakeStream {
 public:
  /// `answers`: what it says when told `go`, `sig INT`, …, or at the `end of input`.
  ScriptedStream(const asio::any_io_executor& executor, std::string nonce,
                 std::map<std::string, StreamEvents> answers)
      : FakeStream(executor), nonce_(std::move(nonce)), answers_(std::move(answers)) {}

  /// Says hello, with noise before and output after it in one piece.
  void greet(const std::string& words, const std::string& noise = "", const std::string& output = "") {
    say(out(fmt::format("{}\npodrun1 {} {}\n{}", noise, nonce_, words, output)));
    if (words.starts_with("ready") && !early_.empty()) on_input(fmt::format("go {}\n", early_));
  }
  /// Goes by itself once it is ready.
  void set_early_go(std::string text) { early_ = std::move(text); }

  /// The messages that it received: `go`, `suspended`, `sig INT`, `heartbeat`, `end of input`.
  const std::vector<std::string>& told() const { return told_; }
  /// The text after `go`.
  const std::string& command() const { return command_; }

 private:
  void on_input(std::string_view bytes) override {
    line_ += bytes;
    for (std::size_t end; (end = line_.find('\n')) != std::string::npos; line_.erase(0, end + 1)) {
      std::string line = line_.substr(0, end);
      if (line.starts_with("go ")) command_ = std::exchange(line, "go").substr(3);
      hear(line.empty() ? "heartbeat" : line);
    }
  }
  void on_end_of_input() override { hear("end of input"); }
  void hear(const std::string& what) {
    told_.push_back(what);
    const auto answer = answers_.find(what);
    if (answer != answers_.end()) say(answer->second);
  }

  std::string nonce_;
  std::string early_;
  std::map<std::string, StreamEvents> answers_;
  std::string line_;
  std::string command_;
  std::vector<std::string> told_;
};

struct FakeHost {
  // Its behaviour.
  std::deque<link::Failure> stumbles;    ///< open() fails once with each of them, before anything else
  std::optional<link::Failure> refuses;  ///< open() fails
  bool connects = true;                  ///< else open() lasts until it is stopped
  bool greets = true;                    ///< else the supervisor says nothing of its own
  std::string noise;                     ///< before the hello
  std::string hello = "ready - - - - /run";
  std::string output;                           ///< in one piece with the hello
  std::map<std::string, StreamEvents> answers;  ///< `@RUN` in what it prints is the id of the run
  StreamEvents feeder_end = {link::Exited{0}, link::Closed{}};
  std::map<std::string, StreamEvents> rest_answers = {{"end of input", {link::Exited{0}, link::Closed{}}}};
  std::string holders;        ///< processes with its output open, a line each
  bool runs_helpers = true;   ///< else starting a second program lasts until the link is stopped
  bool names_holders = true;  ///< else that program says nothing
  bool mixes_statuses = false;
  bool starts_programs = true;      ///< else exec() lasts until it is stopped
  bool hangs_up = false;            ///< a connection that was made is broken; the next one is not
  bool hangs_up_unnoticed = false;  ///< the same, but only exec() tells

  // A record of the calls.
  bool opened = false;
  std::size_t logins = 0;
  std::size_t attempts = 0;  ///< links that there have been
  std::size_t links = 0;     ///< that there are now
  std::optional<link::Failure> stopped;
  std::vector<link::Program> programs;
  std::shared_ptr<ScriptedStream> supervisor;
  std::shared_ptr<ScriptedStream> feeder;
  std::shared_ptr<ScriptedStream> asked;  ///< the query for processes with its output open
  std::shared_ptr<ScriptedStream> rest;   ///< the supervisor of what an ended command left

  std::vector<std::string> told() const {
    return supervisor ? supervisor->told() : std::vector<std::string>();
  }
};

class FakeLink final : public link::Link {
 public:
  FakeLink(asio::any_io_executor executor, FakeHost& host)
      : executor_(std::move(executor)), host_(host), woken_(executor_) {
    ++host_.attempts;
    ++host_.links;
  }
  ~FakeLink() override { --host_.links; }

  asio::awaitable<void> open() override {
    host_.opened = true;
    if (!host_.stumbles.empty()) {
      const link::Failure failure = host_.stumbles.front();
      host_.stumbles.pop_front();
      throw link::HostError(failure);
    }
    if (host_.refuses) throw link::HostError(*host_.refuses);
    if (!host_.connects) co_await until_stopped();
    host_.hangs_up = host_.hangs_up_unnoticed = false;
    opened_ = true;
    ++host_.logins;
  }
  asio::awaitable<std::shared_ptr<link::Stream>> exec(link::Program program) override {
    if (host_.hangs_up || host_.hangs_up_unnoticed)
      throw link::HostError({link::Stage::connection, link::Cause::reset});
    if (!host_.starts_programs) co_await until_stopped();
    host_.programs.push_back(program);
    const std::string& nonce = program.arguments.front();
    if (std::exchange(prepared_, true) && !host_.runs_helpers) co_await until_stopped();
    const std::string_view script = program.script.bytes();
    if (script == supervisor::kFeederScript) {
      host_.feeder = make(nonce, {{"end of input", host_.feeder_end}});
      host_.feeder->greet("ready - - - - ");
      co_return host_.feeder;
    }
    if (script == supervisor::kHoldersScript) {
      const auto holders = make(nonce, {});
      host_.asked = holders;
      if (!host_.names_holders) co_return holders;
      holders->greet("ready - - - - ", "", host_.holders);
      holders->say({link::Exited{0}, link::Closed{}});
      co_return holders;
    }
    if (program.arguments.at(kFlags) == "rest") {
      host_.rest = make(nonce, host_.rest_answers);
      host_.rest->greet("ready - - - - ");
      co_return host_.rest;
    }
    host_.supervisor = make(nonce, with_run_id(host_.answers, program.arguments.at(kMark)));
    if (const std::string& text = program.arguments.at(kText); !text.empty())
      host_.supervisor->set_early_go(text);
    if (host_.greets) host_.supervisor->greet(host_.hello, host_.noise, host_.output);
    co_return host_.supervisor;
  }
  bool mixes_statuses() const override { return host_.mixes_statuses; }
  bool is_connected() const override { return opened_ && !stopped_ && !host_.hangs_up; }
  void stop(link::Failure failure) override {
    if (!stopped_) host_.stopped = stopped_ = std::move(failure);
    woken_.notify();
  }

 private:
  // Arguments of the supervisor, as main.sh has them. The text of `go` is there only if it starts by itself.
  static constexpr std::size_t kMark = 1;
  static constexpr std::size_t kFlags = 6;
  static constexpr std::size_t kText = 8;

  asio::awaitable<void> until_stopped() {
    while (!stopped_) co_await woken_.wait();
    throw link::HostError(*stopped_);
  }
  static std::map<std::string, StreamEvents> with_run_id(std::map<std::string, StreamEvents> answers,
                                                         const std::string& mark) {
    constexpr std::string_view kRun = "@RUN";
    for (auto& [when, events] : answers) {
      for (link::StreamEvent& event : events) {
        auto* const received = std::get_if<link::Received>(&event);
        if (!received) continue;
        std::string text(received->bytes.bytes());
        const std::size_t at = text.find(kRun);
        if (at != text.npos) event = out(text.replace(at, kRun.size(), mark.substr(0, mark.find('.'))));
      }
    }
    return answers;
  }
  std::shared_ptr<ScriptedStream> make(const std::string& nonce,
                                       const std::map<std::string, StreamEvents>& answers) {
    return std::make_shared<ScriptedStream>(executor_, nonce, answers);
  }

  asio::any_io_executor executor_;
  FakeHost& host_;
  Event woken_;
  bool opened_ = false;
  bool prepared_ = false;  ///< has its first program
  std::optional<link::Failure> stopped_;
};

/// Leads each host to the fake one with the number of its label. These must outlive it and its links.
class FakeConnector final : public link::Connector {
 public:
  FakeConnector(asio::any_io_executor executor, std::vector<FakeHost>& hosts)
      : executor_(std::move(executor)), hosts_(hosts) {}

  std::unique_ptr<link::Link> link(const hosts::Host& host) override {
    return std::make_unique<FakeLink>(executor_, hosts_.at(host.worker));
  }

 private:
  asio::any_io_executor executor_;
  std::vector<FakeHost>& hosts_;
};

}  // namespace podrun::test
