. /work/w/scratch-mig2/env.sh
python -m benchmarks.scripts.migrate --mirror /work/.mirror --python /work/venvs/scripts/bin/python --quick --keep /work/w/scratch-mig2/keep --only flows-planar nerf-yenchenlin
timeout 250 python /work/w/scratch-mig2/one.py minimalrl-ppo 150 240
