import { option, text, type OptionSchema } from '../../../lib/option.ts';
import { fileOptions, tableOptions } from './storage.ts';

/** `out/tables/<name>.manifest` and `out/files/<name>.manifest`. */
export const manifestSchema: OptionSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://generic-extractor/schemas/manifest.schema.json',
  title: 'Manifest of an output table or file',
  description: 'Says where a file of `out/` goes and how. The extractor writes `destination`, `incremental` and `primary_key`.',
  type: 'object',
  additionalProperties: true,
  properties: {
    $schema: text('Schema', 'Where editors find this schema.', ['../node_modules/generic-extractor/schemas/manifest.schema.json']),
    ...tableOptions(),
    manifest_type: option('Type of the manifest', '`out` for results.', { enum: ['in', 'out'], default: 'out', examples: ['out'] }),
    ...fileOptions(),
  },
};
