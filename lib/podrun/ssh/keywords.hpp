// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// The keywords of ssh_config(5), in any case.
namespace podrun {

struct SettingKeyword;

/// A keyword that would change where a connection goes or whom it trusts, if its value is none of `harmless`.
struct UnsupportedKeyword {
  std::string_view name;
  std::string_view harmless;  ///< values between commas, in lower case
  std::string_view advice;
};

/// One of three: with a setting, not supported, or passed over: without it a connection goes to the same host
/// and trusts no more.
struct KnownKeyword {
  std::string_view name;
  std::size_t id;  ///< below kMaxKeywords
  const SettingKeyword* setting = nullptr;
  const UnsupportedKeyword* unsupported = nullptr;
};
inline constexpr std::size_t kMaxKeywords = 256;

/// Null when nobody knows it.
const KnownKeyword* find_keyword(std::string_view keyword);

/// The keyword that `keyword` is a slip of, if there is one.
std::optional<std::string> nearest_keyword(std::string_view keyword);

}  // namespace podrun
