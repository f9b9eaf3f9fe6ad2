from words import *

T = "<<host>>:<<pid p>>:<<lwp t>> [0] NCCL INFO "

G = "<<host>>:<<pid g>>:<<lwp t>> [<<g>>] NCCL INFO "

case("nccl-init-8gpu", "NVIDIA/nccl#952, NVIDIA/nccl#1814, uccl-project/uccl#172", "gpu", "out", [
    gpu(8, "<<host>>:<<pid g>>:<<pid g>> [<<g>>] NCCL INFO cudaDriverVersion 12080"),
    gpu(8, "<<host>>:<<pid g>>:<<pid g>> [<<g>>] NCCL INFO Bootstrap : Over bond0:<<ip>><0>"),
    gpu(8, G + "ncclCommInitRank comm <<addr8 c>> rank <<grank>> nranks 64 cudaDev <<g>> nvmlDev <<g>> busId <<g>>7000 commId 0xf03f81dc1a49efab - Init START"),
    gpu(8, G + "NVLS multicast is nothing that works on dev <<g>>"),
    gpu(8, G + "ncclCommInitRank comm <<addr8 c>> rank <<grank>> nranks 64 cudaDev <<g>> nvmlDev <<g>> busId <<g>>7000 commId 0xf03f81dc1a49efab - Init COMPLETE", hosts=[0, 1, 2, 3, 4, 5, 7]),
    only(6, "<<host>>:<<pid 3>>:<<lwp t>> [3] misc/nvmlwrap.cc:181 NCCL WARN nvmlDeviceSetCpuAffinity() gave back: Unknown Error"),
])

case("nccl-rings", "NVIDIA/nccl#226", "gpu", "out", [
    T + "Trees [0] <<vrank 1>>-><<rank>>->-1/-1/-1",
    T + "Ring 00 : <<rank>> -> <<vrank -1>> [send] via NET/Socket/0",
    T + "Ring 00 : <<vrank 1>> -> <<rank>> [receive] via NET/Socket/0",
    T + "comm <<addr c>> rank <<rank>> nranks 8 cudaDev 0 nvmlDev 0 - Init COMPLETE",
    T + "Launches are Parallel",
])

W = "[rank<<grank>>]:[E<<t %-m%d %H:%M:%S.%9>> ProcessGroupNCCL.cpp:"

case("c10d-watchdog-8gpu", "hiyouga/LlamaFactory#7396, XPixelGroup/BasicSR#737, pytorch/pytorch#118369", "gpu", "err", [
    gpu(8, W + "616] [Rank <<grank>>] The watchdog saw a collective run out of time: WorkNCCL(SeqNum=808, OpType=ALLREDUCE, NumelIn=9801523, NumelOut=9801523, Timeout(ms)=600000) was at it for <<d 600040 0.01 d>> milliseconds and had not ended.", hosts=[0, 1, 2, 3, 4, 6, 7]),
    gpu(8, W + "1785] [PG ID 0 PG GUID 0(default_pg) Rank <<grank>>] The watchdog met an exception (by an error or by the clock) in work: 808, NCCL work put in last: 811, NCCL work done last: 807.", hosts=[0, 1, 2, 3, 4, 6, 7]),
    gpu(8, W + "616] [Rank <<grank>>] The watchdog saw a collective run out of time: WorkNCCL(SeqNum=809, OpType=_ALLGATHER_BASE, NumelIn=1, NumelOut=64, Timeout(ms)=600000) was at it for <<d 600040 0.01 d>> milliseconds and had not ended.", hosts=[5]),
    gpu(8, W + "630] [Rank <<grank>>] NCCL did not get all of its work done. CUDA kernels do not wait for each other, so what the GPU does from here on may be based on broken/partial data."),
    gpu(8, W + "636] [Rank <<grank>>] Before any data gets out of step, the whole process is ended."),
])

W1 = "[rank<<rank>>]:[E<<t %-m%d %H:%M:%S.%9>> ProcessGroupNCCL.cpp:"

case("c10d-abort-stack", "rosinality/stylegan2-pytorch#110, pytorch/pytorch#134017", "gpu", "err", [
    W1 + "607] [Rank <<rank>>] The watchdog saw a collective run out of time: WorkNCCL(SeqNum=7753, OpType=_REDUCE_SCATTER_BASE, NumelIn=544997376, NumelOut=68124672, Timeout(ms)=600000) was at it for <<d 600061 0.01 d>> milliseconds and had not ended.",
    block(ALL, [
        W1 + "1515] [PG 1 Rank <<rank>>] The thread of the watchdog ended by an exception: [Rank <<rank>>] The watchdog saw a collective run out of time",
        "Exception thrown by checkTimeout at ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:609 (most recent call first):",
        "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (<<addr a>> in /opt/venv/lib/python3.10/site-packages/torch/lib/libc10.so)",
        "frame #1: c10d::ProcessGroupNCCL::WorkNCCL::checkTimeout(std::optional<std::chrono::duration<long, std::ratio<1l, 1000l> > >) + 0x282 (<<addr b>> in /opt/venv/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so)",
        "frame #2: c10d::ProcessGroupNCCL::watchdogHandler() + 0x233 (<<addr c>> in /opt/venv/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so)",
        "frame #3: <unknown function> + 0xdc253 (<<addr d>> in /lib/x86_64-linux-gnu/libstdc++.so.6)",
        "frame #4: <unknown function> + 0x94ac3 (<<addr e>> in /lib/x86_64-linux-gnu/libc.so.6)",
        "frame #5: <unknown function> + 0x126850 (<<addr f>> in /lib/x86_64-linux-gnu/libc.so.6)",
        "",
        "terminate is called, nobody caught this instance of 'c10::DistBackendError'",
        "  what():  [PG 1 Rank <<rank>>] The thread of the watchdog ended by an exception",
    ], odd={6: {5: "frame #3: <unknown function> + 0xd6df4 (0x7f3f10bbedf4 in /lib/x86_64-linux-gnu/libstdc++.so.6)"}}),
])

case("torchrun-start", "pytorch/torchtitan#111, StrongResearch/isc-demos#15", "gpu", "err", [
    "W<<t %m%d %H:%M:%S.%ms0>> <<tid m>> torch/distributed/run.py:717] ",
    "W<<t %m%d %H:%M:%S.%ms0>> <<tid m>> torch/distributed/run.py:717] *****************************************",
    "W<<t %m%d %H:%M:%S.%ms0>> <<tid m>> torch/distributed/run.py:717] Each process gets OMP_NUM_THREADS in its environment, which is 1 unless it was set, so that all of them together do not ask too much of the machine; choose it by trial for the program that is to run fast. ",
    "W<<t %m%d %H:%M:%S.%ms0>> <<tid m>> torch/distributed/run.py:717] *****************************************",
    gpu(4, "[rank<<g>>]:<<t %Y-%m-%d %H:%M:%S,%3>> - torchtrain.parallelisms - INFO - Making a 1-D device mesh of ('dp',), [32]"),
    gpu(4, "[default<<g>>]:[rank<<grank>>]:[W<<t %-m%d %H:%M:%S.%9>> socket.cpp:752] [c10d] No client socket could be made for the way to [gpu-node-0]:29500 (errno: 97 - Address family not supported by protocol)."),
    "INFO:torch.distributed.elastic.agent.server.api:[default] All workers have come together. Result:",
    "  restart_count=0",
    "  master_addr=gpu-node-0",
    "  master_port=29500",
    "  group_rank=<<rank>>",
    "  group_world_size=8",
    "  local_ranks=[0, 1, 2, 3]",
    odd(5, "INFO:torch.distributed.elastic.agent.server.api:[default] The workers set off",
           "WARNING:torch.distributed.elastic.rendezvous.dynamic_rendezvous:Of the node 'gpu-node-5_4242_0' no keep-alive heartbeat got through to the rendezvous '81', the error is of type RendezvousConnectionError."),
    "INFO:torch.distributed.elastic.multiprocessing:Choosing worker0 a reply file: /tmp/torchelastic_<<tmp a>>/none_<<tmp b>>/attempt_0/0/error.json",
])

case("torchrun-child-failed", "OEvortex/unsloth#10, lmzpai/roboMamba#10", "gpu", "err", [
    block([2], [
        "[rank2]: Traceback (most recent call last):",
        '[rank2]:   File "/home/user/app/train.py", line 210, in <module>',
        "[rank2]:     main()",
        '[rank2]:   File "/home/user/app/train.py", line 177, in main',
        "[rank2]:     loss.backward()",
        "[rank2]: torch.OutOfMemoryError: No CUDA memory is left. It wanted 2.00 GiB. GPU 0 comes with memory of 79.15 GiB in all, and 1.24 GiB are free.",
    ]),
    pause(0.3),
    "W<<t %m%d %H:%M:%S.%ms0>> <<lwp a>> torch/distributed/elastic/multiprocessing/api.py:900] Telling process <<pid 1>> to close by SIGTERM",
    "W<<t %m%d %H:%M:%S.%ms0>> <<lwp a>> torch/distributed/elastic/multiprocessing/api.py:900] Telling process <<pid 2>> to close by SIGTERM",
    odd(2, "E<<t %m%d %H:%M:%S.%ms0>> <<lwp a>> torch/distributed/elastic/multiprocessing/api.py:874] ended (exitcode: -15) local_rank: 0 (pid: <<pid 0>>) from binary: /home/user/venv/bin/python3",
           "E<<t %m%d %H:%M:%S.%ms0>> <<lwp a>> torch/distributed/elastic/multiprocessing/api.py:874] ended (exitcode: 1) local_rank: 0 (pid: <<pid 0>>) from binary: /home/user/venv/bin/python3"),
    block(ALL, [
        "Traceback (most recent call last):",
        '  File "/home/user/venv/bin/torchrun", line 8, in <module>',
        "    start(words)",
        '  File "/home/user/venv/lib/python3.10/site-packages/torch/distributed/launcher/api.py", line 269, in launch_agent',
        "    raise ChildFailedError(report)",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        "============================================================",
        "train.py FAILED",
        "------------------------------------------------------------",
        "Failures:",
        "  <NO_OTHER_FAILURES>",
        "------------------------------------------------------------",
        "Root Cause (the failure seen first):",
        "[0]:",
        "  time      : <<t %Y-%m-%d_%H:%M:%S>>",
        "  host      : <<host>>",
        "  rank      : <<rank>> (local_rank: 0)",
        "  exitcode  : -15 (pid: <<pid 0>>)",
        "  error_file: <N/A>",
        "  traceback : Signal 15 (SIGTERM) came to PID <<pid 0>>",
        "============================================================",
    ], odd={2: {17: "  exitcode  : 1 (pid: <<pid 0>>)", 19: "  traceback : How to get one is told at: https://pytorch.org/docs/stable/elastic/errors.html"}}),
])

S1 = "[rank<<rank>>]:[titan] <<t %Y-%m-%d %H:%M:%S,%3>> - root - "

case("torchtitan-1gpu", "pytorch/torchtitan#950, #1287", "gpu", "out", [
    S1 + "INFO - The job begins: Llama 3 8B training",
    S1 + "INFO - CUDA works on: NVIDIA H100 80GB HBM3, it has 79.10GiB memory",
    S1 + "INFO - Model llama3 8B counts: 8,030,261,248 parameters in all",
    S1 + "INFO - step: 22  loss:  6.2250  memory: <<d 41.2 1 .2f>>GiB(<<d 52.2 1 .2f>>%)  tps: <<d 5856 2 ,d>>  tflops: <<d 339.1 2 .2f>>  mfu: <<d 34.29 2 .2f>>%",
    S1 + "WARNING - Dataset c4_test begins once more",
    odd(6, S1 + "INFO - step: 23  loss:  6.2236  memory: <<d 41.2 1 .2f>>GiB(<<d 52.2 1 .2f>>%)  tps: <<d 5856 2 ,d>>  tflops: <<d 339.1 2 .2f>>  mfu: <<d 34.29 2 .2f>>%",
           S1 + "INFO - step: 23  loss: 11.9021  memory: <<d 41.2 1 .2f>>GiB(<<d 52.2 1 .2f>>%)  tps: <<d 5856 2 ,d>>  tflops: <<d 339.1 2 .2f>>  mfu: <<d 34.29 2 .2f>>%"),
    S1 + "INFO - [GC] The usual collection was due. <<d 0.06 20 .2f>> seconds.",
    S1 + "INFO - Traces of the profiler are out in <<d 0.22 15 .2f>> seconds",
])

case("inductor-autotune", "pytorch/pytorch#159982, sgl-project/sglang#19776", "gpu", "err", [
    "Figures of all choices:",
    '{"num_choices": 20, "num_triton_choices": 19, "best_kernel": "mm", "best_time": <<d 0.3848 2 .16f>>, "best_triton_pos": 1, "best_triton_time": <<d 0.6287 2 .16f>>, "best_triton_kernel": "triton_mm_16"}',
    "AUTOTUNE mm(3840x1152, 1152x49136)",
    "strides: [1, 3840], [49152, 1]",
    "dtypes: torch.bfloat16, torch.bfloat16",
    "  mm <<d 0.3848 2 .4f>> ms 100.0% ",
    "  triton_mm_16 <<d 0.6288 2 .4f>> ms <<d 61.2 2 .1f>>% ACC_TYPE='tl.float32', ALLOW_TF32=False, BLOCK_K=32, BLOCK_M=128, BLOCK_N=128, EVEN_K=True, GROUP_M=8, num_stages=3, num_warps=4",
    odd(1, "  triton_mm_13 <<d 0.6299 2 .4f>> ms <<d 61.1 2 .1f>>% ACC_TYPE='tl.float32', ALLOW_TF32=False, BLOCK_K=32, BLOCK_M=128, BLOCK_N=64, EVEN_K=True, GROUP_M=8, num_stages=3, num_warps=4",
           "  triton_mm_17 <<d 0.6301 2 .4f>> ms <<d 61.1 2 .1f>>% ACC_TYPE='tl.float32', ALLOW_TF32=False, BLOCK_K=64, BLOCK_M=128, BLOCK_N=128, EVEN_K=True, GROUP_M=8, num_stages=3, num_warps=4"),
    "SingleProcess AUTOTUNE was measuring for <<d 0.9121 9 .4f>> seconds and <<d 3.4205 9 .4f>> seconds compiling for 20 choices",
])

TB = [
    "[rank<<grank>>]: Traceback (most recent call last):",
    '[rank<<grank>>]:   File "/home/user/app/train.py", line 323, in <module>',
    "[rank<<grank>>]:     trainer.train()",
    '[rank<<grank>>]:   File "/opt/venv/lib/python3.10/site-packages/torch/distributed/distributed_c10d.py", line 2727, in broadcast',
    "[rank<<grank>>]:     pending = group.broadcast([data], how)",
    "[rank<<grank>>]: torch.distributed.DistBackendError: NCCL failed at: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3384, cuda error not handled, NCCL version 2.21.5",
]

case("traceback-8gpu-mixed", "ultralytics/ultralytics#19375", "gpu", "err", [
    gpublock(4, TB, hosts=[0, 1, 2, 4, 5, 6, 7]),
    block([3], [
        "[rank25]: Traceback (most recent call last):",
        '[rank25]:   File "/home/user/app/train.py", line 323, in <module>',
        "[rank25]:     trainer.train()",
        '[rank25]:   File "/home/user/app/data.py", line 88, in __getitem__',
        "[rank25]:     return self.index[key]",
        "[rank25]: KeyError: 'shard-00123'",
    ]),
])

TBP = [
    "Traceback (most recent call last):",
    '  File "/home/user/app/train.py", line 323, in <module>',
    "    trainer.train()",
    '  File "/home/user/app/trainer.py", line 208, in train',
    "    self.run_epochs(world)",
    '  File "/opt/venv/lib/python3.10/site-packages/torch/nn/parallel/distributed.py", line 812, in __init__',
    "    check_shapes(self.group, weights)",
    "RuntimeError: The communicator of NCCL is gone on rank <<rank>>.",
]

case("traceback-plain", "ultralytics/ultralytics#1971, rosinality/stylegan2-pytorch#110", "gpu", "err", [
    block(ALL, TBP, odd={5: {3: '  File "/home/user/app/data.py", line 61, in __next__', 4: "    item = json.loads(line)", 5: '  File "/usr/lib/python3.10/json/decoder.py", line 355, in raw_decode', 6: '    raise JSONDecodeError("no value", text, place)', 7: "json.decoder.JSONDecodeError: A value is missing: line 1 column 1 (char 0)"}}),
    block(ALL, [
        "Exception in thread Thread-3 (_pin_memory_loop):",
        "Traceback (most recent call last):",
        '  File "/usr/lib/python3.10/threading.py", line 1016, in _bootstrap_inner',
        "    self.run()",
        '  File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/_utils/pin_memory.py", line 54, in _pin_memory_loop',
        "    one_more()",
        "ConnectionResetError: [Errno 104] Connection reset by peer",
    ]),
    "<torch.multiprocessing.spawn.ProcessContext object at <<addr a>>>",
])

case("milabench-prefix", "mila-iqia/milabench#269", "gpu", "out", [
    gpu(4, "dinov2-giant-nodes.<<host>> [stderr] [rank<<grank>>]:[E<<t %-m%d %H:%M:%S.%9>> ProcessGroupNCCL.cpp:607] [Rank <<grank>>] The watchdog saw a collective run out of time: "),
    gpu(4, "WorkNCCL(SeqNum=2070, OpType=REDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) was at it for <<d 600036 0.01 d>> milliseconds and had not ended."),
    "dinov2-giant-nodes.<<host>> [end] torchrun --nnodes=8 --node-rank=<<rank>> --rdzv-id=<<nint 100 100 k>> train.py [at <<t %Y-%m-%d %H:%M:%S.%6>>]",
    odd(3, "dinov2-giant-nodes.<<host>> [return] 0", "dinov2-giant-nodes.<<host>> [return] -6"),
])
