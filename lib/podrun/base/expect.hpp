// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>

// Checks what a caller has promised and no type can express.
namespace podrun {

/// Throws std::logic_error with this text if the promise is broken, in builds with PODRUN_DEV (all tests).
/// Other builds go on.
void expect(bool holds, const char* promise);

/// The same for a destructor, which may not throw: ends the process with this text. While an exception ends
/// a run, objects may go in another order than usual, and nothing is checked.
void expect_at_end(bool holds, const char* promise) noexcept;

/// A call that is made at most once.
class Once {
 public:
  void call(const char* promise) {
    expect(!called_, promise);
    called_ = true;
  }
  bool is_called() const { return called_; }

 private:
  bool called_ = false;
};

/// Calls that are all made on one thread: the one that made this.
class OneThread {
 public:
  void check(const char* promise) const { expect(std::this_thread::get_id() == thread_, promise); }

 private:
  std::thread::id thread_ = std::this_thread::get_id();
};

/// Part of an object that others refer to: when it ends, no Borrowed of it may be left. Its first member, so
/// that the members after it may refer to it until they end.
class Lender {
 public:
  explicit Lender(const char* promise);
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;
  ~Lender();

 private:
  friend class Borrowed;

  const char* const promise_;
  const std::shared_ptr<std::atomic<std::size_t>> borrowed_;  ///< null in builds without PODRUN_DEV
};

/// Part of an object, or of the frame of a coroutine, that refers to the owner of a Lender.
class Borrowed {
 public:
  explicit Borrowed(const Lender& lender);
  Borrowed(const Borrowed& other);
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed();

 private:
  const std::shared_ptr<std::atomic<std::size_t>>
      borrowed_;  ///< of the lender, which it may outlive by mistake
};

}  // namespace podrun
