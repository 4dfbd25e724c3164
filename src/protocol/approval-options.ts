import type { Confirmation } from './tool.js';

export const APPROVAL_OPTIONS = [
  'proceed_once',
  'proceed_always',
  'proceed_always_tool',
  'proceed_always_server',
  'modify',
  'cancel',
] as const;
export type ApprovalOption = (typeof APPROVAL_OPTIONS)[number];

/** Words for people. None of them come from the model. */
interface Words {
  readonly name: string;
  readonly description: string;
}

const ALWAYS: Readonly<Record<Confirmation['type'], Words>> = {
  exec: {
    name: 'Always allow these programs',
    description: 'Runs it, and for the rest of the run every command of the programs that were asked about.',
  },
  edit: {
    name: 'Always allow edits',
    description: 'Makes the edit, and for the rest of the run every edit that would be asked about.',
  },
  mcp: {
    name: 'Always allow calls like this',
    description: 'Runs it, and for the rest of the run every call of this kind that would be asked about.',
  },
  info: {
    name: 'Always allow calls like this',
    description: 'Runs it, and for the rest of the run every call of this kind that would be asked about.',
  },
};

/** An option as written in a request. */
export function requestOption(
  id: ApprovalOption,
  type: Confirmation['type'],
): Words & { readonly id: ApprovalOption } {
  switch (id) {
    case 'proceed_once':
      return { id, name: 'Allow once', description: 'Runs this call; the next one is asked about again.' };
    case 'proceed_always':
      return { id, ...ALWAYS[type] };
    case 'proceed_always_tool':
      return {
        id,
        name: 'Always allow this tool',
        description:
          'Runs it, and for the rest of the run every call of this tool that would be asked about.',
      };
    case 'proceed_always_server':
      return {
        id,
        name: 'Always allow this server',
        description: 'Runs it, and for the rest of the run every call of all tools of this MCP server.',
      };
    case 'modify':
      return {
        id,
        name: 'Allow with changes',
        description: 'Makes the edit with other content, given as file_details.new_content.',
      };
    case 'cancel':
      return {
        id,
        name: 'Deny',
        description: 'Denies the call; the model is told, and the run counts a denial.',
      };
    default:
      return id satisfies never;
  }
}
