import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startGeminiServer, text, type Script } from './gemini-server.mjs';
import { closing } from './provider.js';
import { cleanEnv, scratch, startCli } from './run-cli.js';

export type TokenAnswer = { readonly status: number; readonly body: object } | 'hang';

const TOKEN: TokenAnswer = {
  status: 200,
  body: {
    access_token: 'ya29.scripted',
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    expires_in: 3600,
    token_type: 'Bearer',
  },
};

/** A token endpoint on loopback, with the forms that were sent to it. */
export async function startTokenServer(answer: TokenAnswer = TOKEN) {
  const requests: Record<string, string>[] = [];
  const server = createServer(async (incoming, response) => {
    let form = '';
    for await (const piece of incoming) form += piece;
    requests.push(Object.fromEntries(new URLSearchParams(form)));
    if (answer === 'hang') return;
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The credentials of workload identity, as CI systems write them: a token of their own for one of Google's. */
function workloadIdentity(tokenPort: number, subjectFile: string) {
  return {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/ci/providers/ci',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `http://127.0.0.1:${tokenPort}/v1/token`,
    credential_source: { file: subjectFile },
  };
}

/** A service account with a key made here. The auth library asks oauth2.googleapis.com for its tokens, always. */
export function serviceAccount() {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    publicKey: keys.publicKey,
    json: {
      type: 'service_account',
      project_id: 'project-of-the-account',
      private_key_id: 'key-1',
      private_key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: 'bosun@test.invalid',
      client_id: '1',
    },
  };
}

export interface VertexSetting {
  readonly script?: Script;
  readonly token?: TokenAnswer;
  readonly env?: Record<string, string>;
  readonly flags?: readonly string[];
  /** The file of credentials, instead of one for workload identity. */
  readonly credentials?: string;
}

/** Runs `bosun run -m vertex/gemini-x` where everything that it could need is on loopback. */
export function vertexRuns() {
  const use = closing();
  const run = async ({ script, token = TOKEN, env = {}, flags = [], credentials }: VertexSetting = {}) => {
    const server = use(await startGeminiServer(script ?? [{ parts: [text('Done.')] }]));
    const tokens = use(await startTokenServer(token));
    const place = scratch();
    use({ close: place.remove });
    const subject = join(place.root, 'subject-token');
    const file = join(place.root, 'credentials.json');
    writeFileSync(subject, 'the-token-of-the-ci');
    writeFileSync(file, credentials ?? JSON.stringify(workloadIdentity(tokens.port, subject)));
    const where = ['-C', place.workspace, '--transcript', place.transcript];
    const { child, done } = startCli(['run', ...where, '-m', 'vertex/gemini-x', '-p', 'Go.', ...flags], {
      env: cleanEnv(place.home, {
        METADATA_SERVER_DETECTION: 'none',
        GOOGLE_CLOUD_PROJECT: 'my-project',
        GOOGLE_VERTEX_BASE_URL: server.url,
        GOOGLE_APPLICATION_CREDENTIALS: file,
        ...env,
      }),
    });
    // A run that hangs is ended here, and shows as one that was killed.
    const giveUp = setTimeout(() => child.kill('SIGKILL'), 6000);
    const result = await done;
    clearTimeout(giveUp);
    return { ...result, place, requests: server.requests, tokenRequests: tokens.requests };
  };
  return { use, run };
}
