// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace podrun {

/// The two output streams of a command.
enum class StreamId { out, err };

inline constexpr std::size_t kStreams = 2;
inline std::size_t index_of(StreamId stream) { return stream == StreamId::out ? 0 : 1; }

}  // namespace podrun
