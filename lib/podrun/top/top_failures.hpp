// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/link/failure.hpp"

namespace podrun::top {

/// The stage of a host from which frames come: any failure but an answer, since the host may be back soon.
inline constexpr link::StageWords kSampling{
    .identifier = "sampling", .words = "reading its figures", .is_answer = false};

}  // namespace podrun::top
