// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

// Base64 with padding, RFC 4648 section 4.
namespace podrun {

std::string to_base64(std::string_view bytes);
void append_base64(std::string& text, std::string_view bytes);

/// Nothing unless to_base64() would return exactly this text.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace podrun
