// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The keywords of ssh_config(5) that SshSettings has nothing for. All names in any case.
namespace podrun {

/// A keyword that would change where a connection goes or whom it trusts, if its value is none of `harmless`.
struct UnsupportedKeyword {
  std::string_view name;
  std::string_view harmless;  ///< values between commas, in lower case
  std::string_view advice;
};

const UnsupportedKeyword* find_unsupported(std::string_view keyword);

/// A keyword that may be passed over: without it a connection goes to the same host and trusts no more.
bool may_be_passed_over(std::string_view keyword);

/// The keyword of ssh_config(5) or of `others` that `keyword` is a slip of, if there is one.
std::optional<std::string> nearest_keyword(std::string_view keyword,
                                           const std::vector<std::string_view>& others);

}  // namespace podrun
