// SPDX-License-Identifier: Apache-2.0
// A few threads for calls that may block. Those in a call are never joined, because it may never return.
#include "podrun/base/blocking_pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>

#include "podrun/base/thread.hpp"

namespace podrun {

/// Shared by the pool, its threads and the handlers they post. close() takes the context away, so no thread
/// can destroy it, or post to it after its end.
class BlockingPool::State : public std::enable_shared_from_this<State> {
 public:
  State(std::shared_ptr<asio::io_context> context, std::size_t threads)
      : max_threads_(std::max<std::size_t>(threads, 1)), context_(std::move(context)) {}

  void run(std::function<void()> work, std::function<void()> done) {
    const std::uint64_t number = ++last_number_;
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back({number, std::move(work)});
      if (queue_.size() > idle() && workers_.size() < max_threads_) start_thread();
    }
    waiting_.emplace(number, std::move(done));
    if (!guard_) guard_.emplace(context_->get_executor());
    ready_.notify_one();
  }

  void close() {
    std::shared_ptr<asio::io_context> context;  // destroyed last: objects in the jobs may live on it
    std::deque<Call> queue;
    const auto waiting = std::exchange(waiting_, {});
    guard_.reset();
    {
      const std::lock_guard lock(mutex_);
      queue.swap(queue_);
      context.swap(context_);
      for (Worker& worker : workers_) {
        if (worker.busy) worker.thread.detach();
      }
    }
    ready_.notify_all();
    for (Worker& worker : workers_) {
      if (worker.thread.joinable()) worker.thread.join();
    }
  }

 private:
  struct Call {
    std::uint64_t number;
    std::function<void()> work;
  };
  struct Worker {
    std::thread thread = {};
    bool busy = false;  ///< has a call
  };

  std::size_t idle() const {
    return static_cast<std::size_t>(std::ranges::count(workers_, false, &Worker::busy));
  }

  /// If no further thread can be started, the existing threads do the work. The mutex must be locked.
  void start_thread() {
    Worker& worker = workers_.emplace_back();
    try {
      worker.thread = podrun::start_thread([self = shared_from_this(), &worker] { serve(self, worker); });
    } catch (const std::system_error&) {
      workers_.pop_back();
      if (!workers_.empty()) return;
      queue_.pop_back();
      throw;
    }
  }

  static void serve(std::shared_ptr<State> self, Worker& worker) {
    while (std::optional<Call> call = self->take(worker)) {
      std::exception_ptr error;
      try {
        call->work();
      } catch (...) {
        error = std::current_exception();
      }
      self->report(worker, std::move(*call), std::move(error));
    }
  }
  std::optional<Call> take(Worker& worker) {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !context_ || !queue_.empty(); });
    if (!context_) return std::nullopt;
    worker.busy = true;
    std::optional<Call> call = std::move(queue_.front());
    queue_.pop_front();
    return call;
  }
  /// Posts the call too, so that its objects are destroyed on the context's thread.
  void report(Worker& worker, Call call, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    worker.busy = false;
    if (!context_) return;
    asio::post(*context_, [self = shared_from_this(), call = std::move(call), error = std::move(error)] {
      self->finish(call.number, error);
    });
  }

  void finish(std::uint64_t number, const std::exception_ptr& error) {
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) return;  // closed
    const std::function<void()> done = std::move(found->second);
    waiting_.erase(found);
    if (waiting_.empty()) guard_.reset();
    if (error) std::rethrow_exception(error);
    done();
  }

  // Only used on the context's thread.
  const std::size_t max_threads_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, std::function<void()>> waiting_;  ///< the callback for each call number
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> guard_;

  // Used on all threads. The context's thread reads context_ without the lock, because only that thread
  // writes it.
  std::mutex mutex_;
  std::condition_variable ready_;
  std::shared_ptr<asio::io_context> context_;  ///< null: closed
  std::deque<Call> queue_;
  std::list<Worker> workers_;
};

BlockingPool::BlockingPool(std::shared_ptr<asio::io_context> context, std::size_t threads)
    : state_(std::make_shared<State>(std::move(context), threads)) {}

BlockingPool::~BlockingPool() { state_->close(); }

void BlockingPool::run(std::function<void()> work, std::function<void()> done) {
  thread_.check("a BlockingPool is used on its context's thread");
  state_->run(std::move(work), std::move(done));
}

}  // namespace podrun
