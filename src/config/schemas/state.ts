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
    'json_parser.struct': {
      title: 'Known structure',
      description:
        'Columns that earlier runs found, in automatic mode. They stay in the tables when the data has them no longer. A tree: keys of objects start with `_`, `[]` is the item of a list, `nodeType` the kind, `headerNames` the column.',
      type: ['object', 'array', 'null'],
      examples: [
        {
          data: {
            _users: {
              '[]': { nodeType: 'object', _id: { nodeType: 'scalar', headerNames: 'id' } },
              nodeType: 'array',
            },
          },
          parent_aliases: [],
        },
      ],
    },
    'json_parser.structVersion': {
      title: 'Version of the structure',
      description: '3 for the present parser, 2 for the one of compatibility level 1.',
      type: ['integer', 'string', 'null'],
      default: 3,
      examples: [3],
    },
    'json_parser.structSettings': {
      title: 'Settings of the structure',
      description:
        'By data type, a digest of the settings that its columns come from: when these change, the columns are learned anew.',
      type: ['object', 'array', 'null'],
      examples: [{ users: '0cc175b9c0f1b6a831c399e269772661' }],
    },
  },
};
