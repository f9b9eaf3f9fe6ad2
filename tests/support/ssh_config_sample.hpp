// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"

namespace podrun::test {

inline Texts words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// A file of tests/ssh_config, with those beside it, in a directory of its own: `# hosts:` names the hosts to
/// ask for, `# ask:` the words of one call; what follows `#--- file NAME` is a file of its own. @DIR@: the
/// directory.
class SshConfigSample {
 public:
  explicit SshConfigSample(const std::string& text) {
    std::istringstream lines(text);
    std::string path = directory_.path("config");
    std::map<std::string, std::string> files;
    const std::string mark = "#--- file ";
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# hosts: ")) {
        for (const std::string& host : words_of(line.substr(9))) calls_.push_back({host});
      } else if (line.starts_with("# ask: ")) {
        calls_.push_back(words_of(line.substr(7)));
      }
      if (line == "# OpenSSH 10 takes it") newer_ssh_takes_it_ = true;
      if (line.starts_with(mark)) {
        path = directory_.path(line.substr(mark.size(), line.find(" (") - mark.size()));
        if (line.ends_with("(mode 666)")) writable_.insert(path);
      } else {
        files[path] += replaced(line, "@DIR@", directory_.path()) + (lines.eof() ? "" : "\n");
      }
    }
    for (const auto& [file, content] : files) {
      std::filesystem::create_directories(std::filesystem::path(file).parent_path());
      std::ofstream(file, std::ios::binary) << content;
      ::chmod(file.c_str(), writable_.count(file) == 0 ? 0644 : 0666);
    }
  }

  const std::vector<Texts>& calls() const { return calls_; }
  std::string path() const { return directory_.path("config"); }
  bool has(const std::string& name) const { return directory_.has(name); }
  bool newer_ssh_takes_it() const { return newer_ssh_takes_it_; }

 private:
  TempDirectory directory_;
  std::vector<Texts> calls_;
  bool newer_ssh_takes_it_ = false;
  std::set<std::string> writable_;
};

}  // namespace podrun::test
