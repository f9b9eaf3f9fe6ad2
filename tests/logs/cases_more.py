from words import *

case("host-lists", "deepspeedai/DeepSpeedExamples#381, ray-project/ray#40536, pytorch/pytorch elastic (forms)", "gpu", "out", [
    "[<<t %Y-%m-%d %H:%M:%S,%3>>] [INFO] [runner.py:446:main] The IP address of gpu-node-0 stands for node gpu-node-0",
    "nodes: gpu-node-0 gpu-node-1 gpu-node-2 gpu-node-3 gpu-node-4 gpu-node-5 gpu-node-6 gpu-node-7",
    "MASTER_ADDR=gpu-node-0 MASTER_PORT=29500 WORLD_SIZE=8 NODE_RANK=<<rank>>",
    "<<t %Y-%m-%d %H:%M:%S,%3>> - INFO - Processes of the workers now run: ['7410 (10.130.0.10)', '3381 (10.130.0.11)', '9172 (10.130.0.12)']",
    "only rank 0 writes the checkpoint",
    odd(3, "connected to gpu-node-0:29500", "connection to gpu-node-0:29500 refused"),
    "lost contact with gpu-node-6",
    "rank 6 missed 3 heartbeats",
    only(6, "SIGTERM received"),
])

case("repeat-extra", "worded here: a health line each second, one host retries once", "gpu", "out",
     [item for step in range(1, 8) for item in (["INFO health check ok"] + ([only(4, "INFO health check ok")] if step == 3 else []))], gap=0.9)

def nested(n):
    items = [raw("\r")]
    for i in range(1, n + 1):
        items.append(cr([f"Epochs:  {10 * i}%|{'█' * i}{' ' * (10 - i)}| {i}/10 [00:<<nint 1{i} 1{i}>><00:<<nint 10 19>>,  <<d 1.2 9 .2f>>s/it]"]))
        items.append(cr([f"\rBatches:  {10 * i}%|{'█' * i}{' ' * (10 - i)}| {i}/10 [00:0{i}<00:0<<nint 1 9>>, <<d 12.1 9 .2f>>it/s]\x1b[A"], end=False))
    return items

case("tqdm-nested", "intelligent-machine-learning/dlrover#564 (Lightning's bars), tqdm's position=", "gpu", "err", nested(6) + ["", only(2, "ValueError: bad batch 7")])

case("hostname-unknown", "ray-project/ray#59778, allenai/OLMo#692 (forms)", "tpu", "out", [
    "<<t %Y-%m-%d %H:%M:%S.%3>>\t<<host>>:0\tolmo.util:140\tINFO\tready",
    "starting on <<host>> (<<ip>>), process <<rank>> of 8",
    "<<t %b %e %H:%M:%S>> <<host>> tpu-runtime[<<pid t>>]: started",
    odd(2, "user@<<host>>:~$ python train.py", "user@<<host>>:~$ python3 train.py"),
    "saved to /ckpt/<<host>>/step_100",
])

case("open-clip", "mertyg/vision-language-models-are-bows#27, mlfoundations/open_clip#681", "gpu", "out", [
    "<<t %Y-%m-%d,%H:%M:%S>> | INFO | More than one of them work on this together. Device: cuda:0.Process (global: <<rank>>, local 0), total 8.",
    "<<t %Y-%m-%d,%H:%M:%S>> | INFO | Begin epoch 0",
    "<<t %Y-%m-%d,%H:%M:%S>> | INFO | Train Epoch: 0 [  6464/109468 (3%)] Loss: 0.97884 (1.023) Data (t): <<d 0.158 20 .3f>> Batch (t): <<d 0.559 5 .3f>>, <<d 36.0876 5 .4f>>/s LR: 0.000001 Logit Scale: 99.995 - V4",
    odd(3, "<<t %Y-%m-%d,%H:%M:%S>> | INFO | Eval Epoch: 1 imagenet-zeroshot-val-top1: 0.0123", "<<t %Y-%m-%d,%H:%M:%S>> | ERROR | An error of webdataset (OSError(5)). It is passed over."),
])

case("icefall", "k2-fsa/icefall#63", "gpu", "out", [
    "<<t %Y-%m-%d %H:%M:%S,%3>> INFO [asr_datamodule.py:161] (<<rank>>/8) Musan cuts are read next",
    "<<t %Y-%m-%d %H:%M:%S,%3>> INFO [train.py:727] (<<rank>>/8) epoch 0, learning rate 0",
    odd(6, "<<t %Y-%m-%d %H:%M:%S,%3>> INFO [train.py:540] (<<rank>>/8) Epoch 1, batch 50, loss[loss=3.31, simple_loss=6.62]", "<<t %Y-%m-%d %H:%M:%S,%3>> INFO [train.py:540] (<<rank>>/8) Epoch 1, batch 50, loss[loss=inf, simple_loss=inf]"),
])

case("mmdet", "open-mmlab/mmdetection#2672, open-mmlab/mmengine#155", "gpu", "err", [
    "<<t %Y-%m-%d %H:%M:%S,%3>> - mmdet - INFO - Distributed training: True",
    "<<t %Y-%m-%d %H:%M:%S,%3>> - mmdet - INFO - Begin the run, host: user@<<host>>, work_dir: /work",
    "<<t %Y-%m-%d %H:%M:%S,%3>> - mmdet - INFO - Epoch [1][2400/7517]\tlr: 0.00125, eta: <<dur 16389 0.3 hms>>, time: <<d 0.595 1 .3f>>, data_time: <<d 0.032 9 .3f>>, memory: 6836, loss_rpn_cls: 0.0989, acc: 93.4961, loss: 0.4890",
    "<<t %m/%d %H:%M:%S>> - mmengine - INFO - Epoch(train) [1][10/90]  lr: 1.000e-02  eta: <<dur 25 9 hms>>  time: <<d 0.010 20 .3f>>  data_time: 0.000  memory: 0  loss: 11.4723",
    odd(1, "<<t %Y-%m-%d %H:%M:%S,%3>> - mmdet - INFO - Checkpoint written after 1 epochs", "<<t %Y-%m-%d %H:%M:%S,%3>> - mmdet - WARNING - The best score up to now is -inf"),
])

case("colossalai-rich", "hpcaitech/ColossalAI#4994, #3172", "gpu", "out", [
    block(ALL, [
        "[<<t %m/%d/%y %H:%M:%S>>] INFO     colossalai - colossalai - INFO:                    ",
        "                             /opt/venv/lib/python3.10/site-",
        "                             packages/colossalai/initialize.py:63 launch        ",
        "                    INFO     colossalai - colossalai - INFO: The setup of        ",
        "                             all processes is complete, world size: 8          ",
    ]),
    "                    INFO     colossalai - colossalai - INFO: seeds are set on rank <<rank>>, numpy: 1024, random of python: 1024, ParallelMode.DATA: 1024",
    block([2], [
        "[<<t %m/%d/%y %H:%M:%S>>] ERROR    colossalai - colossalai - ERROR:                   ",
        "                             /opt/venv/lib/python3.10/site-",
        "                             packages/colossalai/booster.py:120 backward        ",
    ]),
])

case("accelerate-prefix", "hiyouga/LlamaFactory#163, huggingface/accelerate#2999", "gpu", "out", [
    "stderr: WARNING:torch.distributed.elastic.multiprocessing.api:Telling process <<pid a>> to close by SIGTERM",
    "stderr: ERROR:torch.distributed.elastic.multiprocessing.api:ended (exitcode: 1) local_rank: 0 (pid: <<pid b>>) from binary: /home/user/venv/bin/python",
    "stderr: [rank<<rank>>]:[W<<t %-m%d %H:%M:%S.%9>> ProcessGroupNCCL.cpp:1250] Warning: nobody took the process group down",
    "stderr: I<<t %m%d %H:%M:%S.%6>> <<tid m>> api.py:12] done",
    "stdout: <<t %m/%d/%Y %H:%M:%S>> - INFO - __main__ - Process <<rank>> runs on device: cuda",
    odd(5, "stdout: Each result is as it should be", "stdout: AssertionError: shapes differ: 8 against 7"),
])

case("easylm-dict", "young-geng/EasyLM#32 (form of its pprint: read)", "tpu", "err", [
    raw("\r  0%|          | 0/20000 [00:00<?, ?it/s]"),
    cr(["                                        ", ""]),
    block(ALL, [
        "{'accuracy': 0.41,",
        " 'gradient_norm': 1.21,",
        " 'learning_rate': 2e-05,",
        " 'loss': 2.31,",
        " 'param_norm': 812.0,",
        " 'step': 400}",
        "",
    ], odd={6: {3: " 'loss': nan,"}}),
    cr(["  2%|2         | 400/20000 [08:24<<lt>><<dur 24720 2 ms>>,  <<d 1.26 3 .2f>>s/it]"]),
])
