// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/expect.hpp"

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace podrun {

void expect([[maybe_unused]] bool holds, [[maybe_unused]] const char* promise) {
#ifdef PODRUN_DEV
  if (!holds) throw std::logic_error(promise);
#endif
}

void expect_at_end([[maybe_unused]] bool holds, [[maybe_unused]] const char* promise) noexcept {
#ifdef PODRUN_DEV
  if (holds || std::uncaught_exceptions() > 0) return;
  std::fprintf(stderr, "podrun: %s\n", promise);
  std::terminate();
#endif
}

namespace {

#ifdef PODRUN_DEV
constexpr bool kCounts = true;
#else
constexpr bool kCounts = false;
#endif

}  // namespace

Lender::Lender(const char* promise)
    : promise_(promise), borrowed_(kCounts ? std::make_shared<std::atomic<std::size_t>>(0) : nullptr) {}

Lender::~Lender() { expect_at_end(!borrowed_ || *borrowed_ == 0, promise_); }

Borrowed::Borrowed(const Lender& lender) : borrowed_(lender.borrowed_) {
  if (borrowed_) ++*borrowed_;
}

Borrowed::Borrowed(const Borrowed& other) : borrowed_(other.borrowed_) {
  if (borrowed_) ++*borrowed_;
}

Borrowed::~Borrowed() {
  if (borrowed_) --*borrowed_;
}

}  // namespace podrun
