import type { OptionSchema } from '../../../lib/option.ts';

/** `fixture.json` of an example: how it is run (docs/testing.md). All keys are optional. */
export const fixtureSchema: OptionSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://generic-extractor/schemas/fixture.schema.json',
  title: 'Fixture',
  description: 'How an example is run by gex test. The exchanges stand beside it, as .request and .response files.',
  type: 'object',
  additionalProperties: false,
  default: {},
  examples: [{ clock: '2026-01-02T03:04:05Z', limit: 2 }],
  properties: {
    $schema: key('Schema', 'Where editors find this schema.', 'string', ['../../schemas/fixture.schema.json']),
    description: key('Description', 'What the example shows.', 'string', ['The second page is the last one']),
    clock: {
      title: 'Clock',
      description: 'The time of the run, so that functions and signatures are exact: one moment, or a list (at the start, after the first answer, after the second …).',
      anyOf: [
        { type: 'string', format: 'date-time' },
        { type: 'array', minItems: 1, items: { type: 'string', format: 'date-time' } },
      ],
      examples: ['2026-01-02T03:04:05Z'],
    },
    nonce: { ...key('Nonce', 'Random bytes of the run, in hexadecimal.', 'string', ['605cce2a2f687253']), pattern: '^(?:[0-9a-fA-F]{2})+$' },
    limit: { ...key('Limit', 'Ends each job after so many pages, like --limit.', 'integer', [1]), minimum: 1 },
    environment: {
      ...key('Environment', 'Variables that values such as $env:NAME are taken from.', 'object', [{ API_TOKEN: 'invented' }]),
      additionalProperties: { type: 'string' },
      default: {},
    },
    allowUnused: { ...key('Allow unused', 'Exchanges that no request asked for are no failure.', 'boolean', [true]), default: false },
  },
};

function key(title: string, description: string, type: string, examples: readonly unknown[]): OptionSchema {
  return { title, description, type, examples };
}
