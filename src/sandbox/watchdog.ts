import type { Writable } from 'node:stream';
import { startProcess } from '../lib/run-program.js';
import { MARKER } from './leftovers.js';

/**
 * Reads `+ LEADER MARKER` and `- LEADER` for every server that begins and ends, until its stdin closes: then we are
 * gone, and it ends the remaining ones, with every process that has their marker.
 */
const SCRIPT = `
alive=' '
while read -r what leader marker; do
  case $what in
    +) alive="$alive$leader:$marker " ;;
    -) alive=$(printf %s "$alive" | sed "s/ $leader:[^ ]* / /") ;;
  esac
done
[ "$alive" = ' ' ] && exit
all() {
  for one in $alive; do
    kill -s "$1" -- "-\${one%%:*}"
    for environ in $(grep -ls "${MARKER}=\${one#*:}" /proc/[0-9]*/environ); do
      environ=\${environ#/proc/}
      kill -s "$1" "\${environ%/environ}"
    done
  done
}
sleep 0.3
all TERM
sleep 0.7
all KILL
`;

/** Its stdin; nothing if it could not be started. */
let watchdog: Promise<Writable | undefined> | undefined;

/** Even if we are killed, servers must not outlive us: another process has to end them. */
export function watchGroup(leader: number, marker: string): void {
  watchdog ??= startWatchdog().catch(() => undefined);
  tellWatchdog(`+ ${leader} ${marker}\n`);
}

export function unwatchGroup(leader: number): void {
  tellWatchdog(`- ${leader}\n`);
}

function tellWatchdog(line: string): void {
  void watchdog?.then((stdin) => stdin?.write(line));
}

async function startWatchdog(): Promise<Writable> {
  const { child } = await startProcess({
    program: ['/bin/sh', '-c', SCRIPT],
    directory: '/',
    environment: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const stdin = child.stdin as Writable & { unref?: () => void };
  stdin.on('error', () => {});
  // It must not keep us running.
  child.unref();
  stdin.unref?.();
  return stdin;
}
