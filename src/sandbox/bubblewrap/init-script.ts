import type { SandboxLimits } from '../../protocol/sandbox.js';

/** Enough for any build, and a limit for what only multiplies. */
const PROCESSES = 4096;

/** Shells use different letters for processes; if a limit cannot be set, a lower one is in force already. */
const LIMITS = `
[ -z "$1" ] || { ulimit -u "$1" || ulimit -p "$1"; } 2>/dev/null
[ -z "$2" ] || ulimit -d "$2" 2>/dev/null
[ -z "$3" ] || ulimit -f "$3" 2>/dev/null
shift 3
`;

/**
 * Says on descriptor 3 that the sandbox is there; runs the command; reports which processes it has left behind, after
 * a moment for those about to end. Number 1 is the sandbox itself. A polite request to end is for the command. The
 * shell's own message, that the command was killed, goes to descriptor 3, too.
 */
const COMMAND = `trap : TERM
echo >&3${LIMITS}command -v "$1" >/dev/null || { echo missing >&3; exit 127; }
exec 4>&2 2>&3
(exec "$@" 2>&4 3>&- 4>&-)
code=$?
exec 2>/dev/null
n=0
while set -- /proc/[0-9]*; [ $# -gt 2 ] && [ $n -lt 10 ]; do sleep 0.01; n=$((n + 1)); done
[ $# -gt 2 ] && for one; do
  case $one in /proc/1 | /proc/$$) ;; *) echo "\${one#/proc/}" >&3 ;; esac
done
exit $code`;

const SERVER = `${LIMITS}exec "$@"`;

export function commandInit(program: readonly string[], limits: SandboxLimits): string[] {
  return ['/bin/sh', '-c', COMMAND, 'sandbox', ...limitWords(limits), ...program];
}

export function serverInit(program: readonly string[], limits: SandboxLimits): string[] {
  return ['/bin/sh', '-c', SERVER, 'sandbox', ...limitWords(limits), ...program];
}

/** In the shell's units: memory in KiB, files in blocks of 512 bytes. */
function limitWords({ processes = PROCESSES, memory, file_size }: SandboxLimits): string[] {
  const inUnits = (bytes: number | undefined, unit: number) =>
    bytes === undefined ? '' : String(Math.max(1, Math.floor(bytes / unit)));
  return [String(processes), inUnits(memory, 1024), inUnits(file_size, 512)];
}
