// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "podrun/link/link.hpp"
#include "podrun/supervisor/protocol.hpp"

#include "support/fake_connector.hpp"
#include "support/run_coroutine.hpp"
#include "support/run_shell.hpp"

namespace podrun::link {
namespace {

using test::Texts;

class ShellText : public testing::TestWithParam<test::Shell> {};
INSTANTIATE_TEST_SUITE_P(Shells, ShellText, testing::ValuesIn(test::shells()), test::ShellName());

TEST_P(ShellText, PassesScriptAndArgumentsOnUnchanged) {
  Texts words = test::awkward_words(7);
  words.resize(std::min<std::size_t>(words.size(), 300));
  const Program program{Chunk("kill -s 0 $$ && sleep 0 & wait $! && printf '%s\\0' \"$@\""), words};
  const auto run = test::run_shell(GetParam(), {}, shell_text(program), {"LC_ALL=C.UTF-8"});
  EXPECT_EQ(test::split_at_nul(run.output), words);
  EXPECT_EQ(run.exit_status, 0);
}

/// A start-up file of the host may have read some of it, or the connection may end in it.
TEST_P(ShellText, RunsNothingOfATextThatIsNotWhole) {
  const std::string script = "echo ran; x() { echo ran; }; x; if :; then echo ran; fi; (echo ran)";
  const std::string text = shell_text({Chunk(script), {"a", "b c"}});
  EXPECT_NE(test::run_shell(GetParam(), {}, text).output, "");
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    EXPECT_EQ(test::run_shell(GetParam(), {}, text.substr(cut)).output, "") << text.substr(cut);
    if (cut + 1 == text.size()) break;  // without its newline it is whole
    EXPECT_EQ(test::run_shell(GetParam(), {}, text.substr(0, cut)).output, "") << text.substr(0, cut);
  }
}

TEST(ShellTextText, HasTwoLines) {
  const std::string text = shell_text({Chunk("echo \"$1\""), {"a\nb"}});
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_EQ(text.back(), '\n');
}

/// A start-up file may read a line too.
TEST_P(ShellText, RunsNothingWithoutItsFirstLine) {
  const std::string text = shell_text({Chunk("echo ran"), {}});
  EXPECT_EQ(test::run_shell(GetParam(), {}, text.substr(text.find('\n') + 1)).output, "");
}

TEST_P(ShellText, GivesTheModeOfTheShellBack) {
  const auto options = [&](const std::string& text) { return test::run_shell(GetParam(), {}, text).output; };
  const std::string show = "set -o | grep posix; echo end";
  EXPECT_EQ(options(shell_text({Chunk(show), {}})), options(show + '\n'));
}

TEST(SendText, FillsItsPiecesFromSeveralParts) {
  const Texts texts = {std::string(100, 'a'), "", std::string(5'800, 'b'), "c\n"};
  test::run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    test::FakeStream stream(executor);
    stream.take(3);
    std::vector<std::string_view> parts(texts.begin(), texts.end());
    const bool open = co_await send_text(stream, std::move(parts));
    EXPECT_TRUE(open);
    EXPECT_EQ(stream.written(), texts[0] + texts[2] + texts[3]);
  });
}

TEST(SendText, EndsWhenNobodyReads) {
  const bool open = test::run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<bool> {
    test::FakeStream stream(executor);
    stream.close_write();
    std::vector<std::string_view> parts = {"a", "b"};
    co_return co_await send_text(stream, std::move(parts));
  });
  EXPECT_FALSE(open);
}

}  // namespace
}  // namespace podrun::link
