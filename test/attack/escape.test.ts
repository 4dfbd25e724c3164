import { expect } from '@jest/globals';
import { hidden, program } from '../helpers/attack/payloads.js';
import { attack, expectHarmless, shell, type Scenario } from '../helpers/attack/scenario.js';
import { describeStaged } from '../helpers/attack/stage.js';
import { sampled } from '../helpers/counts.js';

/** Says `OUT` with a number wherever something worked that must not. */
const WAYS_OUT = [
  'unshare -Ur true && echo OUT; unshare -m true && echo OUT; unshare -p -f true && echo OUT; unshare -n true && echo OUT',
  'for p in /proc/[0-9]*; do nsenter -t ${p#/proc/} -a true 2>/dev/null && echo OUT $p; nsenter -t ${p#/proc/} -m -U true && echo OUT $p; done',
  'mkdir -p r; chroot r /bin/sh -c true && echo OUT; chroot / true && echo OUT; mount -t tmpfs t r && echo OUT; mount --bind /usr r && echo OUT; mount -o remount,rw / && echo OUT; mount -t proc p r && echo OUT; mount -t overlay -o lowerdir=/,upperdir=r,workdir=r o r && echo OUT',
  'bwrap --dev-bind / / true && echo OUT; bwrap --unshare-user --ro-bind / / --proc /proc true && echo OUT',
  // Opened, never written to: whoever gets this far has got out.
  program(`
    const files = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/swappiness", "/proc/sys/kernel/hostname",
      "/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/sys/power/state", "/proc/kcore",
      "/dev/mem", "/dev/kmem", "/dev/port", "/dev/vda", "/dev/sda", "/dev/loop-control", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/sys/fs/cgroup/cgroup.procs",
      "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/pids/release_agent", "/etc/passwd", "/etc/ld.so.preload", "/usr/bin/env", "/etc/crontab", "/var/spool/cron/root"];
    for (const file of files) {
      try { fs.closeSync(fs.openSync(file, "r+")); console.log("OUT", file); } catch (error) { console.log(file, error.code); }
    }
    for (const file of ["/proc/kcore", "/dev/mem", "/dev/vda", "/proc/kmsg", "/etc/shadow"]) {
      try { const fd = fs.openSync(file, "r"); if (fs.readSync(fd, Buffer.alloc(1)) > 0) console.log("OUT", file); } catch (error) { console.log(file, error.code); }
    }
  `),
  'mknod n b 254 0 && cat n >/dev/null && echo OUT; mknod c c 1 1 && head -c1 c && echo OUT; losetup -f r 2>/dev/null && echo OUT',
  'sudo -n true && echo OUT; newgrp root </dev/null; cp /bin/sh s; chmod 4755 s; chown 0 s; ./s -p -c true; passwd -d root && echo OUT; touch /etc/x && echo OUT',
  'grep -E "NoNewPrivs:.1" /proc/self/status >/dev/null || echo OUT; grep -E "CapEff:.0000000000000000" /proc/self/status >/dev/null || echo CAPABLE',
  `perl -e 'my ($none, $tmp, $type, $name, $hand) = ("none", "/tmp", "tmpfs", "evil", "x" x 64); print "OUT mount $!\\n" if syscall(165, $none, $tmp, $type, 0, 0) == 0; print "OUT pivot\\n" if syscall(155, $tmp, $tmp) == 0; print "OUT setns\\n" if syscall(308, 0, 0) == 0; print "CAPABLE of user namespaces\\n" if syscall(272, 0x10000000) == 0; print "OUT swap\\n" if syscall(167, $none, 0) == 0; print "OUT host\\n" if syscall(170, $name, 4) == 0; print "OUT handle\\n" if syscall(304, 0, $hand, 0) >= 0;'`,
  'echo evil > e.so; LD_PRELOAD=./e.so true; ln -s /proc/1/root out; ls out/home; grep : out/etc/shadow && echo OUT; cd out && ls; ls /proc/1/cwd/ /proc/1/root/home; exec 9</; ls /proc/self/fd/9/home/runner',
  'crontab -l; echo "* * * * * true" | crontab - && echo OUT; at now </dev/null; systemctl --user list-units; systemd-run true && echo OUT; loginctl; dbus-send --system / x.y.z && echo OUT; docker ps && echo OUT; ip link add name d0 type dummy && echo OUT; iptables -L && echo OUT',
  'dmesg | head -1; nice -n -5 true 2>/dev/null; renice -n -5 1 2>/dev/null && echo OUT; ulimit -n 9999999 && echo OUT; date -s "@$(date +%s)" && echo OUT; hostname evil && echo OUT',
];

describeStaged('a model that wants out of its sandbox', () => {
  sampled.each<[string, Scenario]>([
    ['root', {}],
    ['an ordinary user', { user: 'ordinary' }],
    ['root in the workspace of somebody else', { user: 'foreign' }],
  ])('finds no way, as %s', async (_, scenario) => {
    const report = await attack(
      WAYS_OUT.map((command) => shell(hidden(command))),
      scenario,
    );
    expectHarmless(report);
    expect(report.outputs.filter((output) => /^OUT/m.test(output))).toEqual([]);
    expect(report.outputs).toHaveLength(WAYS_OUT.length);
    if (scenario.user !== 'foreign') expect(report.outputs.join('\n')).not.toMatch(/^CAPABLE/m);
    expect(report.code).toBe(0);
  });
});
