import { APPROVAL_OPTIONS } from './approval-options.js';
import { RISKS } from './risk.js';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const id: Schema = { type: 'string', minLength: 1, description: 'The call.' };
const option: Schema = { enum: APPROVAL_OPTIONS };

/** Later versions, and answers, may have more fields: readers ignore those they do not know. */
const object = (properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});

const DETAILS = {
  execute_details: object({
    command: text,
    working_directory: text,
    root_commands: { type: 'array', items: text },
  }),
  file_edit_details: object({
    file_name: text,
    file_path: text,
    old_content: text,
    new_content: text,
    formatted_diff: text,
  }),
  mcp_details: object({ server_name: text, tool_name: text }),
  generic_details: object({ description: text }),
};

/** What an approver gets on stdin, and what `result.pending` holds. */
export const CONFIRMATION_REQUEST_SCHEMA: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Bosun confirmation request',
  ...object(
    {
      tool_call_id: id,
      tool_name: text,
      display_name: { ...text, description: 'The name of the tool for people.' },
      title: { ...text, description: 'What the call does, in one line.' },
      risk: { enum: RISKS, description: 'What it may do at worst; nothing is decided by it.' },
      reason: { ...text, description: 'Why it is asked about.' },
      options: {
        type: 'array',
        items: object({ id: option, name: text, description: text }),
        minItems: 1,
        description: 'The answers that make sense; selected_option_id is the id of one.',
      },
      ...DETAILS,
      parameters: { description: 'The arguments, where the details do not show them.' },
    },
    [...Object.keys(DETAILS), 'parameters'],
  ),
  oneOf: Object.keys(DETAILS).map((name) => ({ required: [name] })),
};

/** What an approver prints, and what `bosun approve --answers` takes a list of. */
export const APPROVAL_ANSWER_SCHEMA: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Bosun approval answer',
  ...object(
    {
      tool_call_id: id,
      selected_option_id: option,
      file_details: object({ new_content: text }),
      reason: { ...text, description: 'Said to the model.' },
    },
    ['file_details', 'reason'],
  ),
};
