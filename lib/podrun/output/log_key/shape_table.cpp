// SPDX-License-Identifier: Apache-2.0
// The table of shapes: which parts of a log line `--dedup=log` and `--dedup=numbers` leave out. A new form is
// a row here and its test.
#include <algorithm>
#include <iterator>

#include "podrun/output/log_key/shapes.hpp"

namespace podrun::output {
namespace {

constexpr Piece kPieces[] = {
    {"mon", "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"},
    {"clock", "{00-23}:{00-59}:{00-60}"},
    {"comma", R"(,\d\d\d(\d\d\d)?&([ \t\])}>:;"'|Z]|[+-]\d\d))"},  // else it ends a column of a table
    {"fraction", R"((\.\d{1,9}|{comma}))"},
    {"zone", R"((Z|[+-]{00-14}:?(00|15|30|45)))"},
    {"time_end", R"(&([^\w/:.+-]|:([^\d]|$)|[.+-]([^\w]|$)|$))"},
    {"iso_date", R"(\d{4}[-/.]{01-12}[-/.]{01-31})"},
    {"date", R"(({iso_date}|{01-12}/{01-31}/\d{4}|{01-31}[-/.]{01-12}[-/.]\d{4}|{01-31}/{mon}/\d{4}))"},
    {"time_tail", "{fraction}?{zone}?{time_end}"},
    {"clock_end", R"(([ T_:]|, ?){clock}{time_tail})"},
    {"datetime", R"({date}{clock_end})"},
    {"short_date", R"(({01-12}[-/]{01-31}|{01-12}/{01-31}/\d\d) )"},
    {"named_date", R"(((Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?{mon} [ \d]\d )"},
    {"line_clock", R"({clock}{fraction}?&([ \t\])|:]|$){time_end})"},
    {"bare_time", R"({clock}({fraction}{time_end}&([ \t\])|:])|{time_end}&([\t\])|:]|  *[^ \da-z])))"},
    {"glog_time", R"((\d{8}|\d\d\d\d?) ({clock}(\.\d+)?|00:00:\d{10}\.\d+))"},
    {"code", R"([^ \]:]+:\d+\])"},  // `file.cc:56]`
    {"LEVEL", R"((TRACE|DEBUG|INFO|NOTICE|SUCCESS|SUCC|WARNING|WARN|ERROR|ERR|FATAL|CRITICAL|PANIC)!(\w))"},
    {"low_level", R"(\[(info|debug|warning|warn|error|trace|critical|fatal)\])"},
    {"counted", "(step|epoch|iter|iteration|batch|rank|worker|host|node|gpu|device|shard|loss|default)"},
    {"host", R"([\w.-]+)"},
    {"color", R"(\e\[[\d;]*m)"},
    {"colors", R"(({color}{color}?{color}?)?)"},
    {"is", R"({colors} *({colors}[:=]{colors} *)?)"},  // between a name and its number
    {"rank_word",
     R"(!(~(local) *)\b(~(rank|global_rank|node_rank|node-rank|group_rank|world_rank|machine_rank|task|task_id|slurm_procid|slurm_nodeid|process_id|process_index|dist_rank|dp_rank)))"},
    {"machine_word",
     R"(!(~(local) *)\b(~(worker|worker_id|worker_index|host|host_id|host_index|node|node_id|node_index)))"},
    {"rank_end", R"(&([^\w%.,:+-]|[.,:+-]([^\d]|$)|$))"},
    {"int_end", R"(&([^\w.]|\.([^\d]|$)|$))"},
    {"pid_word", R"(\b(~(pid|ppid|tid)))"},
    {"things", "(file|sample|example|item|token|image|record|batch|step|row|line|document|shard|request)"},
    {"span", R"(\d+:\d\d(:\d\d)?)"},
    {"rate", R"([\d.?]+ ?(\a+/s|s/\a+))"},
    {"num", R"(\d+(,\d\d\d(,\d\d\d(,\d\d\d)?)?)?(\.\d+)?(e[+-]?\d+)?!(\d|[.,]\d))"},
    {"unit_end", R"(&([^\w%]|$))"},
    {"seconds", R"((s|sec|secs|second|seconds|ms|us|ns|min|minutes|msec|milliseconds))"},
};

using enum Row::Where;
using enum Row::Part;

constexpr Row kRows[] = {
    // The prefix of a line: tags that name the process, then time, level and process in any order.
    {start, R"({color})"},
    {start, R"(<g:\[~(rank)[ :=]? ?<R:\d+>\]>:? ?)"},
    {start, R"(<g:\[(default|\a+\d+\|)\d+\]>:)"},
    {start, R"(<g:\(([\w.:-]+ (\w+=\w+ )?)?pid=<p:\d+>(, ip=<i:[\d.a-f:]+>)?\)> ?)"},
    {start, R"(\(\a+, ip=<i:[\d.a-f:]+>\) )"},
    {start, R"(\(\a+\) &([\[\d(]))"},
    {start, R"(<g:\[\d+,<R:\d+>\]\<(stdout|stderr)\>>:)"},
    {start, R"(\[<n:@>:<p:\d+>\] )", none, first},
    {start, R"((stdout|stderr): )", none, first},
    {start, R"({host} \[(stdout|stderr)\] )", none, first},
    {start, R"(\<\d+\>1 <t:{datetime}> <n:{host}> [^ ]+ <p:\d+> )", rest},
    {start, R"(\<\d+\>)"},
    {start, R"(\[?[IWEFVDC]<t:{glog_time}>(<p: +\d+>)? {code})", rest},
    {start, R"([IWEFVDC]<p: +\d+> &({code}))", rest, time},
    {start, R"(\[<t:(\d{5,}|( \d|  )( \d|\d\d)\d\d|   \d\d|    \d)\.\d{6}>\] )", rest},
    {start, R"( *<g:<n:{host}>:<p:\d+>>:<p:\d+> \[\d+\] ([^ ]+ NCCL WARN|NCCL ))", rest},
    {start, R"(\[<t:{datetime}> [IWEFDC] <p:\d+> <p:\d+>\])", rest},
    {start, R"(\[<t:({datetime}|{clock})> <g:(DP|TP|PP|EP|CP)\d+( (TP|PP|EP|CP)\d+)?( (PP|EP)\d+)?>\])",
     time},
    {start, R"(<t:{iso_date}T{clock}{time_tail}>)", time | syslog},
    {start, R"([\[(]?<t:{iso_date}{clock_end}>( \+\d{4}&(\]))?[\])]?)", time},
    {start, R"([\[(]?<t:{date}{clock_end}>( \+\d{4}&(\]))?[\])]?)", time},
    {start, R"([\[(]?<t:{short_date}{line_clock}>[\])]?)", time},
    {start, R"([\[(]?<t:{named_date}{line_clock}>( \d{4}&(\]))?[\])]?)", time | syslog},
    {start, R"([\[(]?<t:{bare_time}>[\])]?)", time},
    {start, R"(\[[IWEFDC] <t:({date} )?{clock}{fraction}?>&([ \]]))", time},
    {start, R"((UTC|GMT|AM|PM)&( ))", none, time},
    {start, R"(\[{LEVEL}\|<g:DP=\d+\|[^\]]*>\])", level},
    {start, R"(\[?{LEVEL}&([ :|\e\t\]])\]?)", level},
    {start, R"({low_level})", level, time},
    {start, R"(\[<p:\d{3,}>\]( ?\[<p:\d{5,}>\])?&([ \[]))", process, time | level},
    {start, R"(\[<p:\d+>\]&( (\[?{LEVEL}|{low_level})))", process, time},
    {start, R"(\[<p:\d{3,}>\]&( ({color}|\[rank\d+\]: ?)?(\[?{LEVEL}.|{datetime})))", process},
    {start, R"(!({counted}\[)\a[\w.-]*\[<p:\d{3,}>\]: )", process},
    {start, R"(<p:\d+>&( - {LEVEL} ))", process, time},
    {start, R"(<p:\d{3,}>&( (- )?{LEVEL} ))", process},
    {start, R"(([\w.:#-]+ )?[\w.:#-]+ <p:\d{3,}>&( -- ))", process, time},
    {start, R"(<o:\d+>&( - [\a_]))", none, time},
    {start, R"(<n:{host}> kernel: \[<t: *\d+\.\d{6}>\] )", rest, syslog},
    {start, R"(<n:@> !({counted}\[)[^ \[]+\[<p:\d+>\]:)", process, time},
    {start, R"(<n:{host}> !({counted}\[)[^ \[]+\[<p:\d{3,}>\]:)", process, syslog},
    {start, R"(\[~(pid)[ :=]?\d+\])", none, time | level},
    {start, R"(\[[\w./-]+:\w+(:\w+)?\])", rest, time | level},
    {start, R"(<q:[/\\|-]>&( \[\d+))"},

    // Times after the prefix.
    {early, R"(!([/\w.-])<t:{datetime}>)"},
    {number, R"(( [\[(]|  |\| | - )<t:{datetime}>&([\])]?$))"},
    {number, R"(\[at <t:{datetime}>&(\]$))"},
    {number, R"(\(<t:{datetime}>&(\) ?-))"},
    {number,
     R"(\b~(time|ts|timestamp|datetime|date|asctime|created|@timestamp)["']? *[:=] *["']?<t:({datetime}|\d{10}(\d{3})?(\d{3})?(\d{3})?(\.\d+)?{int_end})>)"},
    {number, R"(\b~(eta|elapsed|remaining)["']? *[:=]? *<m:{span}>)"},
    {number, R"(Epoch \d+ \a+ \a+ <t:{clock}>)"},
    {number, R"((\a |\bTime=)<t:{clock}>&($))"},
    {number, R"(session_<t:\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_\d{6}>_<p:\d+>)"},
    {number, R"(tmp-<t:1\d{9}>&([^\w]|$))"},
    // Addresses in memory: user space has 47 or 48 bits, the kernel the end of 64; codes have 32, hashes 64.
    {number, R"(\b<x:0x(0{0,7}[1-9a-fA-F]\h{8,11}|ffff\h{12})>&([^\w]|$))"},
    {number, R"((@|\b(at|service|comm)) <x:0x0*[1-9a-fA-F]\h{5,7}>&([^\w]|$))"},
    // Progress bars.
    {number, R"( \[<q:{span}(\<({span}|\?))?, +{rate}>&([\],]))"},
    {number, R"(/s +<q:{span}>)"},
    // Ranks: the number of the host, and that of the process.
    {number, R"(\brank <R:\d+> nranks )"},
    {number, R"({rank_word}( index| id)?["']?{is}<o:\d+>{rank_end})"},
    {number, R"({machine_word}( index| id)?["']?{is}<O:\d+>{rank_end})"},
    {number, R"(!(~(local) *)\b~(process)( index| id)?["']?{is}<o:\d+>!(/){rank_end})"},
    {number, R"(/process_<o:\d+>{rank_end})"},
    {number, R"(\bDP=<o:\d+>{rank_end})"},
    {number, R"(\b(TP|PP|EP|CP)=<o:[1-9]\d*>{rank_end})"},
    {number, R"(\(global: <o:\d+>&(, ))"},
    {number, R"(\(<o:\d+>/<N:\d+>&(\) ))"},
    {number, R"(MEMBER: <1:\d+>/<N:\d+>)"},
    // Processes, threads and ports of clients.
    {number, R"({pid_word}["']?({colors}[:=]{colors} ?| )<p:\d+>{int_end})"},
    {number, R"("(process|thread|thread_id)["]: ?<p:\d+>{int_end})"},
    {number, R"(\b~(process)( id)? \[?<p:\d{3,}>!([\w/%]|[.,]\d| {things}))"},
    {number, R"((MainProcess|(Spawn|Fork)(Process|PoolWorker)-\d+):<p:\d+>{int_end})"},
    {number, R"(\b~(thread)( id)?[:=]? ?<p:\d{12,16}>{int_end})"},
    {number, R"((CPU: |\bcpu )<p:\d+>&( (PID: |from PID)))"},
    {number, R"(~(running|started) \(<p:\d+>\)$)"},
    {number, R"(\b~(session) <p:\d+>&( (of|for) user))"},
    {number, R"(\bport <p:\d+>&( ssh2))"},
    {number, R"(\d\.\d+:<p:\d+>&( - "))"},
    // Numbers that count in every mode.
    {numbers_only,
     R"(\b(~(exit|exitcode|exit_code|code|status|signal|returncode|return|rc|errno|rank))["'\]]?{is}[+-]?<k:\d+>{int_end})"},
    {numbers_only, R"(\b(DP|TP|PP|EP|CP|TPU_|GPU_)<#:\d+>{int_end})"},
    {numbers_only, R"(<#:\d+>%\|<#:[^|]*>&(\|))"},
    // Measures: rates, durations, memory.
    {number, R"(\b<m:{num}>&( ?(\a+/(s|sec|second)|/s|{seconds}/\a+|[KMGTP]FLOP[Ss]?(/\a+)?){unit_end}))"},
    {number, R"(\b<m:{num}>&( ?{seconds}{unit_end}))"},
    {number, R"(\b<m:\d+>&(([hm] ?\d+[ms]| reqs){unit_end}))"},
    {number, R"(~(allocated|reserved|used) <m:!(0[.0]* ?[KMGT]){num}>&( ?[KMGTP]i?B{unit_end}))"},
    {number,
     R"((\btime per \a+( \(\a+\))? *[:=] *|\b(Global)?Rate=|KV cache( size| usage| of the GPU): )<m:{num}>&([^\w.]|$))"},
    {number, R"(\b~(time) <m:\d+\.\d+>&([^\w]|$))"},
    {number, R"(!(/ ?)\b<m:!(0[.0]* ?[KMGT])\d+\.\d+>&( ?[KMGTP]i?B{unit_end}))"},
    {number, R"(([KMGTP]i?B ?\(|\bms )<m:{num}>&(%))"},
    {number,
     R"(~(per_sec|per_second|persec|per-second|per-sec|tps|mfu|hfu|tflops|tflop/s|throughput|per second|per sec|/s|/sec|/s/device|/s/chip|/s/gpu|/device|/chip|-compute|batch-generator|optimizer|time|elapsed|runtime|duration|latency|seconds|_ms|per_gpu|memory|mem|allocated|reserved|took)["']?( \(\a+(/\a+)?\))?[ .]*[:=|] *<m:{num}>&([KMGTP]?i?B?([^\w:.]|$)))"},
    {number, R"(\.\.: \(<m:{num}>, <m:{num}>\))"},
    {number, R"(\b<m:\d{6,}>&( bytes (on|of) (device|memory)))"},
    {number, R"(~(per_sec|per_second|per-second|per-sec|per second|per sec|tps|mfu) <m:{num}>&([^\w]|$))"},
    {number, R"(\((s|ms|t|MB|GB|MiB|GiB|\a+/s)\):? +<m:{num}>&([^\w.]|$))"},
};

/// The shapes of the rows that `has` takes; choice number i has those that `is_in` takes with i.
Shapes shapes_of(bool (*has)(const Row& row), std::size_t choices,
                 bool (*is_in)(const Row& row, unsigned choice)) {
  std::vector<Row> rows;
  std::copy_if(std::begin(kRows), std::end(kRows), std::back_inserter(rows), has);
  std::vector<std::uint64_t> masks(choices);
  for (unsigned choice = 0; choice < choices; ++choice) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (is_in(rows[i], choice)) masks[choice] |= std::uint64_t{1} << i;
    }
  }
  return {kPieces, std::move(rows), std::move(masks)};
}

bool is_in_prefix(const Row& row) { return row.where == start; }
bool is_at_number(const Row& row) { return row.where != start; }

bool may_follow(const Row& row, unsigned given) {
  if (given == LogShapes::kTagsOnly)
    return row.shape.find("<g:") != row.shape.npos || row.needs == first || (row.gives | row.needs) == none;
  if (row.needs == first) return given == none;
  return (row.gives & given) == 0 && (row.needs == none || (row.needs & given) != 0);
}

bool is_for(const Row& row, unsigned numbers) { return numbers != 0 || row.where != numbers_only; }

}  // namespace

LogShapes& log_shapes() {
  thread_local LogShapes shapes{shapes_of(is_in_prefix, LogShapes::kTagsOnly + 1, may_follow),
                                shapes_of(is_at_number, 2, is_for)};
  return shapes;
}

}  // namespace podrun::output
