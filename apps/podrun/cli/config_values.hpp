// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/hosts/probe.hpp"
#include "podrun/local/login_environment.hpp"

#include "cli/option_table.hpp"

namespace podrun::cli {

/// Values of config.yaml, as they would stand on the command line.
class ConfigValues {
 public:
  /// `directory`: of the file, with a slash at the end.
  ConfigValues(local::Account account, std::string directory, const hosts::Probe& probe);

  /// Throws UsageError for what would otherwise be found only later, without the place in the file.
  std::string text_for(const OptionEntry& option, const std::string& value) const;

 private:
  std::string local_path(const std::string& path) const;
  std::string list_of_hosts(const std::string& value) const;
  std::string expand_home(const std::string& path) const;
  void check_ssh_option(const std::string& text) const;

  local::Account account_;
  std::string directory_;
  const hosts::Probe& probe_;
};

}  // namespace podrun::cli
