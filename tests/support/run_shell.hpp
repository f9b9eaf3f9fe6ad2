// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace podrun::test {

/// A POSIX shell and how it is started as one.
struct Shell {
  std::string name;
  std::vector<std::string> words;
};
inline void PrintTo(const Shell& shell, std::ostream* out) { *out << shell.name; }

/// The shells that are /bin/sh on the usual hosts.
inline std::vector<Shell> host_shells() {
  return {{"dash", {"dash"}}, {"bash", {"bash", "--posix"}}, {"busybox", {"busybox", "sh"}}};
}

/// Also mksh and zsh, where they are installed.
inline std::vector<Shell> shells() {
  std::vector<Shell> all = host_shells();
  const auto installed = [](const char* name) {
    return std::filesystem::exists(std::filesystem::path("/bin") / name) ||
           std::filesystem::exists(std::filesystem::path("/usr/bin") / name);
  };
  if (installed("mksh")) all.push_back({"mksh", {"mksh"}});
  if (installed("zsh")) all.push_back({"zsh", {"zsh", "--emulate", "sh"}});
  return all;
}

/// Gives a parametrised test its shell's name.
struct ShellName {
  template <typename Info>
  std::string operator()(const Info& info) const {
    return info.param.name;
  }
};

using Texts = std::vector<std::string>;

struct ShellRun {
  std::string output;
  int exit_status = -1;  ///< -1: killed
};

/// Runs the words with a file of `input` as standard input, only PATH and `environment` in the environment.
inline ShellRun run_words(Texts words, std::string_view input = {}, Texts environment = {}) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) throw std::runtime_error("no temporary file");
  std::fwrite(input.data(), 1, input.size(), file);
  std::fflush(file);
  ::lseek(::fileno(file), 0, SEEK_SET);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(file), 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  environment.push_back(std::string("PATH=") + std::getenv("PATH"));
  const auto pointers = [](Texts& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  };
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, words.front().c_str(), &actions, nullptr, pointers(words).data(),
                                   pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::fclose(file);

  ShellRun run;
  if (error == 0) {
    std::array<char, 65536> buffer{};
    for (ssize_t count; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
      run.output.append(buffer.data(), static_cast<std::size_t>(count));
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (WIFEXITED(status)) run.exit_status = WEXITSTATUS(status);
  }
  ::close(ends[0]);
  if (error != 0) throw std::runtime_error("cannot run " + words.front());
  return run;
}

/// The same with `<shell> <arguments>`.
inline ShellRun run_shell(const Shell& shell, const Texts& arguments, std::string_view input = {},
                          Texts environment = {}) {
  Texts words = shell.words;
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_words(std::move(words), input, std::move(environment));
}

/// Texts that each end in a NUL byte.
inline Texts split_at_nul(std::string_view bytes) {
  Texts texts;
  for (std::size_t end; (end = bytes.find('\0')) != std::string_view::npos; bytes.remove_prefix(end + 1)) {
    texts.emplace_back(bytes.substr(0, end));
  }
  if (!bytes.empty()) texts.push_back(std::string(bytes) + "<no NUL>");
  return texts;
}

/// Any bytes but NUL.
inline std::string random_text(std::mt19937& random, std::size_t size) {
  std::uniform_int_distribution<int> byte(1, 255);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(byte(random));
  return text;
}

/// Texts that a shell might not read back: every byte alone, every ASCII byte in a word and at its ends,
/// what acts at a word's start, and many at random.
inline Texts awkward_words(unsigned seed) {
  Texts words = {
      "",   "-n",   "--",    "-",     "~",     "~root", "a=b", "=ls", "!",          "!!",           "*",
      "?",  "[a]",  "{a,b}", "$HOME", "`id`",  "$(id)", "#a",  "\\",  "\\\n",       "'\"'\"'",      "\n\n",
      "if", "a\\c", "\n",    "'",     "%s\\0", "a b",   " ",   "\t",  "a\r\nb\r\n", "\xc3\xa4\xff", "''"};
  for (int byte = 1; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    words.push_back(text);
    words.push_back("a" + text + "b");
    words.push_back(text + "a" + text);
  }
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::size_t> size(0, 40);
  for (int i = 0; i < 300; ++i) words.push_back(random_text(random, size(random)));
  return words;
}

}  // namespace podrun::test
