// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "podrun/ssh/config_value.hpp"
#include "podrun/ssh/settings.hpp"

namespace podrun {

/// What becomes of a keyword's second value.
enum class Repeat { first_counts, first_but_none_counts, adds_up };

/// Whether `-o` sets it for jump hosts too, which ssh never does: what is about trust, so that a jump host is
/// not trusted more than the host behind it.
enum class Reach { host, jump_hosts_too };

/// A keyword of ssh_config(5) that SshSettings has something for.
struct SettingKeyword {
  std::string_view name;
  void (*apply)(SshSettings& settings, const ConfigValue& value);
  Repeat repeat = Repeat::first_counts;
  std::string_view rival = {};  ///< a value but `none` counts only where neither has one, and for both
  Reach reach = Reach::host;
};

std::span<const SettingKeyword> setting_keywords();

}  // namespace podrun
