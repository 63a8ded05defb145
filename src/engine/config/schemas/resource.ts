import { definition, map, object, option, type OptionSchema } from '../../../lib/option.ts';

type Properties = Readonly<Record<string, OptionSchema>>;

/**
 * The definitions of a whole configuration resource: `resource`, `row` and `part`.
 *
 * @param properties the keys of a root or row configuration
 */
export function resourceDefinitions(properties: Properties): Properties {
  return { resource: resourceSchema(), row: rowSchema(), part: partSchema(properties) };
}

/** Returns the schema of `$schema` at the top of a document. */
export function schemaKey(example: string): OptionSchema {
  return option('Schema', 'Where editors find this schema.', { type: 'string', examples: [example] });
}

/** A part of a configuration: root or row, complete only when they are merged. */
function partSchema(properties: Properties): OptionSchema {
  return option(
    'Part of a configuration',
    'The root of a configuration or one of its rows: together they make one component configuration.',
    { type: ['object', 'array'], examples: [{ parameters: { api: { baseUrl: 'https://api.example.com/v1/' } } }], properties },
  );
}

function resourceSchema(): OptionSchema {
  return object('Configuration resource', 'A whole configuration: a root, rows that are merged into it one by one, and state.', {
    properties: {
      $schema: schemaKey('./node_modules/generic-extractor/schemas/config.schema.json'),
      id: text('Id', 'Id of the configuration.', '12345'),
      name: text('Name', 'Name of the configuration.', 'Shop'),
      description: text('Description', 'What the configuration is for.', 'Orders and customers of the shop'),
      configuration: definition('part'),
      rows: option('Rows', 'Each row is run by itself, merged over the root. Without rows the root is run.', {
        type: 'array',
        items: definition('row'),
        default: [],
        examples: [[{ id: 'users', configuration: { parameters: { config: { jobs: [{ endpoint: 'users' }] } } } }]],
      }),
      rowsSortOrder: option('Order of rows', 'Ids of rows in the order of their runs; rows that are not named follow in document order.', {
        type: 'array',
        items: { type: ['string', 'integer'] },
        default: [],
        examples: [['users', 'orders']],
      }),
      state: state('State of the root; not used when there are rows.'),
      isDisabled: disabled('Whether the configuration is disabled in the storage; it is run when it is named.'),
    },
  });
}

function rowSchema(): OptionSchema {
  return object('Row', 'A part of the configuration that makes one run together with the root.', {
    required: ['id'],
    properties: {
      id: text('Id', 'Id of the row; it names the folder of its files.', 'users'),
      name: text('Name', 'Name of the row.', 'Users'),
      description: text('Description', 'What the row is for.', 'All users, every day'),
      configuration: definition('part'),
      isDisabled: disabled('A disabled row is skipped unless it is named.'),
      state: state('State of the row.'),
    },
  });
}

function text(title: string, description: string, example: string): OptionSchema {
  return option(title, description, { type: ['string', 'integer', 'null'], examples: [example] });
}

function disabled(description: string): OptionSchema {
  return option('Disabled', description, { type: ['boolean', 'integer', 'null'], default: false, examples: [true] });
}

function state(description: string): OptionSchema {
  return map('State', description, { default: {}, examples: [{ component: {} }] });
}
