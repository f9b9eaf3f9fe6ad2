// SPDX-License-Identifier: Apache-2.0
// How Output holds hosts back, and what it does when nobody reads any more.
#include <exception>
#include <string>
#include <utility>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/output/output_fixture.hpp"

namespace podrun::output {
namespace {

using test::full_chunk;
using testing::ElementsAre;
using testing::Pair;

constexpr StreamId kOut = StreamId::out;
constexpr StreamId kErr = StreamId::err;

class BackPressureTest : public test::OutputTest {};

asio::awaitable<void> write_with_room(Output& output, std::size_t host, std::size_t chunks) {
  for (std::size_t i = 0; i < chunks; ++i) {
    co_await output.wait_for_room(host);
    output.write(host, kOut, full_chunk());
  }
}

TEST_F(BackPressureTest, PausesAHostWhileTheReaderDoesNotRead) {
  Output& output = start(2, Label::none);
  std::size_t given = 0;
  for (; output.has_room(0); given += Chunk::kMaxSize) {
    output.write(0, kOut, full_chunk());
    main_.poll();
  }
  EXPECT_EQ(given, output_credit(2));
  EXPECT_TRUE(output.has_room(1)) << "each host has its own credit";
  read_both();
  run(output.wait_for_room(0));
  EXPECT_TRUE(output.has_room(0));
  EXPECT_EQ(out().size(), given);
}

TEST_F(BackPressureTest, CountsTheMemoryThatTinyChunksTake) {
  Output& output = start(2);
  std::size_t chunks = 0;
  for (; output.has_room(0); ++chunks) output.write(0, kOut, Chunk("x"));
  EXPECT_LT(chunks, output_credit(2) / 100);
}

asio::awaitable<void> write_until(const bool& done, Output& output, std::size_t host) {
  while (!done) co_await write_with_room(output, host, 1);
}

asio::awaitable<void> write_then_tell(Output& output, std::size_t host, std::size_t chunks, bool& done) {
  co_await write_with_room(output, host, chunks);
  done = true;
}

TEST_F(BackPressureTest, StarvesNoHostWhileOthersPrintWithoutEnd) {
  read_both();
  Output& output = start(3, Label::none);
  bool done = false;
  spawn(write_until(done, output, 0));
  spawn(write_until(done, output, 1));
  spawn(write_then_tell(output, 2, 100, done));
  run();
  EXPECT_TRUE(done);
  EXPECT_GE(out().size(), 100 * Chunk::kMaxSize);
}

TEST_F(BackPressureTest, WakesEveryWaiterButTheCanceled) {
  Output& output = start(2);
  fill(output, 0);
  bool done = false;
  std::exception_ptr canceled;
  asio::cancellation_signal cancel;
  asio::co_spawn(main_, output.wait_for_room(0),
                 asio::bind_cancellation_slot(
                     cancel.slot(), [&canceled](std::exception_ptr error) { canceled = std::move(error); }));
  spawn(write_then_tell(output, 0, 1, done));
  main_.poll();
  cancel.emit(asio::cancellation_type::all);
  main_.poll();
  EXPECT_TRUE(canceled);
  EXPECT_FALSE(done);
  read_both();
  run();
  EXPECT_TRUE(done);
  out();
}

TEST_F(BackPressureTest, ReportsAClosedReaderOnceAndPausesNoHost) {
  out_.close_read();
  Output& output = start(2);
  run(write_with_room(output, 0, 100));
  output.write(1, kErr, Chunk("still here\n"));
  run(output.drain());
  EXPECT_THAT(errors_, ElementsAre("standard output: Broken pipe (broken pipe)"));
  EXPECT_EQ(err_.read_some(), "1: still here\n");
}

TEST_F(BackPressureTest, ReportsAReaderThatClosesInTheMiddle) {
  Output& output = start(2);
  fill(output, 0);
  EXPECT_FALSE(out_.read_some(100).empty());
  out_.close_read();
  run(output.drain());
  EXPECT_TRUE(output.has_room(0));
  EXPECT_THAT(errors_, ElementsAre("standard output: Broken pipe (broken pipe)"));
}

TEST(OutputCredit, SharesABoundAmongTheHosts) {
  EXPECT_EQ(output_credit(1), 256U * 1024);
  EXPECT_EQ(output_credit(64), 256U * 1024);
  EXPECT_EQ(output_credit(1024), 16U * 1024);
}

}  // namespace
}  // namespace podrun::output
