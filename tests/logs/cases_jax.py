from words import *

case("t5x-steps", "EleutherAI/architecture-objective#26", "tpu", "err", [
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> trainer.py:501] Running step 198",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> trainer.py:501] Running step 199",
    odd(5, "I<<t %m%d %H:%M:%S.%6>> <<tid m>> trainer.py:501] Running step 200",
           "I<<t %m%d %H:%M:%S.%6>> <<tid m>> trainer.py:501] Running step 199"),
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> trainer.py:501] Running step 201",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> train.py:504] Writing the model.",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> checkpoints.py:594] Writing the model of step 1020000 to gs://bucket/model_large/checkpoint_1020000.tmp-<<nint 1647713300 1647713340>>",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> checkpoints.py:600] Model written after <<d 41.2 10 .1f>> seconds.",
    only(3, "E<<t %m%d %H:%M:%S.%6>> <<tid m>> checkpoints.py:640] Could not store shard 3-of-8: 503 Service Unavailable"),
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> trainer.py:501] Running step 202",
])

case("maxtext-steps", "AI-Hypercomputer/maxtext#4847, #761", "tpu", "out", [
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> max_utils.py:695] Memory in all: 6.4 GB, for output: 0.2 GB, for the moment: 6.2 GB, for arguments: 0.2 GB, on the side of the CPU: 0.0 GB.",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> metric_logger.py:297] size of the model: 0.596 billion",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> metric_logger.py:226] finished step: 1, seconds: <<d 10.631 2 .3f>>, TFLOP/s/device: <<d 350.282 2 .3f>>, Tokens/s/device: <<d 19222.5 2 .3f>>, total_weights: 1572864, loss: 12.979, lm_loss: 12.979, perplexity: 433358.281",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> metric_logger.py:226] finished step: 2, seconds: <<d 10.228 2 .3f>>, TFLOP/s/device: <<d 350.869 2 .3f>>, Tokens/s/device: <<d 19222.1 2 .3f>>, total_weights: 1572864, loss: 12.980, lm_loss: 12.980, perplexity: 433463.719",
    odd(4, "I<<t %m%d %H:%M:%S.%6>> <<tid m>> metric_logger.py:226] finished step: 3, seconds: <<d 10.344 2 .3f>>, TFLOP/s/device: <<d 346.932 2 .3f>>, Tokens/s/device: <<d 19006.4 2 .3f>>, total_weights: 1572864, loss: 12.964, lm_loss: 12.964, perplexity: 427110.281",
           "I<<t %m%d %H:%M:%S.%6>> <<tid m>> metric_logger.py:226] finished step: 3, seconds: <<d 10.344 2 .3f>>, TFLOP/s/device: <<d 346.932 2 .3f>>, Tokens/s/device: <<d 19006.4 2 .3f>>, total_weights: 1572864, loss: nan, lm_loss: nan, perplexity: nan"),
    "I<<t %m%d %H:%M:%S.%6>>       7 profiler_session.cc:121] A session of the profiler begins.",
    "I<<t %m%d %H:%M:%S.%6>>     <<nint 700 799 p>> tpu_vxc_driver.cc:3016] ReadGlobalTimeCounter gives measured data",
    "W<<t %m%d %H:%M:%S.%6>>    <<nint 4900 4999 q>> gfc_configs.cc:136]  Tracemark filters of GFC are put at 0..max.",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> metric_logger.py:226] finished step: 4, seconds: <<d 10.301 2 .3f>>, TFLOP/s/device: <<d 347.1 2 .3f>>, Tokens/s/device: <<d 19020.7 2 .3f>>, total_weights: 1572864, loss: 12.957, lm_loss: 12.957, perplexity: 424100.500",
    only(7, "W<<t %m%d %H:%M:%S.%6>> <<tid m>> metric_logger.py:301] step 4 took 31.2 s, 3x the median"),
])

case("orbax-save", "AI-Hypercomputer/ml-goodput-measurement#4", "tpu", "out", [
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> checkpointing.py:1007] Step 19 has to end first, then the checkpoint...",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> checkpointing.py:1011] Took <<d 0.0009036 60 .16f>> seconds until step 19 had ended, now the checkpoint can begin.",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> checkpoint_manager.py:2009] [process=<<rank>>][thread=MainThread][wait_until_finished] No save is being finalized. Going on.",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> checkpoint_manager.py:1512] [process=<<rank>>] Step 19 goes into a checkpoint",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> event_tracking.py:70] [process=<<rank>>] [async] The save has begun @ gs://bucket/run/checkpoints/19.",
    "I<<t %m%d %H:%M:%S.%6>> <<tid w>> atomicity.py:140] New folder for a while: gs://bucket/run/checkpoints/19.orbax-checkpoint-tmp",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> jax_array_handlers.py:378] Queued the D2H copy of 39 urgent jax.Array.",
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> replica_slices.py:425] Arrays are copied out of the device, options: use_replica_parallel=True, min_slice_bytes_for_replica_parallel=None, max_replicas_for_replica_parallel=None",
    "I<<t %m%d %H:%M:%S.%6>> <<tid w>> base_pytree_checkpoint_handler.py:130] [process=<<rank>>] /jax/orbax/write/blocking_gbytes_per_sec: <<d 2.341 8 .3f>> GiB/s (in all: 4.2 GiB) (this took: <<dpick 1 second|2 seconds|1 second>>) (each host)",
    "I<<t %m%d %H:%M:%S.%6>> <<tid w>> array_metadata_store.py:203] [process=<<rank>>][thread=array_type_handler] Stored 39 array_metadata.ArrayMetadata in gs://bucket/run/checkpoints/19.orbax-checkpoint-tmp/items/array_metadatas/process_<<rank>>",
    odd(6, "I<<t %m%d %H:%M:%S.%6>> <<tid w>> async_checkpointer.py:160] [process=<<rank>>][thread=async_save] The save behind the scenes is over. It took: <<d 3.81 9 .6f>>s.",
           "E<<t %m%d %H:%M:%S.%6>> <<tid w>> async_checkpointer.py:172] [process=<<rank>>][thread=async_save] The save behind the scenes broke off: DEADLINE_EXCEEDED: A barrier was not passed in time. Id: save_19. Tasks that are missing: /job:jax_worker/replica:0/task:6"),
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> checkpoint_manager.py:1890] [process=<<rank>>][thread=save_finalize][step=19] CheckpointManager has finalized the save, every host is done.",
])

case("tpu-in-use", "sgl-project/sglang-jax#857", "tpu", "err", [
    block(ALL, [
        "Traceback (most recent call last):",
        '  File "/home/user/app/train.py", line 9, in <module>',
        "    jax.distributed.initialize()",
        "RuntimeError: Backend 'tpu' did not start: ABORTED: Somebody else holds the TPU, namely the one with pid <<pid x>>. This process leaves libtpu.so alone. (JAX_PLATFORMS='' lets it take any backend that there is)",
    ], odd={4: {3: "RuntimeError: Backend 'tpu' did not start: ABORTED: The lockfile by which processes share libtpu is unusable. Remove it: \"$ sudo rm /tmp/libtpu_lockfile\"."}}),
    "<<t %Y-%m-%d %H:%M:%S>> - WARNING - [sgl_jax.srt.entrypoints.engine] A child process is gone before its time, exitcode=256. pid=<<pid y>>",
    odd(1, "<<t %Y-%m-%d %H:%M:%S>> - WARNING - [sgl_jax.srt.entrypoints.engine] A child process is gone before its time, exitcode=256. pid=<<pid z>>",
           "<<t %Y-%m-%d %H:%M:%S>> - WARNING - [sgl_jax.srt.entrypoints.engine] A child process is gone before its time, exitcode=9. pid=<<pid z>>"),
])

case("xla-gpu-service", "pytorch/xla#6880", "gpu", "err", [
    "WARNING: Until absl::InitializeLog() has run, each log message goes to STDERR",
    "I0000 00:00:<<epoch>>   <<nint 14200 14299 p>> service.cc:145] XLA service <<addr8 s>> is up for platform CUDA (which does not say whether XLA gets any work). Devices:",
    "I0000 00:00:<<epoch>>   <<nint 14200 14299 p>> service.cc:153]   StreamExecutor device (0): NVIDIA A100-SXM4-40GB, Compute Capability 8.0",
    odd(2, "I0000 00:00:<<epoch>>   <<nint 14200 14299 p>> service.cc:153]   StreamExecutor device (1): NVIDIA A100-SXM4-40GB, Compute Capability 8.0",
           "I0000 00:00:<<epoch>>   <<nint 14200 14299 p>> service.cc:153]   StreamExecutor device (1): NVIDIA A100-SXM4-80GB, Compute Capability 8.0"),
    "I0000 00:00:<<epoch>>   <<nint 14200 14299 p>> se_gpu_pjrt_client.cc:853] The allocator is BFC.",
    "I0000 00:00:<<epoch>>   <<nint 14200 14299 p>> gpu_helpers.cc:107] BFCAllocator of XLA takes <<d 31827000000 1 d>> bytes on device 0 for itself.",
    "I0000 00:00:<<epoch>>   <<nint 14200 14299 p>> gpu_helpers.cc:107] BFCAllocator of XLA takes 25559924736 bytes on device 1 for itself.",
    "I0000 00:00:<<epoch>>   <<nint 14200 14299 p>> cuda_dnn.cc:529] cuDNN is in, version 8902",
    only(5, "W0000 00:00:<<epoch>>   <<nint 14200 14299 p>> gpu_helpers.cc:155] Allocator (GPU_0_bfc) has no room left for another 20.15GiB, freed_by_count=0."),
])

case("tf-log-thread-id", "pytorch/xla#2937, pytorch/xla#3898", "tpu", "err", [
    "<<t %Y-%m-%d %H:%M:%S.%6>>: I    <<nint 3540 3599 p>> tensorflow/stream_executor/platform/default/dso_loader.cc:49] Now open is the shared library libcudart.so.11.0",
    "WARNING:root:The TPU came up well, its version is pytorch-1.8.1",
    "<<t %Y-%m-%d %H:%M:%S.%6>>: I    <<nint 3540 3599 q>> tensorflow/compiler/xla/xla_client/mesh_service.cc:312] Looking for the master of the mesh (300 seconds) 10.130.0.10:53413",
    "<<t %Y-%m-%d %H:%M:%S.%6>>: E  <<nint 498700 498799 q>> ./tensorflow/compiler/xla/service/collective_ops_utils.h:224] A thread stands still since 5000ms and is perhaps stuck: the one of device ordinal 1, stream <<addr8 s>> until everybody has come to the rendezvous RendezvousKey{run_id=RunId: 564, global_devices=[0,1,2,3], num_local_participants=4, collective_op_kind=cross_replica, op_id=246}",
    only(2, "<<t %Y-%m-%d %H:%M:%S.%6>>: E    <<nint 3540 3599 q>> tensorflow/compiler/xla/xla_client/tf_logging.cc:23] Check failed: session.Run(...) == ::tensorflow::Status::OK() (UNAVAILABLE: The socket is shut vs. OK)"),
    "<<t %Y-%m-%d %H:%M:%S.%6>>: I    <<nint 3540 3599 q>> tensorflow/compiler/xla/xla_client/mesh_service.cc:316] The master of the mesh has answered",
])

case("jax-device-memory", "erfanzar/EasyDeL#71", "tpu", "out", [
    "",
    " kind: Total 2.4GB",
    "         2.1GB (85.08%): buffer",
    "       <<d 369.6 1 .1f>>MB (<<d 14.92 1 .2f>>%): executable",
    "",
    " device: Total 2.1GB",
    "         266.1MB (12.62%): TPU_<<vh>>(process=<<rank>>,(0,<<vh>>,0,0))",
    "         263.1MB (12.48%): TPU_<<vh>>(process=<<rank>>,(1,<<vh>>,0,1))",
    "[TpuDevice(id=<<vh>>, process_index=<<rank>>, coords=(0,<<vh>>,0), core_on_chip=0), TpuDevice(id=<<vh>>, process_index=<<rank>>, coords=(1,<<vh>>,0), core_on_chip=0)]",
    "JAX process: <<rank>> / 8",
    "devices here: 4, devices in all: 32",
    odd(3, "memory analysis: ok", "memory analysis: 31.2GB of 16.0GB, will spill"),
])

case("pytorch-xla-train", "pytorch/xla#6026", "tpu", "out", [
    gpu(4, "| Training Device=xla:0/<<g>> Epoch=1 Step=280 Loss=<<v 0.01022 2 .5f>> Rate=<<d 1760.9 1 .2f>> GlobalRate=<<d 257.1 1 .2f>> Time=<<t %H:%M:%S>>"),
    gpu(4, "| Training Device=xla:0/<<g>> Epoch=1 Step=300 Loss=<<v 0.00902 2 .5f>> Rate=<<d 1766.5 1 .2f>> GlobalRate=<<d 272.7 1 .2f>> Time=<<t %H:%M:%S>>"),
    "Epoch 1 train over <<t %H:%M:%S>>",
    odd(7, "Epoch 1 test over <<t %H:%M:%S>>, Accuracy=98.62", "Epoch 1 test over <<t %H:%M:%S>>, Accuracy=10.31"),
    "Best Accuracy: 98.62%",
])

case("jax-segv", "google-research/t5x#366, ziyanx02/Genesis-backflip#2", "tpu", "err", [
    "I<<t %m%d %H:%M:%S.%6>> <<tid m>> train.py:504] Writing the model.",
    block([5], [
        "Fatal Python error: Segmentation fault",
        "",
        "Thread 0x00007fa040e2b700 (most recent call first):",
        '  File "/usr/lib/python3.8/threading.py", line 306 in wait',
        '  File "/usr/lib/python3.8/queue.py", line 179 in get',
        "",
        "Current thread 0x00007fa2972464c0 (most recent call first):",
        '  File "/home/user/.local/lib/python3.8/site-packages/jax/interpreters/pxla.py", line 664 in _sda_value',
        '  File "/home/user/t5x/t5x/checkpoints.py", line 610 in save',
        '  File "/home/user/t5x/t5x/train.py", line 640 in <module>',
    ]),
    pause(0.6),
    block([0, 1, 2, 3, 4, 6, 7], [
        "Fatal Python error: Aborted",
        "",
        "Thread <<addr0 a>> (most recent call first):",
        '  File "/usr/lib/python3.8/threading.py", line 306 in wait',
        "",
        "Current thread <<addr0 b>> (most recent call first):",
        '  File "/home/user/.local/lib/python3.8/site-packages/jax/_src/api.py", line 1204 in block_until_ready',
        "*** SIGABRT came to PID <<pid p>> (TID <<pid p>>) on cpu <<nint 0 95>> from PID <<pid p>>; its stack: ***",
        "PC: @     <<addr pc>>  (unknown)  raise",
        "    @     <<addr f1>>       1152  (unknown)",
        "    @     <<addr f2>>  (unknown)  (unknown)",
    ]),
])

case("megascale-grpc", "EnzymeAD/Reactant.jl#780, pytorch/xla#6771", "tpu", "err", [
    "<<t %Y-%m-%d %H:%M:%S.%6>>: I external/xla/xla/tsl/platform/default/grpc_credentials.cc:30] The client of gRPC goes without secure credentials.",
    only(0, "<<t %Y-%m-%d %H:%M:%S.%6>>: I external/xla/xla/tsl/distributed_runtime/coordination/coordination_service.cc:637] CoordinationService is being set up"),
    only(0, "<<t %Y-%m-%d %H:%M:%S.%6>>: I external/xla/xla/tsl/distributed_runtime/coordination/coordination_service.cc:535] /job:jax_worker/replica:0/task:<<vh>> is now known to the service. Incarnation: 13275628930187264422"),
    "<<t %Y-%m-%d %H:%M:%S.%6>>: I external/xla/xla/tsl/distributed_runtime/coordination/coordination_service_agent.cc:291] The agent of this task is connected.",
    "I0000 00:00:<<epoch>>  <<lwp a>> coordination_service_agent.cc:472] The agent of this task begins its Shutdown().",
    only(0, "I0000 00:00:<<epoch>>  <<lwp b>> coordination_service.cc:1195] Everybody has come to the barrier before the end."),
    only(0, "I0000 00:00:<<epoch>>  <<lwp b>> coordination_service.cc:686] /job:jax_worker/replica:0/task:3 is no longer known to the service."),
    only(0, "I0000 00:00:<<epoch>>  <<lwp b>> coordination_service.cc:686] /job:jax_worker/replica:0/task:0 is no longer known to the service."),
    odd(3, "I0000 00:00:<<epoch>>  <<lwp a>> coordination_service_agent.cc:493] The agent of this task has ended.",
           "E0000 00:00:<<epoch>>  <<lwp a>> coordination_service_agent.cc:481] The agent could not sign off from the service, status: DEADLINE_EXCEEDED: Deadline Exceeded"),
])
