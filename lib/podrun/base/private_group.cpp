// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/private_group.hpp"

#include <grp.h>
#include <pwd.h>

#include <array>
#include <string_view>

namespace podrun {

bool is_private_group(gid_t group, uid_t user) {
  std::array<char, 16 * 1024> user_text;
  std::array<char, 16 * 1024> group_text;
  passwd account{};
  passwd* found_user = nullptr;
  struct group entry {};
  struct group* found_group = nullptr;
  if (::getpwuid_r(user, &account, user_text.data(), user_text.size(), &found_user) != 0 || !found_user)
    return false;
  if (::getgrgid_r(group, &entry, group_text.data(), group_text.size(), &found_group) != 0 || !found_group)
    return false;
  const std::string_view name = account.pw_name;
  if (account.pw_gid != group || name != entry.gr_name) return false;
  for (char** member = entry.gr_mem; *member; ++member) {
    if (name != *member) return false;
  }
  return true;
}

}  // namespace podrun
