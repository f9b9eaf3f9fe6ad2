// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/base/error.hpp"

namespace podrun {

/// The text of the UsageError that `action` throws; `no error` when it throws none.
template <typename Action>
std::string usage_error(Action action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace podrun
