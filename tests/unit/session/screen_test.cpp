// SPDX-License-Identifier: Apache-2.0
// A run whose watch has the whole terminal.
#include <gmock/gmock.h>

#include "podrun/output/full_screen.hpp"

#include "unit/output/program_on_terminal.hpp"
#include "unit/session/session_fixture.hpp"

namespace podrun::session {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// Shows a screen from its first look to the end of the run.
class ScreenMode final : public CommandMode, private RunWatch {
 public:
  using CommandMode::CommandMode;

  RunWatch* watch() override { return this; }

 private:
  asio::awaitable<void> look(run::FanOut& /*fan_out*/, output::Output& output) override {
    over_.emplace(co_await asio::this_coro::executor);
    show(output);
    co_await over_->wait();
    hide(output);
  }
  void run_over() override {
    if (over_) over_->notify();
  }
  void hide(output::Output& output) override { output.show(screen_.leave(), false); }
  void show(output::Output& output) override {
    std::string bytes = screen_.enter();
    bytes += screen_.paint({"<shown>"}, screen_.size());
    output.show(std::move(bytes), true);
    output.say("podrun: a message");
  }

  output::FullScreen screen_{"xterm"};
  std::optional<Event> over_;
};

class ScreenRun : public test::SessionTest {
 public:
  ScreenRun() {
    set_up(1);
    hosts_[0].connects = false;
    spec_.limits.connect_timeout = std::chrono::seconds(600);
    spec_.terminal = std::make_shared<output::Terminal>(STDOUT_FILENO, STDERR_FILENO);
    spec_.owns_process = true;
    const RunSpec run = command();
    ScreenMode mode(run, session());
    session_->run(run, mode);
    session_.reset();
  }

 private:
  void TestBody() override {}
};

class ScreenOfARun : public test::ProgramOnTerminalTest {
 protected:
  ScreenOfARun() {
    start([] { const ScreenRun run; });
  }

  const std::string left_ = std::string(output::FullScreen::kLeave) + "podrun: a message\n";
};

TEST_F(ScreenOfARun, GivesTheTerminalBackWhilePodrunIsSuspended) {
  EXPECT_THAT(bytes_to("<shown>"), StartsWith("\x1b[?1049h"));
  EXPECT_FALSE(has_its_modes());
  type("\x1a");
  EXPECT_THAT(bytes_to(test::kStopped), EndsWith(left_));
  EXPECT_TRUE(has_its_modes());
  bring_to_foreground();
  EXPECT_THAT(bytes_to("<shown>"), StartsWith("\x1b[?1049h"));
  EXPECT_FALSE(has_its_modes());
  type("\x03");
  EXPECT_THAT(bytes_to_end(), HasSubstr(left_));
  EXPECT_TRUE(has_its_modes());
  EXPECT_EQ(end().others, 0);
}

TEST_F(ScreenOfARun, IsLeftBeforeTheFinalReport) {
  EXPECT_THAT(bytes_to("<shown>"), StartsWith("\x1b[?1049h"));
  type("\x03");
  const std::string bytes = bytes_to_end();
  EXPECT_THAT(bytes, HasSubstr(left_ + "podrun: "));
  EXPECT_THAT(bytes, HasSubstr("interrupted"));
  EXPECT_TRUE(has_its_modes());
}

}  // namespace
}  // namespace podrun::session
