from words import *

D = "[<<t %Y-%m-%d %H:%M:%S,%3>>] [INFO] "

case("deepspeed", "deepspeedai/DeepSpeedExamples#381, deepspeedai/DeepSpeed#3742, #1825", "gpu", "out", [
    D + "[real_accelerator.py:110:get_accelerator] Taking cuda as ds_accelerator (auto detect)",
    D + "[launch.py:145:main] WORLD INFO DICT: {'gpu-node-0': [0], 'gpu-node-1': [0], 'gpu-node-2': [0], 'gpu-node-3': [0], 'gpu-node-4': [0], 'gpu-node-5': [0], 'gpu-node-6': [0], 'gpu-node-7': [0]}",
    D + "[launch.py:151:main] nnodes=8, num_local_procs=1, node_rank=<<rank>>",
    D + "[comm.py:594:init_distributed] cdb=None",
    D + "[logging.py:96:log_dist] [Rank <<rank>>] DeepSpeed info: version=0.9.2, git-hash=unknown, git-branch=unknown",
    "Below /home/user/.cache/torch_extensions/py310_cu117 go the extensions of PyTorch...",
    "Taking in the extension fused_adam...",
    "Loaded the fused_adam op in: <<d 0.0721 20 .16f>> seconds",
    only(0, D + "[logging.py:96:log_dist] [Rank 0] step=40, skipped=2, lr=[5e-05], mom=[[0.9, 0.999]]"),
    only(0, D + "[timer.py:199:stop] epoch=0/micro_step=40/global_step=40, RunningAvgSamplesPerSec=7.864669709950182, CurrSamplesPerSec=8.00912418308922, MemAllocated=59.65GB, MaxMemAllocated=63.31GB"),
    D + "[timer.py:199:stop] epoch=0/micro_step=41/global_step=41, RunningAvgSamplesPerSec=<<d 7.864 1 .15f>>, CurrSamplesPerSec=<<d 8.009 1 .14f>>, MemAllocated=<<d 59.65 1 .2f>>GB, MaxMemAllocated=<<d 63.31 1 .2f>>GB",
    odd(6, D + "[launch.py:350:main] Process <<pid p>> ends without an error.",
           "[<<t %Y-%m-%d %H:%M:%S,%3>>] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python3', '-u', 'train.py', '--local_rank=0'] ends with return code = -9"),
])

case("megatron", "epfLLM/Megatron-LLM#11, NVIDIA/nccl#743", "gpu", "out", [
    "[now that all data is at hand] datetime: <<t %Y-%m-%d %H:%M:%S>> ",
    "setup is over ...",
    "here it goes ...",
    "(min, max) time over all ranks (ms):",
    "    model-and-optimizer-setup ......................: (<<d 294.0 1 .2f>>, <<d 301.0 1 .2f>>)",
    "[right ahead of the first step] datetime: <<t %Y-%m-%d %H:%M:%S>> ",
    only(7, " [<<t %Y-%m-%d %H:%M:%S>>] iteration      122/  250000 | consumed samples:       124928 | elapsed time per iteration (ms): 86545.2 | learning rate: 9.150000E-06 | global batch size:  1024 | lm loss: 2.504220E+00 | loss scale: 1.0 | grad norm: 0.231 | number of skipped iterations:   0 | number of nan iterations:   0 |"),
    "Billions of weights that the transformer layers hold:  6.44",
    "[Rank <<rank>>] (after 122 iterations) memory (MB) | allocated: <<d 22384.0 0.5 .10f>> | max allocated: <<d 40231.7 0.5 .10f>> | reserved: <<d 43002.0 0.5 .1f>> | max reserved: <<d 43002.0 0.5 .1f>>",
    only(7, " [<<t %Y-%m-%d %H:%M:%S>>] iteration      123/  250000 | consumed samples:       125952 | elapsed time per iteration (ms): 87871.6 | learning rate: 9.225000E-06 | global batch size:  1024 | lm loss: 2.493043E+00 | loss scale: 1.0 | grad norm: 0.236 | number of skipped iterations:   0 | number of nan iterations:   0 |"),
    only(3, "WARNING: Because the scale of the loss is dynamic, args.check_for_nan_in_loss_and_grad becomes False"),
    "time (ms) | forward-compute: <<d 193.77 2 .2f>> | backward-compute: <<d 73.02 2 .2f>> | optimizer: <<d 63.01 2 .2f>> | batch-generator: <<d 25.27 2 .2f>>",
])

case("nanotron", "huggingface/nanotron#23, #390", "gpu", "out", [
    "<<t %m/%d/%Y %H:%M:%S>> [INFO|DP=<<rank>>|PP=0|TP=0|<<host>>]: Reading and keeping config",
    "<<t %m/%d/%Y %H:%M:%S>> [INFO|DP=<<rank>>|PP=0|TP=0|<<host>>]: There is no path to a checkpoint.",
    "<<t %m/%d/%Y %H:%M:%S>> [INFO|DP=<<rank>>|PP=0|TP=0|<<host>>]: iteration: 991 / 1000 | consumed_tokens: 634K | elapsed_time_per_iteration_ms: <<d 272 3 .0f>> | tokens_per_sec: <<d 2.35 3 .2f>>K | tokens_per_sec_per_gpu: <<d 294 3 .0f>> | global_batch_size: 20 | lm_loss: 9.63 | lr: 1e-05 | model_tflops_per_gpu: <<d 0.00744 3 .5f>> | grad_norm: 1.11",
    odd(2, "<<t %m/%d/%Y %H:%M:%S>> [INFO|DP=<<rank>>|PP=0|TP=0|<<host>>]: iteration: 992 / 1000 | consumed_tokens: 635K | elapsed_time_per_iteration_ms: <<d 268 3 .0f>> | tokens_per_sec: <<d 2.39 3 .2f>>K | tokens_per_sec_per_gpu: <<d 298 3 .0f>> | global_batch_size: 20 | lm_loss: 9.69 | lr: 1e-05 | model_tflops_per_gpu: <<d 0.00755 3 .5f>> | grad_norm: 1.1",
           "<<t %m/%d/%Y %H:%M:%S>> [INFO|DP=<<rank>>|PP=0|TP=0|<<host>>]: iteration: 992 / 1000 | consumed_tokens: 635K | elapsed_time_per_iteration_ms: <<d 268 3 .0f>> | tokens_per_sec: <<d 2.39 3 .2f>>K | tokens_per_sec_per_gpu: <<d 298 3 .0f>> | global_batch_size: 20 | lm_loss: nan | lr: 1e-05 | model_tflops_per_gpu: <<d 0.00755 3 .5f>> | grad_norm: nan"),
    "<<t %m/%d/%Y %H:%M:%S>> [WARNING|DP=<<rank>>|PP=0|TP=0|<<host>>]: Writing all weights...",
])

case("lightning-ddp", "StrongResearch/isc-demos#15, Lightning-AI/pytorch-lightning#4705", "gpu", "both", [
    err("[rank: <<rank>>] The seed is 42"),
    err("GPU found: True (cuda), used: True"),
    err("Joining all others: GLOBAL_RANK: <<rank>>, MEMBER: <<rank1>>/8"),
    only(0, "----------------------------------------------------------------------------------------------------"),
    only(0, "distributed_backend=nccl"),
    only(0, "All of the processes are known. It begins with 8 processes"),
    err("LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1,2,3,4,5,6,7]"),
    out("/opt/venv/lib/python3.10/site-packages/lightning/pytorch/callbacks/model_checkpoint.py:654: There is something in the folder /ckpt already."),
    bar("Epoch 0", 500, [(1, "v_num=31, train_loss=2.60"), (120, "v_num=31, train_loss=2.41"), (350, "v_num=31, train_loss=2.20"), (500, "v_num=31, train_loss=2.11")], rate=6.65, percent=4),
    out("Epoch 0, global step 500: 'val_loss' came to <<v 2.11042 0.01 .5f>> (best <<v 2.11042 0.01 .5f>>), writing it to '/ckpt/epoch=0-step=500.ckpt' as top 1"),
    only(3, "[rank: 3] The child of this rank, PID 44121, ended with code 1. All others are killed now, so that none stays behind"),
])

case("hf-trainer-steps", "modal-labs/llm-finetuning#82, SY-Xuan/Pink#6, huggingface/transformers#22751", "gpu", "both", [
    raw("\r  0%|          | 0/1000 [00:00<?, ?it/s]"),
    cr(["  1%|          | <<d 10 20 d>>/1000 [<<dur 10 5 ms>><<lt>><<dur 1030 5 ms>>,  <<d 1.02 3 .2f>>s/it]"], end=False, stream="err"),
    out("{'loss': 0.0923, 'grad_norm': 2.383980345174379, 'learning_rate': 9.659320146057262e-05, 'epoch': 0.38}"),
    cr(["  2%|2         | 20/1000 [00:<<nint 20 22>><17:0<<nint 1 9>>,  <<d 1.02 3 .2f>>s/it]"], end=False, stream="err"),
    odd(4, "{'loss': 0.0981, 'grad_norm': 2.0199484401564374, 'learning_rate': 9.60561826557425e-05, 'epoch': 0.4}",
           "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 9.60561826557425e-05, 'epoch': 0.4}"),
    cr(["  3%|3         | 30/1000 [00:<<nint 30 33>><16:4<<nint 1 9>>,  <<d 1.02 3 .2f>>s/it]"], end=False, stream="err"),
    out("{'loss': 0.0879, 'grad_norm': <<v 1.8279883501331209 1 .16f>>, 'learning_rate': 9.548159976772592e-05, 'epoch': 0.42}"),
    out("{'train_runtime': <<d 1021.3 1 .4f>>, 'train_samples_per_second': <<d 31.3 1 .3f>>, 'train_steps_per_second': <<d 0.979 1 .3f>>, 'train_loss': 0.0891, 'epoch': 1.0}"),
    cr(["100%|##########| 1000/1000 [17:<<nint 10 59>><00:00,  <<d 1.02 3 .2f>>s/it]"], end=True, stream="err"),
])

case("hf-download-bars", "sgl-project/sglang#3434, agiresearch/AIOS#14", "gpu", "err", [
    bar("model-00001-of-00004.safetensors", 4900, [(0, ""), (1200, ""), (3100, ""), (4900, "")], rate=92.0, percent=20, unit="B"),
    bar("Shards that are here", 4, [(0, ""), (1, ""), (3, ""), (4, "")], rate=0.2, percent=15),
    bar("Shards put in memory", 4, [(0, ""), (2, ""), (4, "")], rate=1.8, percent=15),
    cr(["Safetensors that are in memory now:   0% Completed | 0/158 [00:00<?, ?it/s]", "Safetensors that are in memory now:  20% Completed | 32/158 [00:0<<nint 4 6>><00:1<<nint 7 9>>,  <<d 6.9 10 .2f>>it/s]", "Safetensors that are in memory now: 100% Completed | 158/158 [00:<<nint 22 29>><00:00,  <<d 6.9 10 .2f>>it/s]"]),
    "",
    only(5, "huggingface_hub.utils._errors.HfHubHTTPError: 429 Client Error: Too Many Requests, in a call of: https://huggingface.co/api/models/org/model (Request ID: Root=1-65f1-2b1)"),
    cr(["Map (num_proc=16):   0%|          | 0/52002 [00:00<?, ? examples/s]", "Map (num_proc=16):  45%|####5     | <<d 23400 6 d>>/52002 [00:02<00:0<<nint 2 4>>, <<d 13070 8 .2f>> examples/s]", "Map (num_proc=16): 100%|##########| 52002/52002 [00:0<<nint 3 5>><00:00, <<d 14517 8 .2f>> examples/s]"]),
])

A = "[<<t %Y-%m-%d %H:%M:%S,%3>>] [INFO] "

case("axolotl-8gpu", "axolotl-ai-cloud/axolotl#1153, #2608", "gpu", "out", [
    gpu(4, A + "[axolotl.load_model:625] [PID:<<pid g>>] [RANK:<<grank>>] GPU memory once adapters are in: <<d 25.701 0.1 .3f>>GB (+<<d 0.079 9 .3f>>GB cache, +<<d 1.045 9 .3f>>GB misc)"),
    gpu(4, "trainable params: 746,610,688 || all params: 47,449,419,776 || trainable%: 1.5734874978969438"),
    gpu(4, A + "[axolotl.utils.samplers.multipack._len_est:178] [PID:<<pid g>>] [RANK:<<grank>>] packing_efficiency_estimate: 0.91 total_num_tokens per device: 64375"),
    gpu(4, "[<<t %Y-%m-%d %H:%M:%S,%3>>] [DEBUG] [axolotl.utils.models.load_tokenizer:461] [PID:<<pid g>>] [RANK:<<grank>>] EOS: 128001 / <|end_of_text|>",
        odd={(6, 2): "[<<t %Y-%m-%d %H:%M:%S,%3>>] [DEBUG] [axolotl.utils.models.load_tokenizer:461] [PID:<<pid g>>] [RANK:<<grank>>] EOS: 128009 / <|eot_id|>"}),
])

case("olmo-records", "allenai/OLMo#692", "gpu", "out", [
    block(ALL, [
        "<<t %Y-%m-%d %H:%M:%S.%3>>\t<<host>>:0\tolmo.train:908\tINFO\t[step=1/739328,epoch=0]",
        "    optim/total_grad_norm=231.7",
        "    train/CrossEntropyLoss=12.18",
        "    train/Perplexity=195,153",
        "    throughput/total_tokens=1,048,576",
        "    throughput/device/tokens_per_second=<<d 26668 0.5 ,d>>",
        "    throughput/device/batches_per_second=<<d 0.0254 0.5 .4f>>",
        "    System/Peak GPU Memory (MB)=46,911",
    ]),
    pause(0.5),
    block(ALL, [
        "<<t %Y-%m-%d %H:%M:%S.%3>>\t<<host>>:0\tolmo.train:908\tINFO\t[step=2/739328,epoch=0]",
        "    optim/total_grad_norm=0.0002",
        "    train/CrossEntropyLoss=11.02",
        "    train/Perplexity=61,083",
        "    throughput/total_tokens=2,097,152",
        "    throughput/device/tokens_per_second=<<d 26668 0.5 ,d>>",
        "    throughput/device/batches_per_second=<<d 0.0254 0.5 .4f>>",
        "    System/Peak GPU Memory (MB)=53,695",
    ], odd={3: {2: "    train/CrossEntropyLoss=nan", 3: "    train/Perplexity=nan"}}),
])

case("nanogpt", "karpathy/nanoGPT#167", "gpu", "out", [
    "an iteration takes tokens: 491,520",
    "parameters in the model: 123.59M",
    "the compiler is at work... (for a ~minute)",
    "step 0: train loss 10.9897, val loss 10.9885",
    "iter 36298: loss <<v 5.8465 1 .4f>>, time <<d 148.74 3 .2f>>ms, mfu <<d 41.2 3 .2f>>%",
    odd(1, "iter 36299: loss <<v 6.2880 1 .4f>>, time <<d 170.97 3 .2f>>ms, mfu <<d 41.2 3 .2f>>%", "iter 36299: loss nan, time <<d 170.97 3 .2f>>ms, mfu <<d 41.2 3 .2f>>%"),
    "checkpoint goes to out",
])

case("torchtune-role-prefix", "meta-pytorch/torchtune#2620", "gpu", "out", [
    gpu(2, "[trainer<<g>>|<<g>>]:INFO:torchtune.utils._logging:The scheduler of the rate is ready."),
    gpu(2, "[trainer<<g>>|<<g>>]:WARNING:torchtune.utils._logging: No profile is taken."),
    gpu(2, "[trainer<<g>>|<<g>>]:1|1|Loss: 2.7997918128967285:   1%|          | 1/101 [00:20<34:51, <<d 20.91 2 .2f>>s/it]"),
    gpu(2, "[trainer<<g>>|<<g>>]:1|2|Loss: 2.764298677444458:   2%|2         | 2/101 [00:38<31:17, <<d 18.96 2 .2f>>s/it]", odd={(4, 1): "[trainer1|1]:1|2|Loss: nan:   2%|2         | 2/101 [00:38<31:17, 18.96s/it]"}),
])

case("pith-pipes", "mlc-ai/pith-train#7", "gpu", "out", [
    "<<t %Y-%m-%d %H:%M:%S>> | INFO | step 00000001/00000015 | step-time <<d 73.352 1 .3f>> sec | cross-entropy-loss 2.6636 | load-balance-loss 0.001807 | learning-rate 1.000000e-06 | gradient-norm 20.2657 | tokens-per-second <<d 28590 1 ,d>> | peak-gpu-memory <<d 63.65 1 .2f>> GB",
    odd(6, "<<t %Y-%m-%d %H:%M:%S>> | INFO | step 00000002/00000015 | step-time <<d 28.823 1 .3f>> sec | cross-entropy-loss 2.5949 | load-balance-loss 0.001803 | learning-rate 1.000000e-06 | gradient-norm 20.0672 | tokens-per-second <<d 72759 1 ,d>> | peak-gpu-memory <<d 63.84 1 .2f>> GB",
           "<<t %Y-%m-%d %H:%M:%S>> | INFO | step 00000003/00000015 | step-time <<d 28.823 1 .3f>> sec | cross-entropy-loss 2.5949 | load-balance-loss 0.001803 | learning-rate 1.000000e-06 | gradient-norm 20.0672 | tokens-per-second <<d 72759 1 ,d>> | peak-gpu-memory <<d 63.84 1 .2f>> GB"),
    "<<t %Y-%m-%d %H:%M:%S>> | INFO | checkpoint now lies in /ckpt/00000002",
])
