#!/bin/sh
#SBATCH --job-name=bosun-shards
#SBATCH --array=1-8
#SBATCH --time=02:00:00
#SBATCH --requeue
# sbatch slurm.sh; then: bosun batch merge shards/* --out all
# The disk is shared. Each shard has its own folder, and continues in it when it is queued again.
exec bosun batch run batch.yaml \
  --shard "$SLURM_ARRAY_TASK_ID/${SLURM_ARRAY_TASK_COUNT:-8}" --out "shards/$SLURM_ARRAY_TASK_ID"
