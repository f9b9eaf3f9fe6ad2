// SPDX-License-Identifier: Apache-2.0
// The table of shapes: what `--dedup=log` leaves out of a line, and what it never does.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "podrun/output/log_key/line_key.hpp"

namespace podrun::output {
namespace {

LineKey make_key(std::size_t worker, const std::string& name, std::size_t rank,
                 const std::vector<std::string>& also = {}) {
  hosts::Host host;
  host.worker = worker;
  host.name = name;
  LineKey key(host, rank, {.same = Same::log_line}, 64);
  key.add_names(also);
  return key;
}

const LineKey kThree = make_key(3, "tpu-3.c.pod.internal", 3, {"10.0.0.3", "2001:db8::3"});
const LineKey kTwelve = make_key(12, "tpu-12.c.pod.internal", 12, {"10.0.0.12", "2001:db8::12"});

/// The key of a host that has printed nothing before.
std::string key_of(LineKey host, std::string_view line) { return std::string(host.key(line)); }

/// A line of a host, given with its fields in `{}`.
struct Marked {
  std::string line;
  std::string counts;          ///< the line without its fields
  std::vector<bool> in_field;  ///< for each byte of the line
};

Marked read_marks(std::string_view text) {
  Marked marked;
  bool inside = false;
  for (const char c : text) {
    if (c == '{' || c == '}') {
      inside = c == '{';
      continue;
    }
    marked.line += c;
    marked.in_field.push_back(inside);
    if (!inside) marked.counts += c;
  }
  return marked;
}

/// The part of the line that is in its key.
std::string counted(const std::string& key) {
  std::string text;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '\n') {
      ++i;
    } else {
      text += key[i];
    }
  }
  return text;
}

/// One line as tpu-3 and as tpu-12 print it.
struct Pair {
  std::string_view three;
  std::string_view twelve;
};

// Lines of many tools, in pairs that count as equal.
constexpr Pair kSame[] = {
    // clang-format off
    // glog, absl: C++ and Python, before its initialisation, with the year, of gRPC and of torchrun
    {"I{1121 13:00:01.123456}{  1234} file.cc:56] loss 2.31", "I{1121 13:00:02.654321}{ 98765} file.cc:56] loss 2.31"},
    {"I{20261121 13:00:01.123456}{  1234} file.cc:56] done", "I{20261121 12:59:59.999999}{ 123456} file.cc:56] done"},
    {"I{1121 13:00:01.123456}{ 139641357117440} train.py:146] epoch:  9, train_loss: 0.0120",
     "I{1121 13:00:01.523456}{ 140641357117440} train.py:146] epoch:  9, train_loss: 0.0120"},
    {"I{1121 13:00:01.123456} train.py:146] Loading", "I{1121 13:00:05.000001} train.py:146] Loading"},
    {"E{0000 00:00:1750688708.806475}{  179026} cuda_dnn.cc:8579] Unable to register cuDNN factory",
     "E{0000 00:00:1750688709.857682}{    1997} cuda_dnn.cc:8579] Unable to register cuDNN factory"},
    {"I{0000 00:00:1718392474.370713}{     806} cpu_client.cc:467] TfrtCpuClient created.",
     "I{0000 00:00:1718392475.1}{     807} cpu_client.cc:467] TfrtCpuClient created."},
    {"E{0410 21:04:57.403257842}{   30715} f758.cc:310]                no server name supplied in dns URI",
     "E{0410 21:04:57.403295131}{    4711} f758.cc:310]                no server name supplied in dns URI"},
    {"W{0219 09:17:03.837000}{ 140066961602368} torch/distributed/elastic/multiprocessing/api.py:858] closing",
     "W{0219 09:17:04.838000}{ 139066961602368} torch/distributed/elastic/multiprocessing/api.py:858] closing"},
    // PyTorch's prefixes; torchrun's number counts, since it is local
    {"[rank{3}]:[W{403 11:42:02.380967152} ProcessGroupNCCL.cpp:1250] Warning: process group has NOT been destroyed",
     "[rank{12}]:[W{403 11:42:02.4} ProcessGroupNCCL.cpp:1250] Warning: process group has NOT been destroyed"},
    {"[rank{3}]:[W{1121 15:16:15.503072590} socket.cpp:752] [c10d] retry 2", "[rank{12}]:[W{1121 15:16:16.1} socket.cpp:752] [c10d] retry 2"},
    {"[rank{3}]: Traceback (most recent call last):", "[rank{12}]: Traceback (most recent call last):"},
    {"[rank{3}]:V{0131 07:44:13.123000}{ 12345} torch/_dynamo/guards.py:33] [0/0] GUARDS:",
     "[rank{12}]:V{0131 07:44:14.123000}{ 9} torch/_dynamo/guards.py:33] [0/0] GUARDS:"},
    {"[default0]:{00:19:20}    INFO Starting training loop (max_steps=100)",
     "[default0]:{00:19:21}    INFO Starting training loop (max_steps=100)"},
    {"[default0]:[rank{3}]: ValueError: 7", "[default0]:[rank{12}]: ValueError: 7"},
    {"[E{1121 13:00:01.123456789} ProcessGroupNCCL.cpp:616] [Rank {3}] Watchdog caught collective operation timeout",
     "[E{1121 13:00:01.9} ProcessGroupNCCL.cpp:616] [Rank {12}] Watchdog caught collective operation timeout"},
    // XLA and TensorFlow
    {"{2026-11-21 13:00:01.123456}: I external/xla/xla/service/service.cc:168] XLA service {0x55d4c8a1b2c0} initialized for platform CUDA",
     "{2026-11-21 13:00:02.654321}: I external/xla/xla/service/service.cc:168] XLA service {0x5581a20c4e10} initialized for platform CUDA"},
    {"XLA service {0x4c8a2b0} initialized", "XLA service {0x5d9b3c1} initialized"},
    // Python's logging
    {"{2026-11-21 13:00:01,123} - trainer - INFO - loss: 2.31", "{2026-11-21 13:00:01,987} - trainer - INFO - loss: 2.31"},
    {"[{2026-11-21 13:00:01,123}][INFO] step 100", "[{2026-11-21 13:00:01,124}][INFO] step 100"},
    {"[{2023-06-18 23:37:18,773}] [INFO] [comm.py:594:init_distributed] cdb=None",
     "[{2023-06-18 23:37:19,177}] [INFO] [comm.py:594:init_distributed] cdb=None"},
    {"{2026-11-21 13:00:01,123} [{1234}] [MainThread] INFO started", "{2026-11-21 13:00:01,125} [{98765}] [MainThread] INFO started"},
    {"{2026-11-21 13:00:01,123} [{1234}] [{139812345678912}] [INFO] started",
     "{2026-11-21 13:00:01,125} [{98765}] [{139812345670000}] [INFO] started"},
    {"{2026-11-21 13:00:01,123} - {1234} - INFO - started", "{2026-11-21 13:00:01,125} - {77} - INFO - started"},
    {"[{2026-11-21 13:00:01} +0000] [{1234}] [INFO] Booting worker", "[{2026-11-21 13:00:02} +0000] [{99}] [INFO] Booting worker"},
    {"{2026-11-21 13:00:01,123}:INFO:root:msg", "{2026-11-21 13:00:01,321}:INFO:root:msg"},
    {"INFO:root:msg", "INFO:root:msg"},
    {"INFO:{2026-11-21 13:00:01,123}: msg", "INFO:{2026-11-21 13:00:01,321}: msg"},
    {"{11/21/2026 13:00:01} - INFO - __main__ -   Num examples = 50000", "{11/21/2026 13:00:02} - INFO - __main__ -   Num examples = 50000"},
    {"[INFO|trainer.py:1721] {2026-11-21 13:00:01,123} >>   Num Epochs = 3", "[INFO|trainer.py:1721] {2026-11-21 13:00:01,700} >>   Num Epochs = 3"},
    {"INFO {05-04 17:04:18} [config.py:717] This model supports 5 tasks", "INFO {05-04 17:04:19} [config.py:717] This model supports 5 tasks"},
    {"WARNING {08-18 10:33:52} config.py:284] Casting torch.bfloat16 to torch.float16.",
     "WARNING {08-18 10:33:59} config.py:284] Casting torch.bfloat16 to torch.float16."},
    // Loguru, rich, detectron2, lightning-fast loggers of other languages
    {"{2026-11-21 13:00:01.123} | INFO     | mod:fn:12 - msg", "{2026-11-21 13:00:01.999} | INFO     | mod:fn:12 - msg"},
    {"\x1b[32m{2026-11-21 13:00:01.123}\x1b[0m | \x1b[1mINFO    \x1b[0m | mod:fn:12 - msg",
     "\x1b[32m{2026-11-21 13:00:01.999}\x1b[0m | \x1b[1mINFO    \x1b[0m | mod:fn:12 - msg"},
    {"[{11/21/26 13:00:01}] INFO     msg                 file.py:33", "[{11/21/26 13:00:02}] INFO     msg                 file.py:33"},
    {"[{13:00:01}] INFO     msg", "[{13:00:07}] INFO     msg"},
    {"\x1b[32m[{05/12 13:00:01} d2.utils.events]: \x1b[0m eta:{ 0:12:13}  iter: 19  total_loss: 2.31",
     "\x1b[32m[{05/12 13:00:02} d2.utils.events]: \x1b[0m eta:{ 0:12:15}  iter: 19  total_loss: 2.31"},
    {"{16:33:45.833} [info] Using BFC allocator.", "{16:33:45.901} [info] Using BFC allocator."},
    {"{2026/11/21 13:00:01} main.go:12: listening", "{2026/11/21 13:00:02} main.go:12: listening"},
    // ISO 8601, alone, in brackets and after parts of a prefix
    {"{2026-11-21T13:00:01.123456789Z} stdout F step 3", "{2026-11-21T13:00:01.2Z} stdout F step 3"},
    {"[{2026-11-21T13:00:01+00:00}] up", "[{2026-11-21T13:00:02+00:00}] up"},
    {"{2026-11-21 13:00:01-0800} up", "{2026-11-21 13:00:02-0800} up"},
    {"INFO {2026-11-21 13:00:01} up", "INFO {2026-11-21 13:00:59} up"},
    {R"(("time":"{2026-11-21T13:00:01Z}","step":100,"loss":2.31))", R"(("time":"{2026-11-21T13:00:03Z}","step":100,"loss":2.31))"},
    // syslog and the kernel
    {"{Nov 21 13:00:01} {tpu-3} proc[{1234}]: msg 5", "{Nov 21 13:00:09} {tpu-12} proc[{98765}]: msg 5"},
    {"{Nov  1 13:00:01} {tpu-3} kernel: oom", "{Nov  1 13:00:09} {tpu-12} kernel: oom"},
    {"{2026-11-21T13:00:01+0000} {tpu-3} sshd[{1234}]: Accepted", "{2026-11-21T13:00:01+0000} {tpu-12} sshd[{4}]: Accepted"},
    {"<165>1 {2026-11-21T13:00:01.003Z} {tpu-3.c.pod.internal} app {1234} ID47 - msg",
     "<165>1 {2026-11-21T13:00:01.9Z} {tpu-12.c.pod.internal} app {99} ID47 - msg"},
    {"<34>{Nov 21 13:00:01} {tpu-3} su[{123}]: failed", "<34>{Nov 21 13:00:02} {tpu-12} su[{321}]: failed"},
    {"[{12345.678901}] usb 1-1: reset", "[{99999.000001}] usb 1-1: reset"},
    {"[{    0.000000}] Linux version 5.13.0", "[{    1.500000}] Linux version 5.13.0"},
    {"[{Sat Nov 21 13:00:01} 2026] oom", "[{Sun Nov 22 00:00:01} 2026] oom"},
    // a process after a time, and a host that podrun knows by another name
    {"{2026-11-22 08:00:00} INFO [{4191}] train.py:42 step 7", "{2026-11-22 08:00:01} INFO [{665}] train.py:42 step 7"},
    {"{Nov 22 08:00:00} {h} trainer[{4905}]: step 9", "{Nov 22 08:00:01} {node7} trainer[{665}]: step 9"},
    {"{2026-11-22 08:00:00} trainer[{4905}]: step 9", "{2026-11-22 08:00:01} trainer[{665}]: step 9"},
    {"{2026-11-22 08:00:00,123456} [{665}] step 7", "{2026-11-22 08:00:01,000001} [{4191}] step 7"},
    {"[{665}] {2026-11-22 08:00:00} step 7", "[{4191}] {2026-11-22 08:00:01} step 7"},
    {"{2026-11-21 13:00:01,123} [{100}] INFO: loss 2.31", "{2026-11-21 13:00:01,123} [{101}] INFO: loss 2.31"},
    {"{2026-11-21 13:00:01} [{1234}] [{139812345678912}] {tpu-3}:{1}:{2} [0] NCCL INFO x",
     "{2026-11-21 13:00:02} [{98765}] [{139812345678913}] {tpu-12}:{3}:{4} [0] NCCL INFO x"},
    // a process without a time: Python, Ray and SkyPilot, syslog, multiprocessing, JSON
    {"INFO [{915}] train.py:42 loss 2.31", "INFO [{98765}] train.py:42 loss 2.31"},
    {"[{915}] INFO loss 2.31", "[{98765}] INFO loss 2.31"},
    {"{915} INFO loss 2.31", "{98765} INFO loss 2.31"},
    {"{2026-11-23 01:27:24,965} {396} INFO loss 2.31", "{2026-11-23 01:27:25,001} {98765} INFO loss 2.31"},
    {"{2026-11-23 01:27:24,965} 96 INFO loss 2.31", "{2026-11-23 01:27:25,001} 96 INFO loss 2.31"},
    {"{2026-11-23 01:27:24,965} 396 examples", "{2026-11-23 01:27:25,001} 396 examples"},
    {"started, pid={915}", "started, pid={98765}"},
    {"worker (PID {915}) is up", "worker (PID {98765}) is up"},
    {"(train pid={915}, ip={10.0.0.3}) loss 2.31", "(train pid={98765}, ip={10.0.0.12}) loss 2.31"},
    {"(train pid={915}, ip={10.9.9.1}) loss 2.31", "(train pid={98765}, ip={10.9.9.2}) loss 2.31"},
    {"trainer[{915}]: loss 2.31", "trainer[{98765}]: loss 2.31"},
    {"[MainProcess:{915}] loss 2.31", "[MainProcess:{98765}] loss 2.31"},
    {"ForkPoolWorker-3:{915} up", "ForkPoolWorker-3:{98765} up"},
    {R"(("ts":{1795336096.97},"pid":{915},"loss":2.31))", R"(("ts":{1795336097.1},"pid":{98765},"loss":2.31))"},
    // vLLM, Ray, Ray Serve, raylet
    {"(EngineCore_DP0 pid={4000}) INFO {11-22 08:28:10} [core.py:61] ready", "(EngineCore_DP0 pid={4013}) INFO {11-22 08:28:11} [core.py:61] ready"},
    {"(EngineCore_DP0 pid={4000}) (Worker_TP3 pid={41}) ERROR {11-22 08:28:10} [a.py:7] x",
     "(EngineCore_DP0 pid={4013}) (Worker_TP3 pid={42}) ERROR {11-22 08:28:11} [a.py:7] x"},
    {"{2026-11-22 08:28:16,550}\tINFO worker.py:1654 -- up", "{2026-11-22 08:28:16,551}\tINFO worker.py:1654 -- up"},
    {"INFO {2026-11-22 08:28:16,842} controller {6171} -- Adding", "INFO {2026-11-22 08:28:17,842} controller {9930} -- Adding"},
    {"[{2026-11-22 08:28:10,100} I {22030} {65094}] (raylet) a.cc:7: up", "[{2026-11-22 08:28:11,100} I {22031} {65095}] (raylet) a.cc:7: up"},
    {"(raylet) [{2026-11-22 08:28:10,100} E {22030} {65094}] a.cc:7: up", "(raylet) [{2026-11-22 08:28:11,100} E {1} {2}] a.cc:7: up"},
    {"/tmp/ray/session_{2026-11-22_08-28-10_123456}_{4711} is full", "/tmp/ray/session_{2026-11-22_08-28-11_123457}_{12} is full"},
    // TensorFlow's thread, spdlog, syslog with the kernel's time, dmesg, open_clip
    {"{2026-11-22 08:28:10.100000}: I{    3500} tensorflow/core/a.cc:49] opened", "{2026-11-22 08:28:11.2}: I{  498700} tensorflow/core/a.cc:49] opened"},
    {"[{2026-11-22 08:28:10.100}][{47056}][serving][info] up", "[{2026-11-22 08:28:11.100}][{123}][serving][info] up"},
    {"[{2026-11-22 08:28:10.100}] [{47056}] [warning] up", "[{2026-11-22 08:28:11.100}] [{47}] [warning] up"},
    {"{Nov 22 08:28:10} {n0} kernel: [{99250.162326}] NVRM: up", "{Nov 22 08:28:11} {n1} kernel: [{    0.162326}] NVRM: up"},
    {"{2026-11-22T08:28:10,239682+00:00} up", "{2026-11-22T08:28:11,561900+00:00} up"},
    {"{2026-11-22,08:28:10} | INFO | Start", "{2026-11-22,08:28:11} | INFO | Start"},
    // torchrun's table, Megatron, submitit, accelerate, pytorch/xla, other places of a time
    {"  time      : {2026-11-22_08:28:10}", "  time      : {2026-11-22_08:28:11}"},
    {"[before the start of training step] datetime: {2026-11-22 08:28:10} ", "[before the start of training step] datetime: {2026-11-22 08:28:11} "},
    {"submitit WARNING ({2026-11-22 08:28:10,990}) - Bypassing", "submitit WARNING ({2026-11-22 08:28:11,990}) - Bypassing"},
    {"stderr: I{1122 08:28:10.76}{ 139332813881344} api.py:12] done", "stderr: I{1122 08:28:11.76}{ 7} api.py:12] done"},
    {"stderr: [rank{3}]:[W{1122 08:28:10.76} a.cpp:12] done", "stderr: [rank{12}]:[W{1122 08:28:11.76} a.cpp:12] done"},
    {"Epoch 1 train end {08:28:10}", "Epoch 1 train end {08:28:11}"},
    {"Loss=0.01 Time={08:28:10}", "Loss=0.01 Time={08:28:11}"},
    {R"(("asctime": "{2026-11-22 08:28:10,123}", "step": 7))", R"(("asctime": "{2026-11-22 08:28:11,123}", "step": 7))"},
    {R"(time="{2026-11-22T08:28:10Z}" level=info step=7)", R"(time="{2026-11-22T08:28:11Z}" level=info step=7)"},
    {R"(- - [{22/Nov/2026:08:28:10} +0000] "GET / 200)", R"(- - [{22/Nov/2026:08:28:11} +0000] "GET / 200)"},
    // levanter, icefall and other words for a rank
    {"{2026-11-22T08:28:10} - {3} - levanter.trainer - t.py:4 - INFO :: up", "{2026-11-22T08:28:11} - {12} - levanter.trainer - t.py:4 - INFO :: up"},
    {"{2026-11-22 08:28:10,111} INFO [train.py:727] ({3}/64) epoch 0", "{2026-11-22 08:28:11,111} INFO [train.py:727] ({12}/64) epoch 0"},
    {"  group_rank={3}", "  group_rank={12}"},
    {R"("world_rank": {3}, "x": 1)", R"("world_rank": {12}, "x": 1)"},
    {"srun: error: {tpu-3}: task {3}: Exited", "srun: error: {tpu-12}: task {12}: Exited"},
    {"{11/22/2026 08:28:10} [INFO|DP={3}|PP=0|{tpu-3}]: up", "{11/22/2026 08:28:11} [INFO|DP={12}|PP=0|{tpu-12}]: up"},
    {"GLOBAL_RANK: {3}, MEMBER: {4}/64", "GLOBAL_RANK: {12}, MEMBER: {13}/64"},
    {"Process (global: {3}, local 0)", "Process (global: {12}, local 0)"},
    {"joined \x1b[3mnode\x1b[0m\x1b[2m=\x1b[0m{3} \x1b[3mpid\x1b[0m\x1b[2m=\x1b[0m{915}",
     "joined \x1b[3mnode\x1b[0m\x1b[2m=\x1b[0m{12} \x1b[3mpid\x1b[0m\x1b[2m=\x1b[0m{77}"},
    // tags of processes: their numbers fold wherever they stand
    {"[rank{29}]: lost rank {29}", "[rank{96}]: lost rank {96}"},
    {"[rank{29}]:[E{1122 08:28:10.5} a.cpp:616] [Rank {29}] timed out", "[rank{97}]:[E{1122 08:28:11.5} a.cpp:616] [Rank {97}] timed out"},
    {"[{2026-11-22 08:28:10,123}] [INFO] [a.load:625] [PID:{915}] [RANK:{29}] loaded", "[{2026-11-22 08:28:11,123}] [INFO] [a.load:625] [PID:{16}] [RANK:{97}] loaded"},
    {"{tpu-3}:{1}:{2} [5] NCCL INFO comm {0x1277bf60} rank {29} nranks 512", "{tpu-12}:{3}:{4} [5] NCCL INFO comm {0x1277bf70} rank {101} nranks 512"},
    // pids, ports of clients, sessions
    {"Sending process {41002} closing signal", "Sending process {3141} closing signal"},
    {"INFO:     Started server process [{41002}]", "INFO:     Started server process [{77123}]"},
    {"Killed process {41002} (python)", "Killed process {9999} (python)"},
    {"CPU: {57} PID: {41002} Comm: python", "CPU: {3} PID: {11} Comm: python"},
    {"INFO:     127.0.0.1:{51910} - \"GET /health HTTP/1.1\" 200 OK", "INFO:     127.0.0.1:{40001} - \"GET /health HTTP/1.1\" 200 OK"},
    {"Accepted publickey for u from 10.1.0.5 port {51910} ssh2", "Accepted publickey for u from 10.1.0.5 port {4000} ssh2"},
    {"New session {17} of user u.", "New session {4} of user u."},
    // measures, in the words of many trainers
    {"step 10 loss 2.31{ 1.18} s/it", "step 10 loss 2.31{ 12.22} s/it"},
    {"step 10, dt{ 12.5}ms, tok/s:{ 1,234.5}", "step 10, dt{ 9.5}ms, tok/s:{ 992.1}"},
    {"step: 2  loss:  6.22  memory:{ 41.2}GiB({52.2}%)  tps:{ 5,856}  mfu:{ 34.29}%",
     "step: 2  loss:  6.22  memory:{ 9.2}GiB({2.2}%)  tps:{ 15,856}  mfu:{ 4.3}%"},
    {"done: step 4, seconds:{ 10.631}, TFLOP/s/device:{ 350.2}, loss: 12.979", "done: step 4, seconds:{ 1.6}, TFLOP/s/device:{ 50.2}, loss: 12.979"},
    {"elapsed time per iteration (ms):{ 1234.5} | lm loss: 2.5E+00", "elapsed time per iteration (ms):{ 999.0} | lm loss: 2.5E+00"},
    {"CurrSamplesPerSec={8.009}, MemAllocated={59.65}GB", "CurrSamplesPerSec={12.1}, MemAllocated={9.65}GB"},
    {"('train_samples_per_second':{ 31.3}, 'loss': 0.08)", "('train_samples_per_second':{ 9.1}, 'loss': 0.08)"},
    {"     ━━━━ 410.6/410.6 MB{ 45.9} MB/s eta{ 0:00:00}", "     ━━━━ 410.6/410.6 MB{ 5.9} MB/s eta{ 0:00:10}"},
    // a time at the end
    {"loss 2.31 [{2026-11-21 13:00:01}]", "loss 2.31 [{2026-11-21 13:00:02}]"},
    {"loss 2.31 | {2026-11-21T13:00:01Z}", "loss 2.31 | {2026-11-21T13:00:02Z}"},
    // NCCL: the device counts
    {"{gcn6}:{1080060}:{1080354} [0] NCCL INFO Channel 00/02 :    0   1", "{gcn7}:{99}:{100} [0] NCCL INFO Channel 00/02 :    0   1"},
    {"{gcn6}:{1080061}:{1080359} [0] misc/nvmlwrap.cc:181 NCCL WARN failed: Not Found", "{gcn7}:{1}:{2} [0] misc/nvmlwrap.cc:181 NCCL WARN failed: Not Found"},
    {"{tpu-3}:{1}:{2} [0] NCCL INFO Bootstrap : Using eth0:{10.0.0.3}<0>", "{tpu-12}:{3}:{4} [0] NCCL INFO Bootstrap : Using eth0:{10.0.0.12}<0>"},
    {"{tpu-3}:{38610}:{38610} [0] NCCL INFO comm {0x1277bf60} rank {3} nranks 64 cudaDev 0 busId 65000 commId 0xbd10cc2bcb56e132 - Init START",
     "{tpu-12}:{38611}:{38612} [0] NCCL INFO comm {0x55fbd0b4a6d0} rank {12} nranks 64 cudaDev 0 busId 65000 commId 0xbd10cc2bcb56e132 - Init START"},
    {"[{2026-11-21 13:00:01}] {tpu-3}:{1}:{2} [0] init.cc:12 NCCL WARN x", "[{2026-11-21 13:00:05}] {tpu-12}:{4}:{5} [0] init.cc:12 NCCL WARN x"},
    // tqdm: what it counts and what is given to it counts
    {" 45%|####5     | 45/100 [{00:10<00:12,  4.50it/s}]", " 45%|####5     | 45/100 [{00:11<00:13,  4.13it/s}]"},
    {"100%|██████████| 3/3 [{00:00<00:00, 1630.54it/s}]", "100%|██████████| 3/3 [{00:00<00:00, 12.5it/s}]"},
    {" 0%|3         | 27/6000 [{08:24<28:42:16, 17.30s/it}, loss=2.31]", " 0%|3         | 27/6000 [{08:25<28:42:18, 17.31s/it}, loss=2.31]"},
    {"  0%|          | 0/100 [{00:00<?, ?it/s}]", "  0%|          | 0/100 [{00:01<?, ?it/s}]"},
    {"45it [{00:10,  4.50it/s}]", "45it [{00:11,  4.49it/s}]"},
    {"weights:  45%|###  | 1.2G/3.4G [{00:10<00:12, 115MB/s}]", "weights:  45%|###  | 1.2G/3.4G [{00:11<00:12, 9.5MB/s}]"},
    {" 45%|# | 45/100 [{00:10<00:12,  4.50it/s},{ 3.1} tok/s]", " 45%|# | 45/100 [{00:10<00:12,  4.50it/s},{ 3.2} tok/s]"},
    {"x[00:10,{ 4.50}it/s]", "x[00:10,{ 4.51}it/s]"},
    {"eta{ 13:00:01}", "eta{ 13:00:02}"},
    {"took{ 3.2} s", "took{ 12.3} s"},
    {"{4.50}it/s", "{4.51}it/s"},
    // addresses
    {"<Generator object at {0x7f3a12345678}>", "<Generator object at {0x7f9c00045678}>"},
    {"<Foo object at {0x1c3a2b0}>", "<Foo object at {0x1d00010}>"},
    {"    @     {0x7facba4a8de2}  (unknown)", "    @     {0x7f12ba4a8de2}  (unknown)"},
    {"buffer at {0x00007f3a12345678}, {0xffff888012345678}", "buffer at {0x00007f3a00000000}, {0xffff888000000000}"},
    // the host's names
    {"Connected from {tpu-3.c.pod.internal} ({10.0.0.3}:8476)", "Connected from {tpu-12.c.pod.internal} ({10.0.0.12}:8476)"},
    {"user@{tpu-3}:~$ on [{2001:db8::3}]:22, {tpu-3}.", "user@{tpu-12}:~$ on [{2001:db8::12}]:22, {tpu-12}."},
    {"log in /tmp/{tpu-3}/out", "log in /tmp/{tpu-12}/out"},
    {"--node={tpu-3} --ip=tcp://{10.0.0.3}:29500", "--node={tpu-12} --ip=tcp://{10.0.0.12}:29500"},
    // its rank
    {"rank {3}", "rank {12}"},
    {"rank={3}, world=64", "rank={12}, world=64"},
    {"Rank: {3}", "Rank: {12}"},
    {"Rank {3}/64 ready", "Rank {12}/64 ready"},
    {"rank{3} ready", "rank{12} ready"},
    {"| distributed init (rank {3}): env://", "| distributed init (rank {12}): env://"},
    {R"("rank": {3}, "loss": 2.31)", R"("rank": {12}, "loss": 2.31)"},
    {"JAX process: {3} / 64", "JAX process: {12} / 64"},
    {"process_index={3}", "process_index={12}"},
    {"Process index: {3}", "Process index: {12}"},
    {"worker {3} ready", "worker {12} ready"},
    {"[host {3}] up", "[host {12}] up"},
    {"torchrun --nnodes=64 --node_rank={3}", "torchrun --nnodes=64 --node_rank={12}"},
    // clang-format on
};

TEST(LogKey, LeavesOutWhatDiffersByNature) {
  for (const Pair& same : kSame) {
    const Marked three = read_marks(same.three);
    const Marked twelve = read_marks(same.twelve);
    EXPECT_EQ(key_of(kThree, three.line), key_of(kTwelve, twelve.line));
    EXPECT_EQ(counted(key_of(kThree, three.line)), three.counts);
    EXPECT_EQ(counted(key_of(kTwelve, twelve.line)), twelve.counts);
  }
}

/// The parts of a prefix, as one host and another print them.
struct Part {
  std::string_view three;
  std::string_view twelve;
};

TEST(LogKey, ReadsThePartsOfAPrefixInAnyOrder) {
  const std::vector<Part> parts = {
      {"2026-11-22 08:00:00,123456", "2026-11-22 08:00:01,654321"},
      {"INFO", "INFO"},
      {"[4191]", "[665]"},
      {"trainer[4191]:", "trainer[665]:"},
      {"[rank3]:", "[rank12]:"},
  };
  const auto check = [&](const std::vector<std::size_t>& order) {
    std::string three;
    std::string twelve;
    for (const std::size_t part : order) {
      three.append(parts[part].three).append(" ");
      twelve.append(parts[part].twelve).append(" ");
    }
    EXPECT_EQ(key_of(kThree, three + "train.py:42 step 7"), key_of(kTwelve, twelve + "train.py:42 step 7"))
        << three;
    EXPECT_NE(key_of(kThree, three + "step 7"), key_of(kTwelve, twelve + "step 8")) << three;
  };
  std::vector<std::size_t> order{0, 1, 2, 3, 4};
  const auto has_one_process = [](const std::vector<std::size_t>& some) {
    return std::ranges::count_if(some, [](std::size_t part) { return part == 2 || part == 3; }) <= 1;
  };
  do {
    for (const std::size_t count : {2U, 3U, 4U}) {
      std::vector<std::size_t> some = order;
      some.resize(count);
      const bool is_bare = some == std::vector<std::size_t>{2, 4} || some == std::vector<std::size_t>{4, 2};
      if (has_one_process(some) && !is_bare) check(some);  // `[4191]` without a time or level may be a step
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST(LogKey, CountsEveryOtherByte) {
  for (const Pair& same : kSame) {
    const Marked marked = read_marks(same.three);
    const std::string key = key_of(kThree, marked.line);
    for (std::size_t i = 0; i < marked.line.size(); ++i) {
      if (marked.in_field[i]) continue;
      for (const char other : {'0', '4', '9', 'x', ' ', '.', '\0', '\xff'}) {
        std::string line = marked.line;
        if (line[i] == other) continue;
        line[i] = other;
        EXPECT_NE(key_of(kThree, line), key) << line;
      }
    }
  }
}

/// A line of tpu-3 and one of tpu-12.
struct Different {
  std::string_view three;
  std::string_view twelve;
};

constexpr Different kDifferent[] = {
    // clang-format off
    // times that are values
    {"13:00:01", "13:00:02"},
    {"00:01:40 total training time", "00:02:40 total training time"},
    {"00:01:40 12.5", "00:02:40 12.5"},
    {"Job started at 2026-11-21 13:00:01.", "Job started at 2026-11-21 13:00:59."},
    {"INFO resume from 2024-11-01 13:00:01", "INFO resume from 2024-11-02 13:00:01"},
    // losses and counts, after any prefix and in any form
    {"loss 2.31", "loss 2.32"},
    {"step 100 loss 2.31", "step 100 loss nan"},
    {"step 100", "step 101"},
    {"loss=2.31", "loss=2.310"},
    {"loss: 2.31e-05", "loss: 2.31e-06"},
    {"loss -2.31", "loss 2.31"},
    {"loss 2", "loss 3"},
    {"3", "12"},
    {"loss 3", "loss 12"},
    {"exit status 1", "exit status 2"},
    {"exit code: 3", "exit code: 12"},
    {"shape (3, 128)", "shape (12, 128)"},
    {"float32[3,128]", "float32[12,128]"},
    {"grad_norm 0x10", "grad_norm 0x11"},
    {"error 0x80070005", "error 0x80070006"},
    {"error that 0x80070005", "error that 0x80070006"},
    {"commId 0xbd10cc2bcb56e132", "commId 0xbd10cc2bcb56e133"},
    {"fingerprint 1a2b3c4d5e6f", "fingerprint 1a2b3c4d5e70"},
    {"I1121 13:00:01.123456  1234 file.cc:56] loss 2.31", "I1121 13:00:01.123456  1234 file.cc:56] loss 2.30"},
    {"I1121 13:00:01.123456  1234 file.cc:56] x", "I1121 13:00:01.123456  1234 file.cc:57] x"},
    {"I1121 13:00:01.123456  1234 file.cc:56] x", "W1121 13:00:01.123456  1234 file.cc:56] x"},
    {"I1121 13:00:01.123456  1234 steps", "I1121 13:00:01.123456  1235 steps"},
    {"E0000 00:00:1750688708.806475  1 a.cc:1] 1750688708.8", "E0000 00:00:1750688708.806475  1 a.cc:1] 1750688709.8"},
    {"2026-11-21 13:00:01,123 - trainer - INFO - loss: 2.31", "2026-11-21 13:00:01,123 - trainer - INFO - loss: 2.32"},
    {"2026-11-21 13:00:01,123 - INFO - nan", "2026-11-21 13:00:01,123 - INFO - 2.31"},
    {"2026-11-21 13:00:01.123 | INFO | mod:fn:12 - msg", "2026-11-21 13:00:01.123 | INFO | mod:fn:13 - msg"},
    {"2026-11-21 13:00:01.123: I a.cc:168] x", "2026-11-21 13:00:01.123: E a.cc:168] x"},
    // tables: a comma ends a column
    {"2026-11-21 13:00:01,2.31", "2026-11-21 13:00:01,3.31"},
    {"2026-11-21 13:00:01,100,2.31", "2026-11-21 13:00:01,101,2.31"},
    {"2026-11-21 13:00:01,512", "2026-11-21 13:00:01,513"},
    {"2026-11-21 13:00:01,512345", "2026-11-21 13:00:01,512346"},
    {"2026-11-21 13:00:01,123 [10] loss 2.31", "2026-11-21 13:00:01,123 [11] loss 2.31"},
    {"Nov 21 13:00:01 saving shard[100]: x", "Nov 21 13:00:01 saving shard[101]: x"},
    {"2026-11-21 13:00:01 100 INFO", "2026-11-21 13:00:01 101 INFO"},
    {"2026-11-21 13:00:01 -0.25", "2026-11-21 13:00:01 -0.50"},
    {"2026-11-21 13:00:01 +1200 samples", "2026-11-21 13:00:01 +1300 samples"},
    {"2026-11-21 13:00:01,123 [1234] [100] [INFO] x", "2026-11-21 13:00:01,123 [1234] [101] [INFO] x"},
    {"[eta]: 01:00:01", "[eta]: 01:00:02"},
    {"INFO 13:00:01 left", "INFO 13:00:02 left"},
    {" 11-21 13:00:01", " 11-21 13:00:02"},
    {"tpu-3:100:2 [0] NCCL", "tpu-12:101:2 [0] NCCL"},
    {"tpu-3:100:2 [0]  x NCCL INFO", "tpu-12:101:2 [0]  x NCCL INFO"},
    {"2026-11-21 13:00:01 - 100 - 2.31", "2026-11-21 13:00:01 - 101 - 2.31"},
    {"2026-11-21 13:00:01 tpu-3 step[100]: x", "2026-11-21 13:00:01 tpu-12 step[101]: x"},
    {"Nov 21 13:00:01 INFO step[100]: x", "Nov 21 13:00:01 INFO step[101]: x"},
    {"Nov 21 13:00:01 tpu-3 proc[1234]: 1", "Nov 21 13:00:01 tpu-12 proc[1234]: 2"},
    {"Nov 21 13:00:01 tpu-3 proc[1]: x[3]: 1", "Nov 21 13:00:01 tpu-12 proc[1]: x[4]: 1"},
    {"[100] step", "[101] step"},
    {"step[100]: x", "step[101]: x"},
    {"100 INFO", "101 INFO"},
    {"12 INFO x", "13 INFO x"},
    {"stupid=915", "stupid=916"},
    {"pid=9.15", "pid=9.16"},
    {"ip=10.9.9.1", "ip=10.9.9.2"},
    {R"("ts":17)", R"("ts":18)"},
    {R"("loss":1795336096.97)", R"("loss":1795336096.98)"},
    // dates and times that are not timestamps
    {"checkpoint_2026-11-21", "checkpoint_2026-11-22"},
    {"saved /ckpt/2026-11-21", "saved /ckpt/2026-11-22"},
    {"saved /ckpt/2026-11-21T13:00:01/model", "saved /ckpt/2026-11-21T13:00:02/model"},
    {"saved /ckpt/2026-11-21T13:00:01", "saved /ckpt/2026-11-21T13:00:02"},
    {"2026-11-21T13:00:01/model", "2026-11-21T13:00:02/model"},
    {"2026-11-21 13:00:01:05", "2026-11-21 13:00:02:05"},
    {"run-2026-11-21T13:00:01", "run-2026-11-21T13:00:02"},
    {"2026-11-21T13:00:01.log", "2026-11-21T13:00:02.log"},
    {"version 2026-11-21", "version 2026-11-22"},
    {"eta: 1 day, 0:12:13", "eta: 1 day, 0:12:14"},
    {"25:00:01 left", "26:00:01 left"},
    {"13:00:01,2.31", "13:00:01,2.32"},
    {"13:00:01.1.2", "13:00:01.1.3"},
    {"2026-13-21 13:00:01", "2026-14-21 13:00:01"},
    {"2026-11-21 13:00:61", "2026-11-21 13:00:62"},
    {"12026-11-21 13:00:01", "12026-11-21 13:00:02"},
    {"2026-11-21 13:00", "2026-11-21 13:01"},
    // brackets that are not a prefix
    {"[2.312345] x", "[2.312346] x"},
    {"[12345.678901]", "[12345.678902]"},
    {"[100] x", "[101] x"},
    {"[1.5] [MainThread] INFO", "[1.6] [MainThread] INFO"},
    {"tpu-3:1:2 [0] NCCL INFO x", "tpu-12:1:2 [1] NCCL INFO x"},
    {"tpu-3:1:2 [0] NCCL INFO x 1", "tpu-12:1:2 [0] NCCL INFO x 2"},
    {"tpu-3:100:2 [0] step", "tpu-12:101:2 [0] step"},
    // progress bars
    {" 45%|####      | 45/100 [00:10<00:12,  4.50it/s]", " 46%|####      | 46/100 [00:10<00:12,  4.50it/s]"},
    {" 45%|####      | 45/100 [00:10<00:12,  4.50it/s]", " 45%|####      | 45/101 [00:10<00:12,  4.50it/s]"},
    {" 45%|# | 45/100 [00:10<00:12,  4.50it/s, loss=2.31]", " 45%|# | 45/100 [00:10<00:12,  4.50it/s, loss=2.32]"},
    {"x [00:10, 2.31]", "x [00:10, 2.32]"},
    {"x [00:10, 2.31loss/epoch]", "x [00:10, 2.32loss/epoch]"},
    {"x [00:10<00:12]", "x [00:10<00:13]"},
    // other hosts, and what only looks like this one
    {"tpu-7 lost", "tpu-8 lost"},
    {"tpu-3 lost", "tpu-3 lost"},
    {"connected to 10.0.0.7", "connected to 10.0.0.8"},
    {"10.0.0.30", "10.0.0.120"},
    {"110.0.0.3", "110.0.0.12"},
    {"10.0.0.3.4", "10.0.0.12.4"},
    {"my-tpu-3", "my-tpu-12"},
    {"tpu-3-eth0", "tpu-12-eth0"},
    {"tpu-3_0", "tpu-12_0"},
    {"tpu-3.5", "tpu-12.5"},
    {"1:2001:db8::3", "1:2001:db8::12"},
    {"2001:db8::3:1", "2001:db8::12:1"},
    {"tpu-3", "10.0.0.12"},
    // ranks of others, and numbers that are not ranks
    {"rank 4", "rank 5"},
    {"rank 3 loss 2.31", "rank 12 loss 2.32"},
    {"rank 30", "rank 120"},
    {"rank 03", "rank 012"},
    {"rank 3.5", "rank 12.5"},
    {"rank 3,4", "rank 12,4"},
    {"rank 3-7", "rank 12-7"},
    {"rank 3%", "rank 12%"},
    {"rank 3e5", "rank 12e5"},
    {"rank -3", "rank -12"},
    {"ranks 3", "ranks 12"},
    {"lora_rank=3", "lora_rank=12"},
    {"lora-rank 3", "lora-rank 12"},
    {"local_rank=3", "local_rank=12"},
    {"Local rank: 3", "Local rank: 12"},
    {"Local process index: 3", "Local process index: 12"},
    {"[default3]:x", "[default12]:x"},
    {"Process 3/64 files", "Process 12/64 files"},
    {"num_workers 3", "num_workers 12"},
    {"(3/64)", "(12/64)"},
    {"rank 3", "worker 12"},
    // ranks, pids and measures that are values
    {"2026-11-22 08:28:10 saving item[1234]: x", "2026-11-22 08:28:10 saving item[1235]: x"},
    {"[default3]:[rank1]: x", "[default4]:[rank1]: x"},
    {"tpu-3:1:2 [5] NCCL INFO rank 3 nranks 64", "tpu-12:1:2 [6] NCCL INFO rank 12 nranks 64"},
    {"(Worker_TP3 pid=1) x", "(Worker_TP4 pid=1) x"},
    {"(3/63) epoch", "(12/63) epoch"},
    {"MEMBER: 3/64", "MEMBER: 12/64"},
    {"Process 12000/64000 files", "Process 13000/64000 files"},
    {"process 12000 samples", "process 13000 samples"},
    {"processed 12000 of them", "processed 13000 of them"},
    {"2026-11-22 08:28:10 396 error events", "2026-11-22 08:28:10 397 error events"},
    {"NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB"},
    {"GPU has 40GB", "GPU has 80GB"},
    {"reserved 0.00GB", "reserved 41.20GB"},
    {"learning rate: 9.15e-06", "learning rate: 9.16e-06"},
    {"hit rate: 12.5", "hit rate: 12.6"},
    {"epoch 3 iter 120", "epoch 3 iter 121"},
    {"finished step: 1, seconds: 10.5", "finished step: 2, seconds: 10.5"},
    {"version 2.0.1 s", "version 2.0.2 s"},
    {"exitcode: 1 (pid: 7)", "exitcode: -9 (pid: 7)"},
    {"━━━━ 410.6/410.6 MB", "━━━━ 23.7/23.7 MB"},
    {"1,2,3", "1,2,4"},
    {"port 8080", "port 8081"},
    // bytes that look like a key's
    {"t", "x"},
    {std::string_view("\0t", 2), std::string_view("\0x", 2)},
    {"", " "},
    // clang-format on
};

TEST(LogKey, NeverTakesOtherDifferencesForTheSame) {
  for (const Different& different : kDifferent) {
    EXPECT_NE(key_of(kThree, different.three), key_of(kTwelve, different.twelve)) << different.three << "\n"
                                                                                  << different.twelve;
  }
}

TEST(LogKey, TellsRankAndWorkerApartWhenOnlySomeHostsRun) {
  const LineKey a = make_key(3, "a1", 0);
  const LineKey b = make_key(7, "b1", 1);
  EXPECT_EQ(key_of(a, "rank 0"), key_of(b, "rank 1"));
  EXPECT_EQ(key_of(a, "worker 3"), key_of(b, "worker 7"));
  EXPECT_EQ(key_of(a, "worker 0"), key_of(b, "worker 1"));
  EXPECT_NE(key_of(a, "rank 3"), key_of(b, "rank 1"));
  EXPECT_NE(key_of(a, "worker 0"), key_of(b, "worker 7"));
  EXPECT_NE(key_of(a, "rank 0"), key_of(a, "rank 3"));
}

TEST(LogKey, TakesNoNumberForAName) {
  EXPECT_NE(key_of(make_key(0, "3", 0), "step 3"), key_of(make_key(1, "4", 1), "step 4"));
  EXPECT_NE(key_of(make_key(0, "10.0.0.3", 0), "step 10"), key_of(make_key(1, "11.0.0.3", 1), "step 11"));
}

TEST(LogKey, TakesLocalForNoName) {
  hosts::Host host;
  host.name = "local";
  host.kind = hosts::HostKind::local;
  EXPECT_EQ(key_of({host, 0, {.same = Same::log_line}}, "local 1"), "local 1");
  host.name = "local1";
  EXPECT_NE(key_of({host, 0, {.same = Same::log_line}}, "local1 is up"), "local1 is up");
}

TEST(LogKey, GivesThePlainLineItself) {
  const std::string_view line = "step 100 loss 2.31";
  LineKey three = kThree;
  EXPECT_EQ(three.key(line).data(), line.data());
  EXPECT_EQ(three.keys(line).plain_key.data(), line.data());
}

TEST(LogKey, KeepsTheBuffer) {
  LineKey three = kThree;
  const std::string line =
      "I1121 13:00:01.123456  1234 file.cc:56] a message that is long enough to be on the heap";
  const char* const data = three.key(line).data();
  EXPECT_EQ(three.key(line).data(), data);
}

}  // namespace
}  // namespace podrun::output
