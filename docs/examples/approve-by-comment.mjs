#!/usr/bin/env node
// An approver that asks on a GitHub issue or pull request: it posts what the model wants to do as a comment, and waits
// for somebody of the project to answer `/approve CODE` or `/deny CODE`. For a policy with
//   on_ask:
//     command: [node, /opt/bosun/approve-by-comment.mjs]
//     timeout: 30m
//     env: { pass: [GITHUB_TOKEN, GITHUB_REPOSITORY, GITHUB_API_URL, APPROVAL_ISSUE] }
// No answer is a no: Bosun ends this program when the timeout is over.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const { GITHUB_TOKEN, GITHUB_REPOSITORY, APPROVAL_ISSUE } = process.env;
const { GITHUB_API_URL = 'https://api.github.com', APPROVAL_POLL_MS = '10000' } = process.env;
const comments = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues/${APPROVAL_ISSUE}/comments`;
const TRUSTED = ['OWNER', 'MEMBER', 'COLLABORATOR'];

async function github(url, options = {}) {
  const headers = { authorization: `Bearer ${GITHUB_TOKEN}`, accept: 'application/vnd.github+json' };
  const response = await fetch(url, { ...options, headers, signal: AbortSignal.timeout(30_000) });
  if (!response.ok) throw new Error(`${response.status} from ${url}`);
  return response.json();
}

/** A block that nothing in the text can end. */
function block(text, language = '') {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function describe({ tool_name, title, risk, reason, execute_details, file_edit_details, ...rest }, code) {
  const what = execute_details
    ? block(execute_details.command, 'sh')
    : block(
        file_edit_details?.formatted_diff ?? JSON.stringify(rest, null, 2),
        file_edit_details ? 'diff' : 'json',
      );
  // Longer comments are refused by GitHub; nobody shall approve what is not shown.
  if (what.length > 60_000) throw new Error('too long to be shown in a comment');
  // The title has words of the model in it: it stands in a block like them.
  return `Bosun asks for an approval of \`${tool_name}\` (risk: ${risk}).\n\n${block(`${title}\n${reason}`)}\n\n${what}\n\nAnswer with \`/approve ${code}\` or \`/deny ${code}\`.`;
}

const request = JSON.parse(readFileSync(0, 'utf8'));
// Nobody can approve what has not been asked yet.
const code = randomBytes(4).toString('hex');
const { created_at } = await github(comments, {
  method: 'POST',
  body: JSON.stringify({ body: describe(request, code) }),
});

for (;;) {
  for (const { body, user, author_association } of await github(
    `${comments}?per_page=100&since=${created_at}`,
  )) {
    const [, verb] = new RegExp(`^/(approve|deny) ${code}\\s*$`, 'm').exec(body) ?? [];
    if (!verb || !TRUSTED.includes(author_association)) continue;
    const selected_option_id = verb === 'approve' ? 'proceed_once' : 'cancel';
    const reason = `${verb === 'approve' ? 'approved' : 'denied'} by ${user.login}`;
    process.stdout.write(
      `${JSON.stringify({ tool_call_id: request.tool_call_id, selected_option_id, reason })}\n`,
    );
    process.exit(0);
  }
  await wait(Number(APPROVAL_POLL_MS));
}
