import { compileUserSchema, type Validate } from '../lib/schema.js';
import { sentence } from '../lib/text.js';
import type { Kind } from '../protocol/kind.js';
import type { Built, Confirmation, ExecuteContext, JsonSchema, Tool, ToolReport } from '../protocol/tool.js';

type Params = Readonly<Record<string, unknown>>;

export interface ForeignDefinition {
  /** As policies and transcripts know it. */
  readonly name: string;
  readonly displayName: string;
  readonly kind: Kind;
  readonly claimsToRead?: true;
  readonly description: string;
  /** Simple enough for every model API. */
  readonly parameters: JsonSchema;
  readonly confirmation: Confirmation;
  /** The name of its calls (its display name). */
  readonly title?: string;
  readonly execute: (params: Params, context: ExecuteContext) => Promise<ToolReport>;
}

/** A tool declared by a source at run time. There may be hundreds: each costs something only when called. */
export function foreignTool(definition: ForeignDefinition): Tool {
  const { name, displayName, kind, description, parameters, claimsToRead } = definition;
  let validate: Promise<Validate> | undefined;

  async function build(raw: unknown): Promise<Built> {
    validate ??= compileUserSchema(parameters);
    const params = (raw ?? {}) as Params;
    const faults = (await validate)(params);
    if (faults.length > 0) {
      const message = `Invalid parameters for ${name}: ${sentence(faults.join('; '))}`;
      return { ok: false, error: { type: 'invalid_tool_params', message } };
    }
    return {
      ok: true,
      invocation: {
        params,
        paths: [],
        describe: () => definition.title ?? displayName,
        confirmation: async () => definition.confirmation,
        execute: (context) => definition.execute(params, context),
      },
    };
  }

  return {
    name,
    displayName,
    kind,
    description,
    aliases: [],
    parameters,
    ...(claimsToRead && { claimsToRead }),
    prepare: () => {},
    build,
  };
}

/** Represents a tool that is there, but of which only the name is needed. */
export function unavailableTool(tool: Pick<Tool, 'name' | 'displayName' | 'kind'>, why: string): Tool {
  const { name, displayName, kind } = tool;
  const error = {
    type: 'tool_not_registered',
    message: `${name} cannot be called: ${sentence(why)}`,
  } as const;
  return {
    name,
    displayName,
    kind,
    description: '',
    aliases: [],
    parameters: { type: 'object', properties: {} },
    unavailable: true,
    prepare: () => {},
    build: async () => ({ ok: false, error }),
  };
}
