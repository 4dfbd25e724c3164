/** What GitHub takes as the action.yml of a composite action; narrower where this project wants it so. */
export const ACTION_SCHEMA = {
  type: 'object',
  required: ['name', 'description', 'runs'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1 },
    author: { type: 'string' },
    description: { type: 'string', minLength: 1, maxLength: 125 },
    branding: {
      type: 'object',
      additionalProperties: false,
      properties: {
        icon: { type: 'string', pattern: '^[a-z-]+$' },
        color: {
          enum: ['white', 'black', 'yellow', 'blue', 'green', 'orange', 'red', 'purple', 'gray-dark'],
        },
      },
    },
    inputs: { $ref: '#/definitions/inputs' },
    outputs: { $ref: '#/definitions/outputs' },
    runs: {
      type: 'object',
      required: ['using', 'steps'],
      additionalProperties: false,
      properties: {
        using: { const: 'composite' },
        steps: { type: 'array', minItems: 1, items: { $ref: '#/definitions/step' } },
      },
    },
  },
  definitions: {
    names: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' },
    inputs: {
      type: 'object',
      propertyNames: { $ref: '#/definitions/names' },
      additionalProperties: {
        type: 'object',
        required: ['description'],
        additionalProperties: false,
        properties: {
          description: { type: 'string', minLength: 1 },
          required: { type: 'boolean' },
          // GitHub makes a string of anything; what is not one has already been misread by YAML.
          default: { type: 'string' },
          deprecationMessage: { type: 'string' },
        },
      },
    },
    outputs: {
      type: 'object',
      propertyNames: { $ref: '#/definitions/names' },
      additionalProperties: {
        type: 'object',
        required: ['description', 'value'],
        additionalProperties: false,
        properties: {
          description: { type: 'string', minLength: 1 },
          value: { type: 'string', pattern: String.raw`^\$\{\{ steps\.[a-z-]+\.outputs\.[a-z-]+ \}\}$` },
        },
      },
    },
    step: {
      type: 'object',
      required: ['name', 'run', 'shell'],
      additionalProperties: false,
      properties: {
        name: { type: 'string' },
        id: { $ref: '#/definitions/names' },
        if: { type: 'string' },
        shell: { const: 'bash' },
        run: { type: 'string', not: { pattern: String.raw`\$\{\{` } },
        env: { type: 'object', additionalProperties: { type: 'string' } },
        'working-directory': { type: 'string' },
        'continue-on-error': { type: 'boolean' },
      },
    },
  },
};
