// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace podrun {

/// Calls the function in its destructor.
template <typename Function>
class AtEnd {
 public:
  explicit AtEnd(Function function) : function_(std::move(function)) {}
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() { function_(); }

 private:
  Function function_;
};

}  // namespace podrun
