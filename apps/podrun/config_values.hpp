// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/hosts/probe.hpp"
#include "podrun/local/login_environment.hpp"

#include "option_table.hpp"

namespace podrun {

/// Values of config.yaml, as they would stand on the command line.
class ConfigValues {
 public:
  /// `directory`: of the file, with a slash at the end.
  ConfigValues(Account account, std::string directory, const Probe& probe);

  /// Throws UsageError for what would otherwise be found only later, without the place in the file.
  std::string text_for(const OptionEntry& option, const std::string& value) const;

  /// A file of this machine: relative to the directory of the configuration, `~` is home.
  std::string local_path(const std::string& path) const;

 private:
  std::string list_of_hosts(const std::string& value) const;
  std::string expand_home(const std::string& path) const;
  void check_ssh_option(const std::string& text) const;

  Account account_;
  std::string directory_;
  const Probe& probe_;
};

}  // namespace podrun
