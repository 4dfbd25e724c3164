#!/bin/sh
#SBATCH --job-name=bosun-shards
#SBATCH --array=1-8
#SBATCH --time=02:00:00
#SBATCH --requeue
# sbatch slurm.sh; then: bosun batch merge shards/* --out all
# The disk is shared; each shard has a folder of its own, and goes on in it when it is queued again.
exec bosun batch run batch.yaml \
  --shard "$SLURM_ARRAY_TASK_ID/${SLURM_ARRAY_TASK_COUNT:-8}" --out "shards/$SLURM_ARRAY_TASK_ID"
