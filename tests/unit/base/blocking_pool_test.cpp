// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/blocking_pool.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/run_coroutine.hpp"

namespace podrun {
namespace {

/// Work waits here until the test opens it.
class Gate {
 public:
  void open() { promise_.set_value(); }
  void wait() const { opened_.wait_for(test::kDeadline); }

 private:
  std::promise<void> promise_;
  std::shared_future<void> opened_ = promise_.get_future().share();
};

class BlockingPoolTest : public testing::Test {
 protected:
  /// Runs the context until it has nothing left to do; false when that is not so by the deadline.
  bool run() {
    context_->restart();
    context_->run_for(test::kDeadline);
    return context_->stopped();
  }

  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
};

TEST_F(BlockingPoolTest, RunsWorkOnAThreadAndCompletesOnTheContext) {
  BlockingPool pool(context_, 2);
  std::string text;
  std::thread::id worker;
  std::thread::id doer;
  pool.run(
      [&] {
        worker = std::this_thread::get_id();
        text = "worked";
      },
      [&] {
        doer = std::this_thread::get_id();
        text += ", done";
      });
  EXPECT_EQ(doer, std::thread::id()) << "nothing is done inside run()";
  EXPECT_TRUE(run());
  EXPECT_EQ(text, "worked, done");
  EXPECT_EQ(doer, std::this_thread::get_id());
  EXPECT_NE(worker, doer);
}

TEST_F(BlockingPoolTest, DoesAllOfMuchWork) {
  constexpr int kMany = 1000;
  BlockingPool pool(context_, 4);
  std::vector<int> results(kMany);
  int done = 0;
  for (int i = 0; i < kMany; ++i) {
    pool.run([&, i] { results[static_cast<std::size_t>(i)] = i; }, [&] { ++done; });
  }
  EXPECT_TRUE(run());
  EXPECT_EQ(done, kMany);
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], i);
}

TEST_F(BlockingPoolTest, UsesAsManyThreadsAsItMayAndNoMore) {
  constexpr std::size_t kThreads = 3;
  BlockingPool pool(context_, kThreads);
  Gate gate;
  std::atomic<std::size_t> running = 0;
  std::size_t done = 0;
  for (int i = 0; i < 7; ++i) {
    pool.run(
        [&] {
          EXPECT_LE(++running, kThreads);
          gate.wait();
          --running;
        },
        [&] { ++done; });
  }
  EXPECT_TRUE(test::eventually([&] { return running == kThreads; }));
  gate.open();
  EXPECT_TRUE(run());
  EXPECT_EQ(done, 7u);
}

TEST_F(BlockingPoolTest, StartsNoThreadThatItDoesNotNeed) {
  BlockingPool pool(context_, 8);
  std::set<std::thread::id> workers;
  for (int i = 0; i < 100; ++i) {
    pool.run([&] { workers.insert(std::this_thread::get_id()); }, [] {});
    EXPECT_TRUE(run());
  }
  EXPECT_EQ(workers.size(), 1u);
}

TEST_F(BlockingPoolTest, TakesMoreWorkWhenSomeIsDone) {
  BlockingPool pool(context_, 1);
  int left = 5;
  std::function<void()> again = [&] {
    if (--left > 0) pool.run([] {}, again);
  };
  pool.run([] {}, again);
  EXPECT_TRUE(run());
  EXPECT_EQ(left, 0);
}

TEST_F(BlockingPoolTest, ThrowsOnTheContextWhatTheWorkThrows) {
  BlockingPool pool(context_, 1);
  bool done = false;
  pool.run([] { throw std::runtime_error("out of luck"); }, [&] { done = true; });
  pool.run([] {}, [&] { done = true; });
  std::string what;
  try {
    run();
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  EXPECT_EQ(what, "out of luck");
  EXPECT_FALSE(done);
  EXPECT_TRUE(run());
  EXPECT_TRUE(done) << "the rest goes on";
}

TEST_F(BlockingPoolTest, WaitsForNothingWhenItIsDestroyed) {
  const auto gate = std::make_shared<Gate>();
  auto pool = std::make_unique<BlockingPool>(context_, 1);
  const auto held_by_work = std::make_shared<int>();
  const auto held_by_done = std::make_shared<int>();
  std::atomic<bool> begun = false;
  bool done = false;
  pool->run(
      [&begun, gate, held_by_work] {
        begun = true;
        gate->wait();
      },
      [&done, held_by_done] { done = true; });
  pool->run([held_by_work] { ADD_FAILURE() << "begun after the end"; },
            [&done, held_by_done] { done = true; });
  EXPECT_TRUE(test::eventually([&] { return begun.load(); }));
  pool.reset();
  EXPECT_EQ(held_by_done.use_count(), 1);
  EXPECT_EQ(held_by_work.use_count(), 2) << "that which runs";
  EXPECT_EQ(context_.use_count(), 1) << "no thread may be the one to destroy it";
  EXPECT_TRUE(run()) << "nothing keeps the context running";
  gate->open();
  EXPECT_TRUE(test::eventually([&] { return held_by_work.use_count() == 1; }));
  EXPECT_TRUE(run());
  EXPECT_FALSE(done);
}

/// Otherwise LeakSanitizer takes what the C library keeps for a thread that is about to end for a leak.
TEST_F(BlockingPoolTest, WaitsForItsIdleThreads) {
  struct SlowEnd {
    std::atomic<bool>* ended = nullptr;
    ~SlowEnd() {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      *ended = true;
    }
  };
  std::atomic<bool> ended = false;
  {
    BlockingPool pool(context_, 1);
    pool.run(
        [&] {
          thread_local SlowEnd end;
          end.ended = &ended;
        },
        [] {});
    EXPECT_TRUE(run());
  }
  EXPECT_TRUE(ended);
}

TEST_F(BlockingPoolTest, ForgetsWhatIsReadyWhenItIsDestroyed) {
  auto pool = std::make_unique<BlockingPool>(context_, 2);
  int done = 0;
  for (int i = 0; i < 2; ++i) {
    pool->run([] {},
              [&] {
                ++done;
                pool.reset();
              });
  }
  EXPECT_TRUE(run());
  EXPECT_EQ(done, 1) << "the first destroys the pool";
}

TEST_F(BlockingPoolTest, LetsGoOfWhatTheWorkHoldsOnTheContext) {
  BlockingPool pool(context_, 1);
  std::thread::id destroyer;
  {
    const std::shared_ptr<void> held(nullptr, [&](void*) { destroyer = std::this_thread::get_id(); });
    pool.run([held] {}, [] {});
  }
  EXPECT_TRUE(run());
  EXPECT_EQ(destroyer, std::this_thread::get_id());
}

}  // namespace
}  // namespace podrun
