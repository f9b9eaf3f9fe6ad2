// SPDX-License-Identifier: Apache-2.0
// The rows: what each podrun command is called, takes and does.
#include <array>

#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

using enum cli::OptionSet;
constexpr cli::OptionSets kWhatRunTakes{reach,     general, looks,  connect_timeout, start,   surroundings,
                                        directory, timeout, script, clean_up,        batches, restarts,
                                        notify,    output,  json,   force,           dry_run};

constexpr cli::OptionSets kWhatTasksTake{reach,   general,  looks, connect_timeout, start,  surroundings,
                                         timeout, clean_up, task,  restarts,        notify, output,
                                         json,    spread,   force, dry_run};

constexpr std::string_view kWorkdirOfTasks =
    "--cwd and --chdir: a task runs in ~/sky_workdir (leave them out; workdir: of the task file says what is "
    "copied there)";
constexpr std::array<cli::Refusal, 2> kRefusedByTasks{{{"cwd", kWorkdirOfTasks}, {"chdir", kWorkdirOfTasks}}};

constexpr std::array<cli::ShortForm, 2> kFollow{{{"-f", "--follow"}, {"-F", "--follow"}}};

constexpr std::array<cli::ShortForm, 1> kCount{{{"-n", "--count"}}};

constexpr std::array<cli::CommandRow, 22> kRows{{
    {.name = "run",
     .usage = "  podrun [OPTIONS] -- COMMAND [ARG...]     run a command on every host\n"
              "  podrun [OPTIONS] -s SCRIPT [-- ARG...]   run a local script on every host\n"
              "  echo TEXT | podrun [OPTIONS]             run shell text on every host\n",
     .summary = "Run a command on every host, at once, and print its output live",
     .examples = "  podrun -- nvidia-smi -L                on the hosts that podrun finds\n"
                 "  podrun -- 'cd app && git pull'         shell text, quoted as for ssh\n"
                 "  podrun -H 'tpu-[0-15]' -- uptime       on these hosts\n"
                 "  podrun -d -- python train.py           lines that hosts share appear once\n"
                 "  podrun -s setup.sh -- --fast           a local script\n"
                 "  podrun -icw -- ~/venv/bin/python -c 'import jax; print(jax.device_count())'\n",
     .takes = kWhatRunTakes,
     .runs_users_command = true,
     .make = make_run_command},
    {.name = "hosts",
     .usage = "  podrun hosts [OPTIONS]\n",
     .summary = "List the hosts, and where they were found",
     .examples = "  podrun hosts                           which hosts, and from which source\n"
                 "  podrun -H 'tpu-[0-15]' hosts --save    write them to ~/podips.txt\n"
                 "  podrun hosts --forget-keys             after a pod was recreated\n",
     .page = "configuration",
     .takes = {reach, general, looks, json, force},
     .make = make_hosts_command},
    {.name = "check",
     .usage = "  podrun check [OPTIONS]\n",
     .summary = "Test that every host can be reached, and that all agree",
     .examples = "  podrun check                       are all up, and do they agree?\n"
                 "  podrun check --wait 10m --dir app  wait for the hosts; compare commits, too\n",
     .page = "check",
     .takes = {reach, general, looks, connect_timeout, start, timeout, json, dry_run},
     .make = make_check_command},
    {.name = "push",
     .usage = "  podrun push [OPTIONS] SRC... DEST\n",
     .summary = "Copy local files to every host, all at once or not at all",
     .examples = "  podrun push . app                      this directory, to ~/app on every host\n"
                 "  podrun push setup.sh src /tmp          a file and a directory, into /tmp\n"
                 "  podrun push --delete src/ app/src      also delete files that are only there\n"
                 "  podrun push --dry-run . app            only show what would be sent\n"
                 "  podrun push 3:ckpt data                from worker 3 to all others\n",
     .page = "files",
     .takes = {reach, general, looks, connect_timeout, start, json, files, spread, force, dry_run},
     .operands = {.least = 2,
                  .most = cli::Operands::kAnyNumber,
                  .missing = "which files, and where to on the hosts? (podrun push SRC... DEST)"},
     .make = make_push_command},
    {.name = "pull",
     .usage = "  podrun pull [OPTIONS] SRC... DEST\n",
     .summary = "Copy files from every host to DEST/<worker>-<host>/",
     .examples = "  podrun pull logs results               to results/0-tpu-0/logs and so on\n"
                 "  podrun pull 'ckpt/*.npz' results       quote patterns: the hosts expand them\n"
                 "  podrun pull logs/ results              the contents of logs, not logs itself\n"
                 "  podrun pull --dry-run logs results     only show what would be copied\n",
     .page = "files",
     .takes = {reach, general, looks, connect_timeout, start, json, files, dry_run},
     .operands = {.least = 2,
                  .most = cli::Operands::kAnyNumber,
                  .missing = "which files on the hosts, and where to? (podrun pull SRC... DEST)"},
     .make = make_pull_command},
    {.name = "launch",
     .usage = "  podrun launch [OPTIONS] TASK.yaml\n",
     .summary = "Copy a task's files, run its setup, then run it on every host",
     .examples = "  podrun launch task.yaml                SkyPilot's task files work too\n"
                 "  podrun launch -e STEPS=10 task.yaml    with another value of a variable\n"
                 "  podrun launch --detach task.yaml       run becomes a job (podrun logs NAME)\n"
                 "  podrun launch --dry-run task.yaml      only show what would be done\n",
     .page = "tasks",
     .takes = kWhatTasksTake,
     .operands = {.least = 1, .most = 1, .missing = "which task? (podrun launch TASK.yaml)"},
     .refusals = kRefusedByTasks,
     .make = make_launch_command},
    {.name = "exec",
     .usage = "  podrun exec [OPTIONS] TASK.yaml\n",
     .summary = "Copy a task's workdir, then run it on every host, without setup",
     .examples = "  podrun exec task.yaml                  after a change of the code\n",
     .page = "tasks",
     .takes = kWhatTasksTake,
     .operands = {.least = 1,
                  .most = 1,
                  .missing = "which task? (podrun exec TASK.yaml; a command: podrun -- COMMAND)"},
     .refusals = kRefusedByTasks,
     .make = make_exec_command},
    {.name = "start",
     .usage = "  podrun start [OPTIONS] NAME -- COMMAND [ARG...]\n",
     .summary = "Start a job that outlives this terminal, on every host or on none",
     .examples = "  podrun start train -- python train.py  returns when every host runs it\n"
                 "  podrun start train --restarts 20 --stall 30m -icw -- python train.py\n"
                 "                                         kept by this machine, which starts it again\n"
                 "  podrun logs -f train                   its output, until it ends\n"
                 "  podrun ps                              which jobs there are\n"
                 "  podrun stop train                      TERM, a grace period, KILL\n",
     .page = "jobs",
     .takes = kWhatRunTakes,
     .operands = {.least = 1,
                  .most = 1,
                  .missing = "which name, and which command? (podrun start NAME -- COMMAND)",
                  .has_command = true},
     .make = make_start_command},
    {.name = "ps",
     .usage = "  podrun ps [OPTIONS] [NAME...]\n",
     .summary = "List the jobs, and their state on every host",
     .examples = "  podrun ps                              all jobs\n"
                 "  podrun ps --json train                 one of them, for programs\n",
     .page = "jobs",
     .takes = {reach, general, looks, connect_timeout, start, json, dry_run},
     .operands = {.most = cli::Operands::kAnyNumber, .is_job = true},
     .make = make_ps_command},
    {.name = "logs",
     .usage = "  podrun logs [OPTIONS] NAME...\n",
     .summary = "Show what a job has printed, or follow it",
     .examples = "  podrun logs train                      what is there\n"
                 "  podrun logs -f -d train                follow it; lines of many hosts once\n"
                 "  podrun logs -n 20 --workers 3 train    the last lines of one host\n"
                 "  podrun logs --grep 'loss|nan' train    lines that match; the hosts search\n"
                 "  podrun logs --try all -n 5 train       how each start has ended\n",
     .page = "jobs",
     .takes = {reach, general, looks, connect_timeout, start, output, json, force, dry_run},
     .operands = {.least = 1,
                  .most = cli::Operands::kAnyNumber,
                  .missing = "of which job? (podrun logs NAME; podrun ps lists them)",
                  .is_job = true},
     .short_forms = kFollow,
     .make = make_logs_command},
    {.name = "wait",
     .usage = "  podrun wait [OPTIONS] NAME...\n",
     .summary = "Wait until a job has ended, and exit as it did",
     .examples = "  podrun wait train && podrun pull ckpt results\n"
                 "  podrun wait -u 2h train                124 if it still runs then\n"
                 "  podrun wait --notify './tell.sh' train tell.sh reads the result as JSON\n",
     .page = "jobs",
     .takes = {reach, general, looks, connect_timeout, start, timeout, notify, json, dry_run},
     .operands = {.least = 1,
                  .most = cli::Operands::kAnyNumber,
                  .missing = "for which job? (podrun wait NAME; podrun ps lists them)",
                  .is_job = true},
     .make = make_wait_command},
    {.name = "stop",
     .usage = "  podrun stop [OPTIONS] NAME...\n",
     .summary = "Stop a job: TERM, a grace period, KILL, on all hosts at once",
     .examples = "  podrun stop train\n"
                 "  podrun stop --grace 2m train           more time to write a checkpoint\n",
     .page = "jobs",
     .takes = {reach, general, looks, connect_timeout, start, json, dry_run},
     .operands = {.least = 1,
                  .most = cli::Operands::kAnyNumber,
                  .missing = "which job? (podrun stop NAME; podrun ps lists them)",
                  .is_job = true},
     .make = make_stop_command},
    {.name = "rm",
     .usage = "  podrun rm [OPTIONS] NAME... | --all\n",
     .summary = "Remove the files of a job that has ended",
     .examples = "  podrun rm train\n"
                 "  podrun rm --all                        of all jobs that have ended\n",
     .page = "jobs",
     .takes = {reach, general, looks, connect_timeout, start, json, dry_run},
     .operands = {.most = cli::Operands::kAnyNumber, .is_job = true},
     .make = make_rm_command},
    {.name = "top",
     .usage = "  podrun top [OPTIONS]\n",
     .summary = "Show what all hosts do, the odd ones first",
     .examples = "  podrun top                             a screen; ? shows the keys\n"
                 "  podrun top --once                      a table for a pipe\n"
                 "  podrun top --json -n 10                samples, for programs\n",
     .page = "top",
     .takes = {reach, general, looks, connect_timeout, start, json, dry_run},
     .short_forms = kCount,
     .make = make_top_command},
    {.name = "kill",
     .usage = "  podrun kill [OPTIONS]\n",
     .summary = "Free the accelerators: stop what still has them open, safely",
     .examples = "  podrun kill                            list the processes, ask, stop them\n"
                 "  podrun kill --dry-run                  only list them\n"
                 "  podrun kill -y --match train.py        without a question, only those\n",
     .page = "kill",
     .takes = {reach, general, looks, connect_timeout, start, json, dry_run},
     .make = make_kill_command},
    {.name = "shell",
     .usage = "  podrun shell [OPTIONS]\n",
     .summary = "Prompt for commands; each line runs on every host",
     .examples = "  podrun shell                           :help lists what the prompt knows\n"
                 "  podrun shell -d --workers 0-7          lines that hosts share appear once\n"
                 "  podrun shell <steps.txt                the commands of a file, no prompt\n",
     .page = "shell",
     .takes = {reach, general, looks, connect_timeout, start, surroundings, directory, timeout, output,
               force},
     .make = make_shell_command},
    {.name = "config",
     .usage = "  podrun config [OPTIONS]\n",
     .summary = "Show the options in effect, and where each comes from",
     .examples = "  podrun config                          what config.yaml and defaults set\n"
                 "  podrun -p my-tpu config                with a pod of config.yaml\n",
     .page = "configuration",
     .takes = kWhatRunTakes,
     .make = make_config_command},
    {.name = "ssh",
     .usage = "  podrun ssh [OPTIONS] WORKER [ARG...]\n",
     .summary = "Start your own ssh to a host (by worker number or name)",
     .examples = "  podrun ssh 3                           a shell on worker 3\n"
                 "  podrun ssh 3 nvidia-smi                one command there\n",
     .takes = {reach, general, looks, connect_timeout, dry_run},
     .operands = {.least = 1,
                  .most = 1,
                  .missing = "which host? (podrun ssh WORKER; podrun hosts lists them)",
                  .is_host = true,
                  .rest_is_its_own = true},
     .make = make_ssh_command},
    {.name = "help",
     .usage = "  podrun help [COMMAND | PAGE | WORD... | pages | all | man]\n",
     .summary = "Show the page of a command or a subject, every option, or search them",
     .examples = "  podrun help kill                       what the command does, and its options\n"
                 "  podrun help hang                       no page: what the others say of it\n"
                 "  podrun help pages                      which pages there are\n"
                 "  podrun help tutorial | less            from a new pod to a finished training\n"
                 "  podrun help all                        every option\n",
     .takes = {general},
     .operands =
         {.most = cli::Operands::kAnyNumber, .words = "all man pages", .is_command = true, .is_page = true},
     .reads_config = false,
     .is_rarely_used = true,
     .make = make_help_command},
    {.name = "example",
     .usage = "  podrun example [NAME]\n",
     .summary = "Print an example: a script for -s @NAME, or a YAML file",
     .examples = "  podrun example                         which examples there are\n"
                 "  podrun -b -s @stacks -- train.py       run one of the scripts on all hosts\n"
                 "  podrun example task >task.yaml         a task file to begin with\n",
     .takes = {general},
     .operands = {.most = 1, .is_example = true},
     .reads_config = false,
     .is_rarely_used = true,
     .make = make_example_command},
    {.name = "completion",
     .usage = "  podrun completion bash | zsh | fish\n",
     .summary = "Print the script that completes podrun's options in a shell",
     .examples = "  source <(podrun completion bash)       in ~/.bashrc; zsh in ~/.zshrc\n"
                 "  podrun completion fish | source        in ~/.config/fish/config.fish\n",
     .takes = {general},
     .operands = {.least = 1,
                  .most = 1,
                  .missing = "for which shell? (bash, zsh or fish)",
                  .words = "bash zsh fish",
                  .rest_is_its_own = true},
     .is_rarely_used = true,
     .make = make_completion_command},
    {.name = "version",
     .usage = "  podrun version [-v]\n",
     .summary = "Print the version and its commit; -v: libraries and system, too",
     .takes = {general},
     .reads_config = false,
     .is_rarely_used = true,
     .make = make_version_command},
}};

}  // namespace

std::span<const cli::CommandRow> command_table() { return kRows; }

}  // namespace podrun::commands
