#!/bin/sh
# /usr/local/bin/bosun-nightly BATCH.yaml WORKSPACE
# Continues a batch every night until it is done. The exit code is that of the batch.
set -u
batch=$1
workspace=$2
state=${STATE:-$HOME/.local/state/bosun}
name=$(basename "$batch" .yaml)
mkdir -p "$state"

# If the night before is still running, do not start another. Bosun would reject it, too, with exit 2.
exec 9> "$state/$name.lock"
if ! flock --nonblock 9; then
  echo "$(date -u +%FT%TZ) $name: the night before is still running" >> "$state/$name.log"
  exit 0
fi

bosun batch run "$batch" -C "$workspace" --out "$state/$name" --timeout 6h \
  --progress heartbeat --reporter "html=$state/$name.html" >> "$state/$name.log" 2>&1
code=$?
case $code in
  0) ;;                                                  # all tasks are completed
  10) echo "$name goes on the next night" ;;             # a quota: nothing is lost
  6) echo "$name stopped at a limit; time goes on the next night, cost and tokens once they are raised: $state/$name.log" ;;
  13) echo "$name: some tasks failed: $state/$name.html" ;;
  *) echo "$name ended with $code: $state/$name.log" ;;
esac
exit "$code"
