// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/side_work.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "support/run_coroutine.hpp"

namespace podrun::transfer {
namespace {

using test::run_coroutine;

TEST(ByteQueue, PassesAllBytesToAThreadInOrder) {
  std::string sent;
  std::string received;
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    ByteQueue queue(executor);
    ThreadWork work(executor, [&] {
      for (std::string_view bytes; !(bytes = queue.next()).empty();) received += bytes;
    });
    for (int i = 0; i < 500; ++i) {
      const std::string bytes(10'000, static_cast<char>('a' + i % 26));
      sent += bytes;
      co_await queue.wait_for_room();
      queue.push(Chunk(bytes));
      queue.push(Chunk());
    }
    queue.close();
    co_await work.end();
  });
  EXPECT_TRUE(received == sent);
}

TEST(ByteQueue, HasRoomAgainAfterTheThreadTookSome) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    ByteQueue queue(executor);
    queue.push(Chunk(std::string(ByteQueue::kRoom, 'x')));
    std::string received;
    ThreadWork work(executor, [&] { received = queue.next(); });
    co_await queue.wait_for_room();
    co_await work.end();
    EXPECT_EQ(received.size(), ByteQueue::kRoom);
  });
}

TEST(ByteQueue, DropsBytesAfterTheThreadLeft) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    ByteQueue queue(executor);
    queue.push(Chunk(std::string(2 * ByteQueue::kRoom, 'x')));
    EXPECT_FALSE(queue.is_left());
    ThreadWork work(executor, [&] { queue.leave(); });
    co_await queue.wait_for_room();
    co_await work.end();
    EXPECT_TRUE(queue.is_left());
    queue.push(Chunk(std::string(2 * ByteQueue::kRoom, 'x')));
    co_await queue.wait_for_room();
  });
}

TEST(ByteQueue, WakesAThreadWhenItIsGivenUp) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    ByteQueue queue(executor);
    bool given_up = false;
    ThreadWork work(executor, [&] {
      try {
        queue.next();
      } catch (const ByteQueue::GivenUp&) {
        given_up = true;
      }
    });
    queue.give_up();
    co_await work.end();
    EXPECT_TRUE(given_up);
  });
}

TEST(ThreadWork, PassesOnExceptions) {
  EXPECT_THROW(run_coroutine([](asio::any_io_executor) -> asio::awaitable<void> {
                 std::function<void()> work = [] { throw std::runtime_error("no"); };
                 co_await run_on_thread(std::move(work));
               }),
               std::runtime_error);
}

TEST(ThreadWork, WaitsForTheEndOfTheFunction) {
  bool ended = false;
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    {
      const ThreadWork work(executor, [&] { ended = true; });
    }
    EXPECT_TRUE(ended);
    co_return;
  });
}

}  // namespace
}  // namespace podrun::transfer
