import { map, name, object, option, text, whole, type OptionSchema } from '../../../lib/option.ts';
import { schemaKey } from './resource.ts';

/** `in/state.json` and `out/state.json`. */
export const stateSchema: OptionSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://generic-extractor/schemas/state.schema.json',
  title: 'State of Generic Extractor',
  description: 'What one run leaves for the next. Keys that are not listed are kept as they are.',
  type: ['object', 'array'],
  additionalProperties: true,
  properties: {
    $schema: schemaKey('../node_modules/generic-extractor/schemas/state.schema.json'),
    time: option('Times', 'Times of earlier runs, for the functions that refer to `time`.', {
      type: ['object', 'array'],
      additionalProperties: true,
      examples: [{ previousStart: 1735689600 }],
      properties: {
        previousStart: whole('Start of the run before', 'Unix time in seconds when the last successful run started; 0 before the first.', {
          default: 0,
          examples: [1735689600],
        }),
      },
    }),
    incremental: map(
      'States of jobs',
      'By the id of a job (behind those of the jobs above it), what it keeps from run to run: see `incremental` of a job.',
      {
        additionalProperties: object('State of a job', 'What one job keeps: one value, or one for each parent row.', {
          properties: {
            of: text(
              'Settings',
              'A digest of the settings that the state comes from: with other settings the job begins anew. A state without it is taken as it is.',
              ['f4c5e7914d38bcc9'],
            ),
            cursor: name('Value', 'The newest value, as it came.', ['2026-03-18T22:30:00Z', 1042]),
            parents: option('For each parent row', 'By the values of the placeholders, the value, and when the row was there last.', {
              type: ['object', 'array'],
              additionalProperties: object('State of a parent row', 'What one parent row keeps.', {
                properties: {
                  cursor: name('Value', 'The newest value, as it came.', [1042]),
                  at: option('Last run', 'Unix time in seconds of the last run that had the parent row.', {
                    type: 'integer',
                    examples: [1774001700],
                  }),
                },
              }),
              examples: [{ 7: { cursor: '2026-03-18', at: 1774001700 } }],
            }),
          },
        }),
        examples: [{ orders: { of: 'f4c5e7914d38bcc9', cursor: '2026-03-18T22:30:00Z' } }],
      },
    ),
    'json_parser.struct': map(
      'Known structure',
      'Columns that earlier runs found, in automatic mode. They stay in the tables when the data has them no longer. A tree: keys of objects start with `_`, `[]` is the item of a list, `nodeType` the kind, `headerNames` the column.',
      [
        {
          data: { _users: { '[]': { nodeType: 'object', _id: { nodeType: 'scalar', headerNames: 'id' } }, nodeType: 'array' } },
          parent_aliases: [],
        },
      ],
    ),
    'json_parser.structVersion': whole('Version of the structure', '3 for the present parser, 2 for the one of compatibility level 1.', {
      default: 3,
      examples: [3],
    }),
    'json_parser.structSettings': map(
      'Settings of the structure',
      'By data type, a digest of the settings that its columns come from: when these change, the columns are learned anew.',
      [{ users: '0cc175b9c0f1b6a831c399e269772661' }],
    ),
  },
};
