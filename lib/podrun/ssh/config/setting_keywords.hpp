// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/config/ssh_config_value.hpp"

namespace podrun::ssh {

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

std::span<const SettingKeyword> setting_keywords();

}  // namespace podrun::ssh
