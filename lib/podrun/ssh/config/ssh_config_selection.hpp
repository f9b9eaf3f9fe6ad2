// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "podrun/ssh/config/ssh_config_file.hpp"
#include "podrun/ssh/config/ssh_config_tokens.hpp"
#include "podrun/ssh/config/ssh_config_world.hpp"

namespace podrun::ssh {

/// Finds the statements of ssh_config(5) that apply to one host: the first of each keyword, except for key
/// files, which add up. add() throws UsageError.
class ConfigSelection {
 public:
  struct Hooks {
    std::function<bool(const std::string& command)> exec;  ///< runs a `Match exec`: whether it succeeds
    std::function<void(const ConfigStatement& statement)> ignored;
  };

  /// All arguments and all added statements must outlive it. `name`: the host's name as given by the user.
  ConfigSelection(const ConfigWorld& world, const Hooks& hooks, std::string name);

  void add(const std::vector<ConfigStatement>& statements);
  /// Call last. Reads the files twice if a `Match final` asks for it.
  void add(const std::vector<std::shared_ptr<const ConfigFile>>& files);

  const std::vector<const ConfigStatement*>& statements() const { return taken_; }
  TokenHost tokens() const;

 private:
  enum class Active { no, yes, never };  ///< never: nor are statements below it in an included file

  void add(const ConfigStatement& statement);
  const std::string* value(std::size_t keyword) const;
  std::string host_name() const;
  TokenHost tokens_so_far() const;
  void walk(const ConfigFile& file, Active outer);
  Active state(const ConfigBlock& block, Active outer);
  bool holds(const MatchCriteria& match) const;
  bool counts(const ConfigStatement& statement);
  bool is_there(const ConfigStatement& statement) const;
  void check_unknown(const ConfigStatement& statement) const;

  const ConfigWorld& world_;
  const Hooks& hooks_;
  const std::string name_;
  std::string final_host_name_;                               ///< empty: in the first pass
  std::array<const ConfigStatement*, kMaxKeywords> first_{};  ///< by keyword
  std::vector<const ConfigStatement*> taken_;
  bool wants_final_pass_ = false;
  bool is_final_pass_ = false;
};

}  // namespace podrun::ssh
