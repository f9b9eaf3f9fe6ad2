// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/expect.hpp"

#include <stdexcept>

namespace podrun {

void expect([[maybe_unused]] bool holds, [[maybe_unused]] const char* promise) {
#ifdef PODRUN_DEV
  if (!holds) throw std::logic_error(promise);
#endif
}

}  // namespace podrun
