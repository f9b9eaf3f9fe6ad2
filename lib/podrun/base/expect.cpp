// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/expect.hpp"

#include <exception>
#include <stdexcept>

namespace podrun {

void expect([[maybe_unused]] bool holds, [[maybe_unused]] const char* promise) {
#ifdef PODRUN_DEV
  if (!holds) throw std::logic_error(promise);
#endif
}

void expect_at_end(bool holds, const char* promise) noexcept {
  if (std::uncaught_exceptions() == 0) expect(holds, promise);  // std::terminate() prints the text
}

// Without PODRUN_DEV nothing is counted: a lender that has ended too early is not written to.

Borrowed::Borrowed(const Lender& lender) : lender_(lender) {
#ifdef PODRUN_DEV
  ++lender_.borrowed_;
#endif
}

Borrowed::~Borrowed() {
#ifdef PODRUN_DEV
  --lender_.borrowed_;
#endif
}

}  // namespace podrun
