// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "podrun/ssh/config_file.hpp"
#include "podrun/ssh/config_tokens.hpp"
#include "podrun/ssh/config_world.hpp"

namespace podrun {

/// Finds the statements of ssh_config(5) that count for one host: of a keyword the first, but for files of
/// keys, which add up. add() throws UsageError.
class ConfigSelection {
 public:
  struct Hooks {
    std::function<bool(const std::string& command)> exec;  ///< of `Match exec`: whether it succeeds
    std::function<void(const ConfigStatement& statement)> passed_over;
  };

  /// All must outlive it, and so must what is added. `name`: as the host was asked for.
  ConfigSelection(const ConfigWorld& world, const Hooks& hooks, std::string name);

  void add(const std::vector<ConfigStatement>& statements);
  /// The last to be added. They are looked through twice if a `Match final` asks for it.
  void add(const std::vector<std::shared_ptr<const ConfigFile>>& files);

  const std::vector<const ConfigStatement*>& statements() const { return taken_; }
  TokenHost tokens() const;

 private:
  enum class Active { no, yes, never };  ///< never: nor is what stands below in a file that is included

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
  std::string final_host_name_;                               ///< empty: still in the first pass
  std::array<const ConfigStatement*, kMaxKeywords> first_{};  ///< by keyword
  std::vector<const ConfigStatement*> taken_;
  bool wants_final_pass_ = false;
  bool is_final_pass_ = false;
};

}  // namespace podrun
