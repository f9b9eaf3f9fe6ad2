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

class ShellLine : public testing::TestWithParam<test::Shell> {};
INSTANTIATE_TEST_SUITE_P(Shells, ShellLine, testing::ValuesIn(test::shells()), test::ShellName());

TEST_P(ShellLine, PassesScriptAndArgumentsOnUnchanged) {
  Texts words = test::awkward_words(7);
  words.resize(std::min<std::size_t>(words.size(), 300));
  const Program program{Chunk("kill -s 0 $$ && sleep 0 & wait $! && printf '%s\\0' \"$@\""), words};
  const auto run = test::run_shell(GetParam(), {}, shell_line(program), {"LC_ALL=C.UTF-8"});
  EXPECT_EQ(test::split_at_nul(run.output), words);
  EXPECT_EQ(run.exit_status, 0);
}

/// A start-up file of the host may have read some of it, or the connection may end in it.
TEST_P(ShellLine, RunsNothingOfALineThatIsNotWhole) {
  const std::string script = "echo ran; x() { echo ran; }; x; if :; then echo ran; fi; (echo ran)";
  const std::string line = shell_line({Chunk(script), {"a", "b c"}});
  EXPECT_NE(test::run_shell(GetParam(), {}, line).output, "");
  for (std::size_t cut = 1; cut < line.size(); ++cut) {
    EXPECT_EQ(test::run_shell(GetParam(), {}, line.substr(cut)).output, "") << line.substr(cut);
    if (cut + 1 == line.size()) break;  // without its newline it is whole
    EXPECT_EQ(test::run_shell(GetParam(), {}, line.substr(0, cut)).output, "") << line.substr(0, cut);
  }
}

TEST(ShellLineText, IsOneLine) {
  const std::string line = shell_line({Chunk("echo \"$1\""), {"a\nb"}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
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
