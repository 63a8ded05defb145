import type { OptionSchema } from '../../evaluate.ts';
import { schemaKey } from './resource.ts';

/** `in/state.json` and `out/state.json` (spec extractor 5.9). */
export const stateSchema: OptionSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://generic-extractor/schemas/state.schema.json',
  title: 'State of Generic Extractor',
  description: 'What one run leaves for the next. Keys that are not listed are kept as they are.',
  type: ['object', 'array'],
  additionalProperties: true,
  properties: {
    $schema: schemaKey('../node_modules/generic-extractor/schemas/state.schema.json'),
    time: {
      title: 'Times',
      description: 'Times of earlier runs, for the functions that refer to `time`.',
      type: ['object', 'array'],
      additionalProperties: true,
      examples: [{ previousStart: 1735689600 }],
      properties: {
        previousStart: {
          title: 'Start of the run before',
          description: 'Unix time in seconds when the last successful run started; 0 before the first.',
          type: ['integer', 'string', 'null'],
          default: 0,
          examples: [1735689600],
        },
      },
    },
    json_parser: {
      title: 'Known structure',
      description: 'Columns that earlier runs found, in automatic mode. They stay in the tables when the data has them no longer.',
      type: ['object', 'array'],
      additionalProperties: true,
      examples: [{ structVersion: 3, struct: {} }],
      properties: {
        struct: {
          title: 'Structure',
          description: 'The structure tree: keys of objects start with `_`, `[]` is the item of a list, `nodeType` the kind, `headerNames` the column.',
          type: ['object', 'array', 'null'],
          examples: [
            {
              data: { _users: { '[]': { nodeType: 'object', _id: { nodeType: 'scalar', headerNames: 'id' } }, nodeType: 'array' } },
              parent_aliases: [],
            },
          ],
        },
        structVersion: {
          title: 'Version of the structure',
          description: '3 for the present parser, 2 for the one of compatibility level 1.',
          type: ['integer', 'string', 'null'],
          default: 3,
          examples: [3],
        },
      },
    },
  },
};
