import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { commitAll } from '../helpers/batch.js';
import { call, text } from '../helpers/gemini-server.mjs';
import { FILESYSTEM } from '../helpers/mcp.js';
import { REPOSITORY, runCli, serverEnv } from '../helpers/run-cli.js';
import { place, serve } from '../helpers/served.js';
import { startWebServer } from '../helpers/web-server.js';
import { shareProcess } from '../helpers/this-process.js';

shareProcess();

const CEILING = (port: number) => `version: 1
extends: [./base.yaml]
mode: yolo
sandbox: {bind_ro: ["${REPOSITORY}/node_modules"]}
network: {allow: ["http://localhost:${port}", "*.example.org"], private: allow}
mcp:
  servers:
    fs: {command: [node, tools/server.mjs, .], trust: true, read_only_tools: [list_*]}
    spare: {command: [node, tools/server.mjs, src], required: false}
`;

/** A real server, or with another folder than the workspace a tiny one that nobody calls, which starts much faster. */
const SERVER = `
const answer = { initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
  'tools/list': { tools: [{ name: 'list_directory', inputSchema: { type: 'object', properties: {} } }] } };
if (process.argv[2] === '.') await import(${JSON.stringify(FILESYSTEM)});
else (await import('node:readline')).createInterface(process.stdin).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answer[method] ?? {} }));
});
`;

const newKey = () =>
  generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();

test('tools of a server and hosts are learnt, locked and held to', async () => {
  const web = await startWebServer({ '/page': { body: 'hello' } });
  const where = place({
    'tools/server.mjs': SERVER,
    'src/a.txt': 'hello\n',
    'reviewers.pem': newKey(),
    'base.yaml': 'version: 1\nlimits: {turns: 50}\n',
    'ceiling.yaml': CEILING(web.port),
    '.gitignore': '.bosun\nci.yaml*\n',
  });
  commitAll(where);
  const path = (name: string) => join(where.workspace, name);
  const turns = [
    [call('fs__list_directory', { path: '.' }), call('fs__write_file', { path: 'src/b.txt', content: 'x' })],
    [call('web_fetch', { prompt: `read http://localhost:${web.port}/page` })],
    [text('Done.')],
  ].map((parts) => ({ parts }));
  const another = [
    { parts: [call('fs__create_directory', { path: 'made' }), call('spare__list_directory', { path: '.' })] },
    { parts: [call('web_fetch', { prompt: 'read http://www.example.org/' })] },
    { parts: [text('Done.')] },
  ];
  const server = await serve([turns, turns, turns, turns, turns, another].flat() as never);
  const env = serverEnv(server, where, { BOSUN_MODEL: 'gemini-test' });
  const bosun = (...args: string[]) => runCli(args, { env, cwd: where.workspace });
  const fine = async (...args: string[]) => {
    const { code, stderr } = await bosun(...args);
    expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
  };
  try {
    for (let n = 0; n < 3; n++) await fine('run', '--policy', './ceiling.yaml', '-p', 'go');
    await fine('policy', 'learn', '--ceiling', './ceiling.yaml', '.bosun/runs', '-o', 'ci.yaml');
    const learnt = readFileSync(path('ci.yaml'), 'utf8');
    expect(learnt.match(/^ +tool: .*/gm)).toEqual(['    tool: "mcp:fs/write_file"', '    tool: web_fetch']);
    expect(learnt).toContain(`allow:\n    - http://localhost:${web.port}\n`);
    expect(learnt).not.toMatch(/spare|trust|example\.org/);

    // A person adds who may approve, and a preset.
    writeFileSync(
      path('ci.yaml'),
      learnt.replace(
        'mode: plan',
        'extends: [read-only]\nmode: plan\napprovals: {trusted_keys: [reviewers.pem]}',
      ),
    );
    await fine('policy', 'replay', '--policy', './ci.yaml', '--against', './ceiling.yaml', '.bosun/runs');
    await fine('policy', 'lock', './ci.yaml', '.bosun/runs');
    const locked = ['run', '--policy', './ci.yaml', '--policy-lock', 'ci.yaml.lock', '-p', 'go'];
    await fine(...locked);
    await fine(...locked, '--mode', 'plan');

    const asked = server.requests.length;
    const refusal = async (...more: string[]) => {
      const { code, stderr } = await bosun(...locked, ...more);
      expect([code, server.requests.length]).toEqual([2, asked]);
      return stderr;
    };
    for (const name of ['tools/server.mjs', 'reviewers.pem']) {
      const was = readFileSync(path(name), 'utf8');
      writeFileSync(path(name), name.endsWith('.pem') ? newKey() : `${was}// more\n`);
      expect(await refusal()).toContain(
        `ci.yaml.lock: ${name}, which it uses, has changed since it was locked on`,
      );
      writeFileSync(path(name), was);
    }
    const script = readFileSync(path('tools/server.mjs'), 'utf8');
    rmSync(path('tools/server.mjs'));
    expect(await refusal()).toContain('tools/server.mjs, which it uses, is gone since it was locked on');
    writeFileSync(path('tools/server.mjs'), script);
    expect(await refusal('--policy', './ceiling.yaml')).toContain(
      'beside it sets variables or starts programs',
    );
    expect(await refusal('--mode', 'yolo')).toContain('--mode yolo is wider than mode plan');

    // The neighbours of what was learnt are denied.
    const { code, stderr } = await bosun(...locked);
    expect(code).toBe(3);
    expect(stderr).toMatch(/mode plan does not allow other tools such as mcp:fs\/create_directory/);
    expect(stderr).toMatch(/example\.org.* denied|denied: .*example\.org/);
  } finally {
    await web.close();
  }
});
