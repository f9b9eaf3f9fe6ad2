// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "podrun/ssh/config/pattern.hpp"
#include "podrun/ssh/config/ssh_config_world.hpp"

namespace podrun::test {

/// A machine made of what the test puts into it; its user is `me` in /home/me.
struct FakeConfigWorld {
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> variables = {{"SSH_AUTH_SOCK", "/run/agent"}};
  std::map<std::string, std::optional<int>> statuses;  ///< by command; 1 for all others
  std::vector<std::string> commands;                   ///< those that were run

  /// It must not outlive this.
  ssh::ConfigWorld world() {
    ssh::ConfigWorld world;
    world.home = "/home/me";
    world.user = "me";
    world.user_id = "1000";
    world.host_name = "desk.example.com";
    world.env = [this](const std::string& name) { return find(variables, name); };
    world.home_of = [](const std::string& user) {
      return user == "other" ? std::optional<std::string>("/home/other") : std::nullopt;
    };
    world.read = [this](const std::string& path, ssh::FileTrust) { return find(files, path); };
    world.glob = [this](const std::string& pattern) {
      std::vector<std::string> paths;
      for (const auto& [path, text] : files) {
        if (ssh::matches_pattern(path, pattern)) paths.push_back(path);
      }
      return paths;
    };
    world.run = [this](const std::string& command) {
      commands.push_back(command);
      const auto found = statuses.find(command);
      return found == statuses.end() ? std::optional<int>(1) : found->second;
    };
    world.own_names = [] { return std::vector<std::string>{"desk.example.com", "10.1.2.3", "fd00::3"}; };
    return world;
  }

 private:
  static std::optional<std::string> find(const std::map<std::string, std::string>& map,
                                         const std::string& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }
};

}  // namespace podrun::test
