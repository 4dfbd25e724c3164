import { gitHead } from '../lib/git.js';
import { SCHEMA_VERSION, type InitEvent } from '../protocol/event.js';
import type { OpenedModel, RunBase } from './run-base.js';
import type { RunRequest } from './run-request.js';
import { VERSION } from '../lib/version.js';

/** What a run records about itself before anything happens. */
export function initEvent(
  request: RunRequest,
  { workspace, effective, limits, resumed }: RunBase,
  { provider, toolProtocol }: OpenedModel,
  facts: Pick<
    InitEvent,
    'system' | 'tools' | 'mcp_servers' | 'sandbox' | 'output_schema' | 'success' | 'baseline' | 'patch_out'
  >,
): InitEvent {
  return {
    type: 'init',
    version: VERSION,
    schema_version: SCHEMA_VERSION,
    model: provider.model,
    ...(provider.settings && { model_settings: provider.settings }),
    provider: provider.name,
    auth: provider.auth,
    cwd: workspace,
    git_head: gitHead(workspace),
    policy: effective.sources,
    mode: effective.mode,
    limits,
    ...(toolProtocol !== 'native' && { tool_protocol: toolProtocol }),
    ...(request.replay !== undefined && { replay: request.replay }),
    ...(request.dryRun && { dry_run: true as const }),
    ...(resumed && { resumed_from: resumed.from }),
    effective_policy: effective.recorded,
    ...facts,
  };
}
