// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podrun::local {

/// An account of the password database.
struct Account {
  std::string name;
  std::string home;
  std::string shell;
  bool is_root = false;
};

/// The account of this process; `home` is `home_override` unless that is empty.
Account own_account(std::string_view home_override);

/// The environment that sshd gives a login: HOME, USER, LOGNAME, SHELL, PATH, then the lines of
/// /etc/environment, given as text. As in pam_env(8), lines other than NAME=VALUE are ignored.
std::vector<std::string> login_environment(const Account& account, std::string_view etc_environment);

/// HOME of such an environment if it is a directory that can be entered; else `/`, as login does.
std::string home_directory(const std::vector<std::string>& environment);

}  // namespace podrun::local
