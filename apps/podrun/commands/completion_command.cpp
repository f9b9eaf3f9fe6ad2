// SPDX-License-Identifier: Apache-2.0
// `podrun completion`: prints a script for a shell, and answers that script.
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/config/config.hpp"
#include "podrun/hosts/discovery.hpp"

#include "cli/completion.hpp"
#include "cli/job_names.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

constexpr std::string_view kBash = R"(# source <(podrun completion bash)
_podrun() {
  mapfile -t COMPREPLY < <(podrun completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1)
  if [ "${COMPREPLY[*]}" = :nothing ]; then
    COMPREPLY=()
    compopt +o default 2>/dev/null
  fi
}
complete -o default -F _podrun podrun
)";

constexpr std::string_view kZsh = R"(#compdef podrun
# source <(podrun completion zsh)
_podrun() {
  local -a found described
  found=("${(@f)$(podrun completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z ${found[1]} ]]; then _files; return; fi
  if [[ ${found[1]} = :nothing ]]; then return 1; fi
  described=("${(@)found//:/\\:}")
  described=("${(@)described/$'\t'/:}")
  _describe podrun described
}
if [[ ${funcstack[1]} = _podrun ]]; then _podrun "$@"; else compdef _podrun podrun; fi
)";

constexpr std::string_view kFish = R"(# podrun completion fish | source
function __podrun_words
  set -l words (commandline -opc) (commandline -ct)
  podrun completion words $words[2..-1] 2>/dev/null | string match -v :nothing
end
complete -c podrun -a '(__podrun_words)'
)";

class CompletionCommand final : public cli::Command {
 public:
  int run(const cli::Context& context) override {
    const std::string& wanted = context.options.operands.front();
    if (wanted == "words") return context.answer(words(context));
    for (const auto& [shell, script] : {std::pair{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}}) {
      if (wanted == shell) return context.answer(std::string(script));
    }
    throw UsageError(fmt::format("completion: no script for \"{}\" (expected bash, zsh or fish)", wanted));
  }

 private:
  static std::string words(const cli::Context& context) {
    const cli::CompletionSources sources{
        .hosts = [&] { return names(context); },
        .workers = [&] { return numbers(context); },
        .pods = [&] { return pods(context); },
        .jobs = [&] { return cli::seen_job_names(context.probe); },
    };
    std::string text;
    for (const std::string& line :
         cli::completions(context.options.rest, context.commands, context.table, sources))
      text += line + '\n';
    return text;
  }
  /// Empty if they cannot be found: nobody has asked for them yet.
  static std::vector<hosts::Host> found(const cli::Context& context) {
    try {
      return hosts::discover(context.options.hosts, context.probe).all;
    } catch (const UsageError&) {
      return {};
    }
  }
  static std::vector<std::string> names(const cli::Context& context) {
    std::vector<std::string> names;
    for (const hosts::Host& host : found(context)) names.push_back(host.name);
    return names;
  }
  static std::vector<std::string> numbers(const cli::Context& context) {
    std::vector<std::string> numbers;
    for (const hosts::Host& host : found(context)) numbers.push_back(std::to_string(host.worker));
    return numbers;
  }
  static std::vector<std::string> pods(const cli::Context& context) {
    std::vector<std::string> names;
    if (!context.config.config) return names;
    for (const config::ConfigSection& pod : context.config.config->pods) names.push_back(pod.name);
    return names;
  }
};

}  // namespace

std::unique_ptr<cli::Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace podrun::commands
