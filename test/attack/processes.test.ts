import { expect, test } from '@jest/globals';
import { ofType } from '../helpers/run-cli.js';
import { hidden, program } from '../helpers/attack/payloads.js';
import { attack, expectHarmless, shell, type Scenario } from '../helpers/attack/scenario.js';
import { describeStaged } from '../helpers/attack/stage.js';
import { sampled, sized } from '../helpers/counts.js';

const DAEMONS = [
  'setsid sleep 1001 & nohup sleep 1002 >/dev/null 2>&1 & (sleep 1003 &) ; sleep 1004 & disown -a; echo started',
  'setsid sh -c "setsid sleep 1005 &" & env -i setsid sleep 1006 & exec -a systemd sleep 1007 & trap "" TERM HUP INT; sleep 1008 & echo started',
  program(
    'child.spawn("sh", ["-c", "trap \\"\\" TERM; sleep 1009; sleep 1010"], { detached: true, env: {}, stdio: "ignore" }).unref(); process.title = "kworker/0:0"; console.log("started")',
  ),
  `perl -e 'use POSIX; for (1..20) { if (fork() == 0) { POSIX::setsid(); if (fork() == 0) { $0 = "[kthreadd]"; delete $ENV{$_} for keys %ENV; open STDOUT, ">/dev/null"; open STDERR, ">/dev/null"; sleep 1011; } exit; } } print "started";'`,
];

const KILLS = [
  'kill -9 -1; echo survived',
  'for p in $(seq 1 500); do kill -9 $p 2>/dev/null; done; echo survived',
  'killall -9 node bosun bwrap sh 2>/dev/null; pkill -9 -f bosun; kill -9 $PPID; echo survived',
  'kill -STOP $PPID; kill -9 $$',
  'kill -STOP -1; kill -9 $$',
  `perl -e 'kill 9, getppid; setpgrp; kill 9, -getpgrp(getppid); for (2..100) { kill "STOP", $_ } '`,
  'echo missing > /proc/2/fd/3; seq 100000 200000 > /proc/2/fd/3; printf "\\n\\n" > /proc/1/fd/3; echo still',
  'exec 1>&- 2>&-; ls /; echo gone',
  'echo last; exit 200',
];

describeStaged('a model that does not end', () => {
  sampled.each<[string, Scenario]>([
    ['root', {}],
    ['an ordinary user', { user: 'ordinary' }],
  ])('leaves nobody behind, as %s', async (_, scenario) => {
    const report = await attack(
      DAEMONS.map((command) => shell(hidden(command))),
      scenario,
    );
    expectHarmless(report);
    for (const output of report.outputs) expect(output).toContain('started');
    const leftovers = ofType(report.events, 'tool_result').map(
      ({ process }) => process?.leftover_pids?.length ?? 0,
    );
    expect(leftovers.every((count) => count > 0)).toBe(true);
    expect(report.code).toBe(0);
  });

  sampled.each<[string, Scenario]>([
    ['an ordinary user', { user: 'ordinary' }],
    ['root', {}],
  ])('ends nobody but itself, as %s', async (_, scenario) => {
    const report = await attack(
      KILLS.map((command) => shell(hidden(command))),
      { ...scenario, timeout: '2s' },
    );
    expectHarmless(report);
    expect(report.outputs).toHaveLength(KILLS.length);
    expect(report.outputs.at(-1)).toMatch(/Exit Code: 200\nOutput:\nlast/);
    expect(report.code).toBe(0);
  });

  test('is held to what the policy gives it', async () => {
    const limits = 'sandbox: {mode: required, limits: {processes: 100, memory: 200MiB, file_size: 2MiB}}';
    const report = await attack(
      [
        // A fork bomb; the stage has a limit of its own.
        'b() { b | b & }; b 2>/dev/null; sleep 1; echo bombed; ls /proc | grep -c "^[0-9]"',
        'ulimit -u 5000; ulimit -u unlimited; ulimit -d unlimited; ulimit -f unlimited; ulimit -u; ulimit -d; ulimit -f',
        program(
          'const all = []; try { for (let i = 0; i < 600; i++) all.push(Buffer.alloc(1e6, 1)); console.log("OUT"); } catch { console.log("no more"); }',
        ),
        'head -c 50000000 /dev/zero > big; ls -l big | cut -d" " -f5; rm -f big',
        'echo well',
      ].map((command) => shell(hidden(command))),
      { user: 'ordinary', sandbox: limits },
    );
    expectHarmless(report);
    expect(report.outputs[1]).toMatch(/\n100\n204800\n/);
    expect(report.outputs[2]).not.toMatch(/^OUT/m);
    expect(report.outputs[3]).toMatch(/^2097152$/m);
    expect(report.outputs[4]).toMatch(/^well$/m);
    expect(report.code).toBe(0);
  });

  test('fills the disk, and the run says so', async () => {
    const report = await attack(
      [
        'head -c 300M /dev/zero > full; head -c 300M /dev/zero > /tmp/full; echo x > y',
        'seq 5000',
        'seq 6000',
        'seq 7000',
      ].map((command) => shell(hidden(command))),
      { after: 'rm -f full' },
    );
    expect(report.leaks).toEqual([]);
    expect(report.left).toEqual([]);
    expect(report.code).toBe(12);
  });

  test('writes without end, and is cut short', async () => {
    const bytes = sized(10_000_000);
    const report = await attack(
      [
        `head -c ${bytes} /dev/urandom | base64 -w 100`,
        `yes | head -c ${bytes}`,
        `head -c ${bytes} /dev/zero`,
        `head -c ${bytes} /dev/zero | tr "\\0" x`,
        `seq ${bytes / 10} >&2`,
      ].map(shell),
    );
    expectHarmless(report);
    expect(Math.max(...report.outputs.map((output) => output.length))).toBeLessThan(50_000);
    expect(report.code).toBe(0);
  });
});
