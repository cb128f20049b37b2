#!/usr/bin/env bash
#SBATCH --gres=gpu:8
set -euo pipefail
export CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-0,1}"
gpus=$(nvidia-smi --list-gpus | wc -l)
if [ "$1" = ds ]; then deepspeed train.py; fi
NCCL_DEBUG=WARN srun -N 2 torchrun --nproc_per_node="${gpus}" \
  train.py "$@"
