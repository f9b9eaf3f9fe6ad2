from words import *

case("vllm-engine", "vllm-project/vllm#19680, #43295, #14452", "gpu", "out", [
    "INFO <<t %m-%d %H:%M:%S>> [config.py:717] The model is good for several tasks: {'generate', 'embed', 'score'}. It will do 'generate'.",
    "(APIServer pid=<<pid a>>) INFO <<t %m-%d %H:%M:%S>> [scheduler.py:238] Prefill is done in chunks, max_num_batched_tokens=32768.",
    "(EngineCore_DP0 pid=<<pid e>>) INFO <<t %m-%d %H:%M:%S>> [core.py:61] Setting up V1 of the engine (v0.8.3), its config: model='org/model-70b', tensor_parallel_size=8, seed=None",
    "(EngineCore_DP0 pid=<<pid e>>) INFO <<t %m-%d %H:%M:%S>> [gpu_model_runner.py:1273] The model is in: <<d 16.5 0.1 .4f>> GiB and <<d 31.84 6 .6f>> seconds",
    "(EngineCore_DP0 pid=<<pid e>>) INFO <<t %m-%d %H:%M:%S>> [kv_cache_utils.py:578] KV cache of the GPU: <<d 201344 0.1 ,d>> tokens",
    "(EngineCore_DP0 pid=<<pid e>>) INFO <<t %m-%d %H:%M:%S>> [backends.py:430] Dynamo changed the bytecode in: <<d 9.51 8 .2f>> s",
    "INFO:     The server is process [<<pid a>>]",
    "INFO:     The application is about to start.",
    "INFO:     The application has started.",
    "INFO <<t %m-%d %H:%M:%S>> [launcher.py:36] Route: /v1/models, Methods: GET",
    "(APIServer pid=<<pid a>>) INFO <<t %m-%d %H:%M:%S>> [loggers.py:271] Engine 000: Avg prompt throughput: <<d 12068 20 .1f>> tokens/s, Avg generation throughput: <<d 734.9 20 .1f>> tokens/s, Running: <<d 18 15 d>> reqs, Waiting: <<d 33 15 d>> reqs, GPU KV cache usage: <<d 87.7 8 .1f>>%, Prefix cache hit rate: 0.0%",
    odd(6, None, "(EngineCore_DP0 pid=<<pid e>>) ERROR <<t %m-%d %H:%M:%S>> [core.py:390] EngineCore ends by an exception: torch.OutOfMemoryError: No CUDA memory is left. It wanted 896.00 MiB."),
])

M = "(EngineCore_DP0 pid=<<pid e>>) (Worker_TP<<g>> pid=<<pid g>>) ERROR <<t %m-%d %H:%M:%S>> [multiproc_executor.py:711] "

case("vllm-multiproc-traceback", "vllm-project/vllm#28568, huggingface/trl#3310", "gpu", "err", [
    gpublock(4, [
        M + "WorkerProc ends by an exception.",
        M + "Traceback (most recent call last):",
        M + '  File "/opt/vllm/vllm/v1/executor/multiproc_executor.py", line 706, in worker_busy_loop',
        M + "    result = call(*words, **options)",
        M + "             ^^^^^^^^^^^^^^^^^^^^^^^",
        M + "torch.distributed.DistBackendError: NCCL failed at: ProcessGroupNCCL.cpp:3356, system error not handled",
    ]),
    only(2, "(EngineCore_DP0 pid=<<pid e>>) ERROR <<t %m-%d %H:%M:%S>> [core.py:718] RuntimeError: cancelled"),
])

case("sglang-decode", "sgl-project/sglang#20766, #22331, #1612", "gpu", "out", [
    "[<<t %Y-%m-%d %H:%M:%S>>] server_args=ServerArgs(model_path='org/model', host='0.0.0.0', port=8089, tp_size=8, node_rank=<<rank>>, nnodes=8)",
    "[<<t %Y-%m-%d %H:%M:%S>> TP0] Setup of torch.distributed begins.",
    "[<<t %Y-%m-%d %H:%M:%S>> TP0] All weights are in. type=DeepseekV3ForCausalLM, dtype=torch.bfloat16, avail mem=<<d 12.4 2 .2f>> GB, mem usage=81.20 GB.",
    "[<<t %Y-%m-%d %H:%M:%S>> DP<<vh>> TP<<vh>>] Prefill batch, #new-seq: 1, #new-token: 6, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0",
    "[<<t %Y-%m-%d %H:%M:%S>> DP<<vh>> TP<<vh>>] Decode batch, #running-req: 12, #token: 768, token usage: 0.00, cuda graph: True, gen throughput (token/s): <<d 3.83 0.4 .2f>>, #queue-req: 0",
    odd(4, "[<<t %H:%M:%S>> TP0] Decode batch. #running-req: 1, #token: 495, token usage: 0.00, gen throughput (token/s): <<d 23.83 1 .2f>>, #queue-req: 0",
           "[<<t %H:%M:%S>> TP0] Scheduler ends by an exception: Traceback (most recent call last):"),
])

case("ray-train", "ray-project/ray#40536, #58878, #45825", "tpu", "out", [
    only(0, "(TorchTrainer pid=7236) Processes of the workers now run: "),
    "(RayTrainWorker pid=<<pid r>>, ip=<<ip>>) The process group is made by: env:// [rank=<<rank>>, world_size=8]",
    only(0, "(TorchTrainer pid=7236) - (ip=10.130.0.10, pid=7410) rank=0, local_rank=0, node_rank=0"),
    only(0, "(TorchTrainer pid=7236) - (ip=10.130.0.11, pid=3381) rank=1, local_rank=0, node_rank=1"),
    "(RayTrainWorker pid=<<pid r>>, ip=<<ip>>) The model goes to device: cuda:0",
    "(RayTrainWorker pid=<<pid r>>, ip=<<ip>>) The given model is put into DistributedDataParallel.",
    "(RayTrainWorker pid=<<pid r>>, ip=<<ip>>) A new checkpoint now lies at: Checkpoint(filesystem=local, path=/results/TorchTrainer_<<hex 5 z>>_00000/checkpoint_000000)",
    odd(6, "(RayTrainWorker pid=<<pid r>>, ip=<<ip>>) epoch 0 done", "(RayTrainWorker pid=<<pid r>>, ip=<<ip>>) In the midst of a task a worker was lost, for an error of the system that nobody foresaw."),
])

case("ray-core", "ray-project/ray#16979, meta-pytorch/torchx#492 (form of raylet lines: read)", "tpu", "err", [
    "<<t %Y-%m-%d %H:%M:%S,%3>>\tINFO scripts.py:1163 -- IP of this node: <<ip>>",
    "<<t %Y-%m-%d %H:%M:%S,%3>>\tSUCC scripts.py:1179 -- --------------------",
    "<<t %Y-%m-%d %H:%M:%S,%3>>\tSUCC scripts.py:1180 -- Ray is up and running.",
    "[<<t %Y-%m-%d %H:%M:%S,%3>> I <<pid c>> <<lwp c>>] (raylet) accessor.cc:762: News of a node have come, IsAlive = 1 node_id=8f2b4c",
    "[<<t %Y-%m-%d %H:%M:%S,%3>> W <<pid c>> <<lwp c>>] (raylet) metric_exporter.cc:209: The agent did not get the metrics: RpcError: RPC Error message: none of the addresses answers",
    odd(1, "(raylet) [<<t %Y-%m-%d %H:%M:%S,%3>> E <<pid c>> <<lwp c>>] (raylet) file_system_monitor.cc:116: /tmp/ray/session_<<t %Y-%m-%d_%H-%M-%S_%6>>_<<pid s>> has passed 95% of its room, space left: <<d 12.31 20 .4f>> GB; capacity: 96.75 GB. Objects that would have to be spilled cannot be made.",
           "(raylet) [<<t %Y-%m-%d %H:%M:%S,%3>> E <<pid c>> <<lwp c>>] (raylet) node_manager.cc:3064: 1 Workers (tasks / actors) ended for want of memory (OOM), 0 Workers ended for any other cause"),
])

case("tgi-rust-tracing", "huggingface/text-generation-inference#2657, #1838, #2828", "gpu", "out", [
    "<<t %Y-%m-%dT%H:%M:%S.%6Z>>  INFO text_generation_launcher: Args {",
    "    model_id: \"org/model-7b\",",
    "    num_shard: Some(",
    "        4,",
    "    ),",
    "    hostname: \"<<host>>\",",
    "}",
    gpu(4, "<<t %Y-%m-%dT%H:%M:%S.%6Z>>  INFO shard-manager: text_generation_launcher: The shard is not there yet... rank=<<g>>"),
    gpu(4, "<<t %Y-%m-%dT%H:%M:%S.%6Z>>  INFO shard-manager: text_generation_launcher: Shard is up after <<d 42.31 4 .9f>>s rank=<<g>>"),
    "<<t %Y-%m-%dT%H:%M:%S.%6Z>>  INFO text_generation_launcher: The Webserver begins",
    odd(2, "<<t %Y-%m-%dT%H:%M:%S.%6Z>>  INFO text_generation_router: router/src/main.rs:317: Connected", "<<t %Y-%m-%dT%H:%M:%S.%6Z>> ERROR text_generation_launcher: The Webserver is gone"),
])

case("tgi-rust-ansi", "huggingface/text-generation-inference#1763", "gpu", "out", [
    "\x1b[2m<<t %Y-%m-%dT%H:%M:%S.%6Z>>\x1b[0m \x1b[32m INFO\x1b[0m \x1b[1mshard-manager\x1b[0m: \x1b[2mtext_generation_launcher\x1b[0m\x1b[2m:\x1b[0m The shard is not there yet... \x1b[2m\x1b[3mrank\x1b[0m\x1b[2m=\x1b[0m0\x1b[0m",
    "\x1b[2m<<t %Y-%m-%dT%H:%M:%S.%6Z>>\x1b[0m \x1b[32m INFO\x1b[0m \x1b[2mtext_generation_router\x1b[0m\x1b[2m:\x1b[0m The model gets warm",
    "\x1b[2m<<t %Y-%m-%dT%H:%M:%S.%6Z>>\x1b[0m \x1b[32m INFO\x1b[0m \x1b[2mworker\x1b[0m\x1b[2m:\x1b[0m joined \x1b[3mnode\x1b[0m\x1b[2m=\x1b[0m<<rank>> \x1b[3mpid\x1b[0m\x1b[2m=\x1b[0m<<pid p>>",
    odd(6, "\x1b[2m<<t %Y-%m-%dT%H:%M:%S.%6Z>>\x1b[0m \x1b[32m INFO\x1b[0m \x1b[2mtext_generation_router\x1b[0m\x1b[2m:\x1b[0m Connected",
           "\x1b[2m<<t %Y-%m-%dT%H:%M:%S.%6Z>>\x1b[0m \x1b[31mERROR\x1b[0m \x1b[2mtext_generation_router\x1b[0m\x1b[2m:\x1b[0m Not connected"),
    "thread 'tokio-runtime-worker' panicked at router/src/infer.rs:598:14:",
])

case("spdlog-ovms", "openvinotoolkit/model_server#2560", "gpu", "out", [
    "[<<t %Y-%m-%d %H:%M:%S.%3>>][<<lwp a>>][serving][info][server.cpp:75] Model Server 2024.2",
    "[<<t %Y-%m-%d %H:%M:%S.%3>>][<<lwp a>>][modelmanager][info][modelmanager.cpp:143] The model comes from /models/1",
    "[<<t %Y-%m-%d %H:%M:%S.%3>>][<<lwp b>>][llm_executor][info][llm_executor.hpp:64] Requests in all: <<d 3 60 d>>; of them scheduled: 0; Cache used 0.0%;",
    odd(3, "[<<t %Y-%m-%d %H:%M:%S.%3>>][<<lwp a>>][serving][info][grpcservermodule.cpp:170] Listening with gRPC on port 9178", "[<<t %Y-%m-%d %H:%M:%S.%3>>][<<lwp a>>][serving][error][grpcservermodule.cpp:163] Cannot listen with gRPC at 0.0.0.0:9178"),
    "[<<t %Y-%m-%d %H:%M:%S.%3>>] [info] plain spdlog: ready",
    "[<<t %Y-%m-%d %H:%M:%S.%3>>] [engine] [warning] step 12 slow",
    "[<<t %Y-%m-%d %H:%M:%S.%3>>] [<<lwp c>>] [info] with thread: ready",
])

case("zap-json", "ManageIQ/manageiq-pods#662", "gpu", "err", [
    '{"level":"info","ts":<<epoch 7>>,"logger":"cmd","msg":"Version of Go: go1.14.4"}',
    '{"level":"info","ts":<<epoch 6>>,"caller":"agent/main.go:88","msg":"registered","node":"<<host>>","pid":<<pid p>>}',
    '{"level":"info","ts":"<<t %Y-%m-%dT%H:%M:%S.%3Z>>","logger":"controller-runtime.metrics","msg":"metrics can be asked for from now on","addr":"0.0.0.0:8383"}',
    odd(5, '{"level":"info","ts":<<epoch 7>>,"logger":"cmd","msg":"The Cmd begins."}', '{"level":"error","ts":<<epoch 7>>,"logger":"cmd","msg":"The manager ended badly","error":"somebody else leads now"}'),
    "<<t %Y-%m-%dT%H:%M:%S.%3Z>>\tINFO\tagent/main.go:91\tready\t{\"rank\": <<rank>>}",
    "<<t %Y-%m-%dT%H:%M:%S.%3Z>>\tERROR\tagent/main.go:99\tretry\t{\"took\": \"<<d 12.31 9 .2f>>ms\"}",
    "<<t %Y/%m/%d %H:%M:%S>> http: response.WriteHeader was called once too often",
])

case("loguru-rich", "worded from loguru's and rich's defaults; hiyouga/LlamaFactory and others (read)", "gpu", "err", [
    "\x1b[32m<<t %Y-%m-%d %H:%M:%S.%3>>\x1b[0m | \x1b[1mINFO    \x1b[0m | \x1b[36m__main__\x1b[0m:\x1b[36mmain\x1b[0m:\x1b[36m42\x1b[0m - \x1b[1mstarting rank <<rank>> of 8\x1b[0m",
    "<<t %Y-%m-%d %H:%M:%S.%3>> | INFO     | trainer:fit:120 - epoch 1: loss 2.310",
    odd(7, "<<t %Y-%m-%d %H:%M:%S.%3>> | INFO     | trainer:fit:120 - epoch 2: loss 2.104", "<<t %Y-%m-%d %H:%M:%S.%3>> | ERROR    | trainer:fit:131 - epoch 2: a worker is gone without notice"),
    "[<<t %m/%d/%y %H:%M:%S>>] INFO     loaded config from /app/conf.yaml                                  config.py:33",
    "           INFO     seed is 42                                                        config.py:35",
    "[<<t %H:%M:%S>>] WARNING  slow batch: <<d 1.31 9 .2f>> s                                              loop.py:90",
    "<<t %Y-%m-%d %H:%M:%S.%3>> | INFO     | <<host>> | pid <<pid p>> | trainer:fit:140 - saved",
    "INFO:root:<<t %Y-%m-%d %H:%M:%S>>: epoch done",
    "INFO:trainer:rank <<rank>>: done in <<d 12.1 5 .1f>>s",
])
