// SPDX-License-Identifier: Apache-2.0
// A transport that starts a shell here and, where a file "paused" is there, hangs instead.
#include "podrun/local/connectors.hpp"

#include <csignal>
#include <filesystem>

#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/run_coroutine.hpp"
#include "support/stream_reader.hpp"
#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::local {
namespace {

using std::chrono::milliseconds;
using test::run_coroutine;
using Reader = test::StreamReader<link::Stream>;

TEST(SilenceCount, AsksOnceAnIntervalAndThenGivesUp) {
  using Verdict = SilenceCount::Verdict;
  SilenceCount silence(3);
  EXPECT_EQ(silence.end_interval(true), Verdict::heard);  // the first interval has only begun
  for (int question = 0; question < 3; ++question) EXPECT_EQ(silence.end_interval(true), Verdict::ask);
  EXPECT_EQ(silence.end_interval(true), Verdict::lost);
}

TEST(SilenceCount, IsBrokenByOutputAndByWhatWeDoNotRead) {
  using Verdict = SilenceCount::Verdict;
  SilenceCount silence(1);
  silence.end_interval(true);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(silence.end_interval(true), Verdict::ask);
    silence.hear();
    EXPECT_EQ(silence.end_interval(true), Verdict::heard);
    EXPECT_EQ(silence.end_interval(true), Verdict::ask);
    EXPECT_EQ(silence.end_interval(false), Verdict::heard);
  }
}

TEST(SilenceCount, AsksLessOftenWhileThereAreAnswers) {
  using Verdict = SilenceCount::Verdict;
  SilenceCount silence(1);
  silence.end_interval(true);
  for (const int rest : {1, 3, 3, 3}) {
    EXPECT_EQ(silence.end_interval(true), Verdict::ask);
    silence.answer();
    for (int interval = 0; interval < rest; ++interval) EXPECT_EQ(silence.end_interval(true), Verdict::quiet);
  }
  EXPECT_EQ(silence.end_interval(true), Verdict::ask);
  EXPECT_EQ(silence.end_interval(true), Verdict::lost);
}

class Via : public testing::Test {
 protected:
  void SetUp() override { pipe_before_ = std::signal(SIGPIPE, SIG_IGN); }  // as main does
  void TearDown() override { (void)std::signal(SIGPIPE, pipe_before_); }

  /// The link ends before its io_context does.
  template <typename Body>
  void run(const Body& body) {
    run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
      co_await body(executor);
      link_.reset();
    });
  }

  /// Starts the shell text beside a transport that runs `second` before every shell but the first.
  asio::awaitable<std::shared_ptr<link::Stream>> start(asio::any_io_executor executor,
                                                       const std::string& text,
                                                       const std::string& second = "",
                                                       unsigned interval = 200) {
    directory_.write("way", "cd '" + directory_.path() + "'\nif [ -e started ]; then echo >>asked; " +
                                second +
                                "\nwhile [ -e paused ]; do sleep 0.01; done; fi\n>started\nexec \"$@\"\n");
    connector_ = make_via_connector(executor, ViaTemplate("sh " + directory_.path("way") + " {host}"),
                                    {.environment = {"PATH=/usr/bin:/bin"}}, transports_,
                                    {.interval = milliseconds(interval), .count_max = 4});
    link_ = connector_->link({.name = "env"});
    link::Program program{.script = Chunk(text), .arguments = {}};
    co_return co_await link_->exec(std::move(program));
  }
  static asio::awaitable<void> wait(asio::any_io_executor executor, milliseconds time) {
    asio::steady_timer timer(executor, time);
    co_await timer.async_wait(asio::use_awaitable);
  }
  std::uintmax_t questions() const {
    return directory_.has("asked") ? std::filesystem::file_size(directory_.path("asked")) : 0;
  }

  void (*pipe_before_)(int) = SIG_DFL;
  test::TempDirectory directory_;
  TransportCommands transports_;
  std::unique_ptr<link::Connector> connector_;
  std::unique_ptr<link::Link> link_;
};

TEST_F(Via, NoticesAHostThatIsSilentForGood) {
  run([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = co_await start(executor, "echo out; sleep 1.5; >paused; exec sleep 1000");
    Reader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "connection: no answer for 1 s");
    EXPECT_EQ(reader.out(), "out\n");
  });
}

TEST_F(Via, KeepsAHostThatAnswers) {
  run([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = co_await start(executor, "echo out; sleep 2.4; exit 3");
    Reader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "exit 3, closed");
    EXPECT_GE(questions(), 2U);
    EXPECT_LE(questions(), 6U) << "of 12 intervals";
  });
}

TEST_F(Via, KeepsAHostWhoseTransportNeverStartsTwice) {
  for (const char* second : {"exit 1", "exec sleep 1000", "echo; cat; exec sleep 1000"}) {
    run([&](asio::any_io_executor executor) -> asio::awaitable<void> {
      std::filesystem::remove(directory_.path("started"));
      const auto stream = co_await start(executor, "echo out; sleep 1.5; exit 3", second);
      Reader reader(*stream);
      co_await reader.to_end();
      EXPECT_EQ(reader.end(), "exit 3, closed") << second;
    });
  }
}

TEST_F(Via, AsksNothingWhileTheHostPrintsOrIsNotRead) {
  run([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = co_await start(executor,
                                       "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.1; done; "
                                       "echo end; exec sleep 1000");
    Reader reader(*stream);
    co_await reader.until("end\n");
    directory_.write("paused", "");
    co_await wait(executor, milliseconds(1000));
    EXPECT_LE(questions(), 1U) << "which tells whether it can be asked";
    stream->stop({.cause = link::Cause::cancelled});
  });
}

TEST_F(Via, AsksNothingWhereItIsNotWanted) {
  run([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = co_await start(executor, "echo out; sleep 0.5; exit 3", "", 0);
    Reader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "exit 3, closed");
    EXPECT_EQ(questions(), 0U);
  });
}

using Texts = std::vector<std::string>;

const hosts::Host kHost{.worker = 7, .name = "tpu-7", .user = "", .source = "podips.txt:8"};
const hosts::Host kFullHost{.worker = 3, .name = "fe80::1", .user = "ann", .port = 2222, .source = "-H"};

Texts words(const std::string& text, const hosts::Host& host) { return ViaTemplate(text).words_for(host); }
std::string error_of(const std::string& text, const hosts::Host& host = kHost) {
  return usage_error([&] { words(text, host); });
}

TEST(ViaTemplate, FillsInThePlaceholders) {
  EXPECT_EQ(words("ssh {host}", kHost), (Texts{"ssh", "tpu-7"}));
  EXPECT_EQ(words("ssh -p {port} {user}@{host}", kFullHost), (Texts{"ssh", "-p", "2222", "ann@fe80::1"}));
  EXPECT_EQ(words("docker exec -i node-{worker}", kHost), (Texts{"docker", "exec", "-i", "node-7"}));
  EXPECT_EQ(words("{host}{worker}x{host}", kHost), Texts{"tpu-77xtpu-7"});
  EXPECT_EQ(words("pod-{rank}", kHost), Texts{"pod-7"}) << "another name of {worker}";
}

TEST(ViaTemplate, TakesPort22ForNone) {
  EXPECT_EQ(words("ssh -p {port} {host}", kHost), (Texts{"ssh", "-p", "22", "tpu-7"}));
}

TEST(ViaTemplate, SplitsByShellQuoting) {
  EXPECT_EQ(words("ssh -o 'ProxyCommand nc %h %p' \"{host}\" a\\ b ''", kHost),
            (Texts{"ssh", "-o", "ProxyCommand nc %h %p", "tpu-7", "a b", ""}));
}

TEST(ViaTemplate, FillsInTextThatIsNoTemplateAgain) {
  const hosts::Host host{.worker = 0, .name = "{worker} x", .user = "", .source = "-H"};
  EXPECT_EQ(words("x {host}", host), (Texts{"x", "{worker} x"}));
}

TEST(ViaTemplate, LeavesAnOpenBraceAlone) {
  EXPECT_EQ(words("x {host} a{ }b", kHost), (Texts{"x", "tpu-7", "a{", "}b"}));
}

TEST(ViaTemplate, RefusesTextWithoutAHost) {
  for (const char* text : {"", "  ", "ssh", "ssh {user}", "ssh -p {port}"}) {
    EXPECT_EQ(
        error_of(text),
        fmt::format("--via: \"{}\" does not say where the host goes (write {{host}}, as in 'ssh {{host}}')",
                    text));
  }
}

TEST(ViaTemplate, RefusesUnknownPlaceholders) {
  for (const char* name : {"hots", "", "HOST", "host "}) {
    EXPECT_EQ(error_of(fmt::format("ssh '{{{}}}' {{host}}", name)),
              fmt::format("--via: unknown placeholder \"{{{}}}\" (there are {{host}}, {{user}}, {{port}} and "
                          "{{worker}})",
                          name));
  }
}

TEST(ViaTemplate, RefusesWhatAShellWouldActOn) {
  EXPECT_EQ(error_of("ssh 'x {host}"),
            "--via: \"ssh 'x {host}\": a single quote is not closed (add the second one)");
  EXPECT_EQ(error_of("ssh {host} | cat"),
            "--via: \"ssh {host} | cat\": unquoted \"|\" (nothing is expanded here; to mean it literally put "
            "it in single quotes)");
}

TEST(ViaTemplate, RefusesAHostThatSaysMoreThanItTakes) {
  EXPECT_EQ(error_of("ssh -p {port} {host}", kFullHost),
            "-H: \"fe80::1\" comes with a user, but --via \"ssh -p {port} {host}\" has no {user}");
  EXPECT_EQ(error_of("ssh {user}@{host}", kFullHost),
            "-H: \"fe80::1\" comes with a port, but --via \"ssh {user}@{host}\" has no {port}");
  EXPECT_EQ(error_of("ssh {host}", kFullHost),
            "-H: \"fe80::1\" comes with a user, but --via \"ssh {host}\" has no {user}");
}

TEST(ViaTemplate, RefusesAHostWithoutTheUserItTakes) {
  EXPECT_EQ(error_of("ssh {user}@{host}"),
            "podips.txt:8: \"tpu-7\" has no user for the {user} of --via (write user@tpu-7)");
}

}  // namespace
}  // namespace podrun::local
