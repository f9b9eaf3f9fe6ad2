// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// The keywords of ssh_config(5), in upper or lower case.
namespace podrun::ssh {

struct SshSettings;
class ConfigValue;

/// The effect of a keyword's second value.
enum class Repeat { first_counts, first_but_none_counts, adds_up };

/// Whether `-o` also sets it for jump hosts, unlike in ssh. This is so for keywords about trust, so that a
/// jump host is not trusted more than the hosts that it leads to.
enum class Reach { host, jump_hosts_too };

/// A keyword of ssh_config(5) with a member of SshSettings.
struct SettingKeyword {
  std::string_view name;
  void (*apply)(SshSettings& settings, const ConfigValue& value);
  Repeat repeat = Repeat::first_counts;
  std::string_view rival = {};  ///< of both keywords, only the first value that is not `none` counts
  Reach reach = Reach::host;
};

/// A keyword that would change where a connection goes or whom it trusts, unless its value is in `harmless`.
struct UnsupportedKeyword {
  std::string_view name;
  std::string_view harmless;  ///< comma-separated values in lower case
  std::string_view advice;
};

/// A keyword is one of three: it has a setting, is unsupported, or is ignored because without it a connection
/// goes to the same host and trusts no more.
struct KnownKeyword {
  std::string_view name;
  std::size_t id;  ///< below kMaxKeywords
  const SettingKeyword* setting = nullptr;
  const UnsupportedKeyword* unsupported = nullptr;
};
inline constexpr std::size_t kMaxKeywords = 256;

std::span<const SettingKeyword> setting_keywords();

/// Null for an unknown keyword.
const KnownKeyword* find_keyword(std::string_view keyword);

/// The keyword that `keyword` is probably a misspelling of, if any.
std::optional<std::string> nearest_keyword(std::string_view keyword);

}  // namespace podrun::ssh
