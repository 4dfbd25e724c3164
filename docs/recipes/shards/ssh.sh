#!/bin/sh
# sh ssh.sh HOST...: runs one shard on each machine, which has the repository in ~/work, and writes one report here.
set -u
count=$#
index=0
for host; do
  index=$((index + 1))
  ssh "$host" "cd work && bosun batch run batch.yaml --shard $index/$count --out shard-$index" &
done
wait
mkdir -p shards
index=0
for host; do
  index=$((index + 1))
  scp -rq "$host:work/shard-$index" "shards/$index"
done
exec bosun batch merge shards/* --out all
