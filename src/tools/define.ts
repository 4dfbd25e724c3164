import { resolve } from 'node:path';
import { realPath } from '../lib/real-path.js';
import { compileSchema, type Validate } from '../lib/schema.js';
import { sentence } from '../lib/text.js';
import type { Kind } from '../protocol/kind.js';
import type {
  Built,
  Confirmation,
  ExecuteContext,
  Invocation,
  JsonSchema,
  ModifiedEdit,
  PathUse,
  Tool,
  ToolReport,
} from '../protocol/tool.js';
import type { ToolTraits } from '../protocol/tool-traits.js';
import { fitParameters, ignoredNote, nameList } from './foreign-parameters.js';
import type { ParamsOf, ParamsSchema } from './params.js';

export interface Definition<S extends ParamsSchema> {
  readonly name: string;
  readonly displayName: string;
  readonly kind: Kind;
  readonly description: string;
  readonly aliases?: readonly string[];
  /** What a policy needs to know about its calls. See `npm run docs`. */
  readonly traits?: ToolTraits;
  /** Parameters of other tools that may not be left out: without them the call would mean something worse. */
  readonly refuses?: readonly string[];
  /** The single source of the parameters' type. */
  readonly schema: S;
  /** What a schema cannot check; a sentence if something is wrong. */
  readonly check?: (params: ParamsOf<S>) => string | undefined;
  readonly paths: (params: ParamsOf<S>) => readonly PathUse[];
  readonly describe: (params: ParamsOf<S>) => string;
  readonly confirmation: (params: ParamsOf<S>, real: string) => Promise<Confirmation> | Confirmation;
  /** For edits: the arguments of a call that writes the modified content instead. */
  readonly modified?: (params: ParamsOf<S>, edit: ModifiedEdit) => ParamsOf<S>;
  /** `real` is where the first path really led when the call was decided. */
  readonly execute: (
    params: ParamsOf<S>,
    real: string,
    context: ExecuteContext,
  ) => Promise<ToolReport> | ToolReport;
}

/** Loaded once for the tools of all runs. */
let validators: Promise<typeof import('./ready-validators.js')> | undefined;

/** Makes a tool of its definition: validation by the schema, then by value, then an invocation. */
export function defineTool<const S extends ParamsSchema>(workspace: string, definition: Definition<S>): Tool {
  const { name, displayName, kind, description, aliases = [], traits = {}, refuses = [] } = definition;
  const parameters = definition.schema as unknown as JsonSchema;
  let validate: Promise<Validate> | undefined;

  function prepare(): void {
    validate ??= (validators ??= import('./ready-validators.js')).then(({ READY }) =>
      compileSchema(parameters, READY[name]),
    );
  }

  async function build(raw: unknown): Promise<Built> {
    prepare();
    const fitted = fitParameters(raw ?? {}, definition.schema, refuses);
    const faults = (await (validate as Promise<Validate>))(fitted.params);
    const others = fitted.ignored.length > 0 ? [`not known: ${nameList(fitted.ignored)}`] : [];
    if (faults.length > 0) return invalid(name, [...faults, ...others].join('; '));
    const params = fitted.params as ParamsOf<S>;
    const note = ignoredNote(name, fitted.ignored);
    const fault = definition.check?.(params);
    if (fault) return invalid(name, fault);
    const asked = definition.paths(params);
    if (asked.some(({ path }) => path.includes('\0')))
      return invalid(name, 'a path contains a NUL character');
    const paths = asked.map((use) => located(workspace, use));
    const real = paths[0]?.real ?? resolve(workspace, paths[0]?.path ?? '.');
    const { modified } = definition;
    const invocation = (own: ParamsOf<S>): Invocation => ({
      params: own as Readonly<Record<string, unknown>>,
      paths,
      describe: () => definition.describe(own),
      confirmation: async () => definition.confirmation(own, real),
      execute: async (context) => definition.execute(own, real, context),
      ...(note !== undefined && { note }),
      ...(modified && { modified: (edit: ModifiedEdit) => invocation(modified(own, edit)) }),
    });
    return { ok: true, invocation: invocation(params) };
  }

  return { name, displayName, kind, description, aliases, traits, parameters, prepare, build };
}

/** Follows links once, so that the policy and the tool mean the same file. */
function located(workspace: string, use: PathUse): PathUse {
  try {
    return { ...use, real: realPath(resolve(workspace, use.path)) };
  } catch {
    // The policy will say what is wrong.
    return use;
  }
}

function invalid(tool: string, faults: string): Built {
  const message = `Invalid parameters for ${tool}: ${sentence(faults)}`;
  return { ok: false, error: { type: 'invalid_tool_params', message } };
}
