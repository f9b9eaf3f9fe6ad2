// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <functional>
#include <future>

#include <asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include "support/fake_connector.hpp"
#include "support/run_coroutine.hpp"
#include "support/temp_directory.hpp"
#include "unit/output/pipe.hpp"

namespace podrun::run {
namespace {

using test::FakeStream;

constexpr std::size_t kMiB = 1024 * 1024;

/// Bytes that tell where they stand.
std::string some_bytes(std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) bytes += std::to_string(bytes.size()) + '\n';
  bytes.resize(size);
  return bytes;
}

class InputTest : public testing::Test {
 protected:
  InputTest() { std::signal(SIGPIPE, SIG_IGN); }

  void TearDown() override {
    if (!writer_.valid()) pipe_.close_write();
    EXPECT_TRUE(run_until([this] { return context_.use_count() == 1; }));
  }

  /// Its reading end is never closed: a thread may outlive the test, and the number may be given again.
  static test::Pipe& lasting_pipe() {
    static auto& pipes = *new std::deque<test::Pipe>;
    return pipes.emplace_back();
  }

  /// Feeds one host: whether that has returned is in done(host).
  FakeStream& feed(Input& input, std::size_t host) {
    streams_.resize(std::max(streams_.size(), host + 1));
    done_.resize(streams_.size());
    streams_[host] = std::make_shared<FakeStream>(context_->get_executor());
    asio::co_spawn(*context_, input.feed(host, streams_[host]),
                   [this, host](const std::exception_ptr& error) {
                     if (error) std::rethrow_exception(error);
                     done_[host] = true;
                   });
    return *streams_[host];
  }
  FakeStream& feed_slowly(Input& input, std::size_t host) {
    FakeStream& stream = feed(input, host);
    stream.take(0);
    return stream;
  }

  /// Runs until this is so; false when it is not by the deadline.
  bool run_until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + test::kDeadline;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      context_->restart();
      context_->run_one_for(std::chrono::milliseconds(10));
    }
    return true;
  }
  bool run_until_done(std::size_t host) {
    return run_until([this, host] { return done_[host]; });
  }
  void run_what_is_due() {
    context_->restart();
    while (context_->poll() > 0) context_->restart();
  }

  /// Writes to the pipe on a thread of its own, then closes it.
  void write(const std::string& bytes) {
    writer_ = std::async(std::launch::async, [this, bytes] {
      std::size_t written = 0;
      while (written < bytes.size()) {
        const ssize_t count = ::write(pipe_.write_fd(), bytes.data() + written, bytes.size() - written);
        if (count <= 0) break;
        written += static_cast<std::size_t>(count);
      }
      pipe_.close_write();
    });
  }

  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
  std::vector<std::shared_ptr<FakeStream>> streams_;
  std::vector<bool> done_;
  test::Pipe& pipe_ = lasting_pipe();
  std::future<void> writer_;
};

TEST_F(InputTest, CopiesAPipeToEveryHost) {
  const std::string bytes = some_bytes(3 * kMiB + 17);
  Input input(context_, {"standard input", pipe_.read_fd()}, 3);
  for (std::size_t host = 0; host < 3; ++host) feed(input, host);
  write(bytes);
  for (std::size_t host = 0; host < 3; ++host) {
    ASSERT_TRUE(run_until_done(host));
    EXPECT_TRUE(streams_[host]->written() == bytes);
    EXPECT_FALSE(streams_[host]->input_ended()) << "that is for the caller";
  }
}

TEST_F(InputTest, CopiesARegularFile) {
  const test::TempDirectory directory;
  const std::string bytes = some_bytes(2 * kMiB + 1);
  const int file = ::open(directory.write("input", bytes).c_str(), O_RDONLY | O_CLOEXEC);
  {
    Input input(context_, {"standard input", file}, 2);
    feed(input, 0);
    feed(input, 1);
    ASSERT_TRUE(run_until_done(0));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(streams_[0]->written() == bytes);
    EXPECT_TRUE(streams_[1]->written() == bytes);
  }
  ::close(file);
}

TEST_F(InputTest, ReturnsAtOnceWhenThereIsNothing) {
  Input input(context_, {"standard input", pipe_.read_fd()}, 1);
  feed(input, 0);
  pipe_.close_write();
  ASSERT_TRUE(run_until_done(0));
  EXPECT_EQ(streams_[0]->written(), "");
}

TEST_F(InputTest, PassesOnWhatHasComeWithoutWaitingForMore) {
  Input input(context_, {"standard input", pipe_.read_fd()}, 1);
  const FakeStream& stream = feed(input, 0);
  ASSERT_EQ(::write(pipe_.write_fd(), "a", 1), 1);
  EXPECT_TRUE(run_until([&] { return stream.written() == "a"; }));
  ASSERT_EQ(::write(pipe_.write_fd(), "b", 1), 1);
  EXPECT_TRUE(run_until([&] { return stream.written() == "ab"; }));
  EXPECT_FALSE(done_[0]);
  pipe_.close_write();
  EXPECT_TRUE(run_until_done(0));
}

TEST_F(InputTest, ReadsNotFurtherThanOneMebibyteAheadOfTheSlowest) {
  const test::TempDirectory directory;
  const std::string bytes = some_bytes(4 * kMiB);
  const int file = ::open(directory.write("input", bytes).c_str(), O_RDONLY | O_CLOEXEC);
  const auto was_read = [file] { return static_cast<std::size_t>(::lseek(file, 0, SEEK_CUR)); };
  {
    Input input(context_, {"standard input", file}, 2);
    const FakeStream& fast = feed(input, 0);
    FakeStream& slow = feed_slowly(input, 1);
    ASSERT_TRUE(run_until([&] { return fast.written().size() == kMiB; }));
    run_what_is_due();
    EXPECT_EQ(was_read(), kMiB);
    slow.take(2);
    ASSERT_TRUE(run_until([&] { return fast.written().size() == kMiB + 2 * Chunk::kMaxSize; }));
    EXPECT_EQ(was_read(), kMiB + 2 * Chunk::kMaxSize) << "as much further as the slowest has got";
    slow.take_everything();
    ASSERT_TRUE(run_until_done(0));
    ASSERT_TRUE(run_until_done(1));
    EXPECT_TRUE(slow.written() == bytes);
  }
  ::close(file);
}

TEST_F(InputTest, PausesTheWriterOfAPipeForTheSlowestHost) {
  Input input(context_, {"standard input", pipe_.read_fd()}, 1);
  FakeStream& slow = feed_slowly(input, 0);
  ::fcntl(pipe_.write_fd(), F_SETFL, O_NONBLOCK);
  // Each write that finds the pipe empty is one chunk: 32 of them are taken, one more stays in the pipe.
  std::size_t written = 0;
  const std::string page(4096, 'x');
  ASSERT_TRUE(run_until([&] {
    while (::write(pipe_.write_fd(), page.data(), page.size()) > 0) written += page.size();
    return written == 33 * page.size();
  }));
  run_what_is_due();
  EXPECT_LT(::write(pipe_.write_fd(), page.data(), page.size()), 0);
  pipe_.close_write();
  slow.take_everything();
  ASSERT_TRUE(run_until_done(0));
  EXPECT_EQ(slow.written().size(), written);
}

TEST_F(InputTest, DoesNotWaitForAHostThatHasLeft) {
  const std::string bytes = some_bytes(3 * kMiB);
  Input input(context_, {"standard input", pipe_.read_fd()}, 3);
  feed(input, 0);
  FakeStream& stuck = feed_slowly(input, 1);
  write(bytes);
  ASSERT_TRUE(run_until([&] { return !streams_[0]->written().empty(); }));
  run_what_is_due();
  input.leave(1);
  input.leave(2);  // was never fed
  ASSERT_TRUE(run_until_done(0));
  EXPECT_TRUE(streams_[0]->written() == bytes);
  EXPECT_FALSE(done_[1]) << "it is in its write";
  stuck.stop({link::Stage::none, link::Cause::abandoned});
  EXPECT_TRUE(run_until_done(1));
}

TEST_F(InputTest, WakesAHostThatLeavesWhileItWaits) {
  Input input(context_, {"standard input", pipe_.read_fd()}, 1);
  feed(input, 0);
  run_what_is_due();
  input.leave(0);
  EXPECT_TRUE(run_until_done(0));
}

TEST_F(InputTest, DoesNotWaitForAHostThatTakesNoMore) {
  const std::string bytes = some_bytes(3 * kMiB);
  Input input(context_, {"standard input", pipe_.read_fd()}, 2);
  feed(input, 0);
  feed(input, 1).close_write();
  write(bytes);
  ASSERT_TRUE(run_until_done(1));
  ASSERT_TRUE(run_until_done(0));
  EXPECT_TRUE(streams_[0]->written() == bytes);
}

TEST_F(InputTest, GivesAHostThatComesLateEverything) {
  const std::string bytes = some_bytes(2 * kMiB);
  Input input(context_, {"standard input", pipe_.read_fd()}, 2);
  const FakeStream& first = feed(input, 0);
  write(bytes);
  ASSERT_TRUE(run_until([&] { return !first.written().empty(); }));
  feed(input, 1);
  ASSERT_TRUE(run_until_done(1));
  EXPECT_TRUE(streams_[1]->written() == bytes);
}

TEST_F(InputTest, GivesKnownBytesToEveryHost) {
  const std::string bytes = some_bytes(2 * kMiB);
  Input input(context_, {"the script", to_chunks(bytes)}, 2);
  feed(input, 0);
  FakeStream& slow = feed_slowly(input, 1);
  ASSERT_TRUE(run_until_done(0));
  EXPECT_TRUE(streams_[0]->written() == bytes);
  slow.take_everything();
  ASSERT_TRUE(run_until_done(1));
  EXPECT_TRUE(slow.written() == bytes);
}

TEST_F(InputTest, NamesASourceThatCannotBeRead) {
  std::string said;
  const test::TempDirectory directory;
  const int folder = ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  {
    Input input(context_, {"the folder", folder}, 1, [&](const std::string& name, std::error_code error) {
      said = name + ": " + error.message();
    });
    feed(input, 0);
    ASSERT_TRUE(run_until_done(0));
  }
  EXPECT_EQ(said, "the folder: Is a directory");
  ::close(folder);
}

TEST_F(InputTest, ReadsNothingBeforeAHostIsFed) {
  write("for the next one");
  { const Input input(context_, {"standard input", pipe_.read_fd()}, 1); }
  EXPECT_EQ(pipe_.read_some(), "for the next one");
}

TEST_F(InputTest, CanGoWhileAReadIsPending) {
  {
    Input input(context_, {"standard input", pipe_.read_fd()}, 1);
    feed(input, 0);
    run_what_is_due();
  }
  EXPECT_EQ(::write(pipe_.write_fd(), "x", 1), 1) << "and it has not waited for the writer";
  EXPECT_TRUE(run_until_done(0));
  EXPECT_EQ(streams_[0]->written(), "");
}

}  // namespace
}  // namespace podrun::run
