import { definition, name, object, option, text, type OptionSchema } from '../../lib/option.ts';
import { COMPARISONS } from './compare.ts';
import { CONDITION_WORDS } from './condition.ts';
import { CONTEXTS } from './kinds.ts';
import { ANSWER_FACTS } from './view.ts';

const path = (title: string, description: string, example: string): OptionSchema =>
  name(title, description, { minLength: 1, examples: [example] });

const CONTEXT_TEXTS: Readonly<Record<(typeof CONTEXTS)[number], readonly [string, string, string]>> = {
  attr: ['Attribute', 'Name of a key of `config`.', 'account'],
  time: [
    'Time of the run',
    'Name of a time: `currentStart` or `previousStart`, in seconds.',
    'previousStart',
  ],
  state: ['State', 'Name of a value that the last run kept for this job.', 'cursor'],
  window: ['Window', 'An edge of the window of time at hand: `from` or `to`.', 'from'],
  parent: ['Parent row', 'Path in the row that started the child.', 'id'],
  placeholder: ['Placeholder', 'Name of a placeholder.', 'user-id'],
  created: ['Created export', 'Path in the answer that created the export.', 'id'],
  polled: ['Polled export', 'Path in the last answer about the export.', 'document'],
};

const sourceProperties: Readonly<Record<string, OptionSchema>> = {
  path: path('Path', 'Path in what is at hand: the response, or the row.', 'meta.next'),
  response: path(
    'Path in the response',
    'Path in the response, also where a row is at hand.',
    'meta.currency',
  ),
  row: path('Path in the row', 'Path in the row.', 'id'),
  first: path('First row', 'Path in the first row of the page.', 'id'),
  last: path('Last row', 'Path in the last row of the page.', 'id'),
  min: path('Smallest value', 'Path in the rows of the page: the smallest value.', 'id'),
  max: path('Largest value', 'Path in the rows of the page: the largest value.', 'updated_at'),
  delimiter: text('Path delimiter', 'What stands between the keys of the path.', {
    default: '.',
    examples: ['/'],
  }),
  header: path('Response header', 'Name of a header of the response.', 'X-Next'),
  link: path('Link', 'Relation of a link of the header `Link`: its whole address.', 'next'),
  plain: option(
    'Relation as one text',
    'Compares the relation of the link by its letters, as simple clients do: neither `Next` nor `next last` is `next`, and the last of several links counts.',
    { type: 'boolean', default: false, examples: [true] },
  ),
  attribute: path('Attribute of the link', 'That attribute of the link, instead of its address.', 'results'),
  request: option(
    'What was sent',
    'A place in the request that was answered: the name of a parameter, or a place.',
    {
      anyOf: [{ type: ['string', 'number'] }, definition('place')],
      examples: ['offset', { body: 'variables.after' }],
    },
  ),
  answer: option(
    'Of the answer',
    'What is known of the answer: its status, the number of the page, of its rows, of the rows so far, of its bytes, and the address that answered.',
    { enum: [...ANSWER_FACTS], examples: ['rows'] },
  ),
  value: option('Constant', 'A value as it stands.', ['all']),
  firstOf: option('First that is there', 'Sources: the first that is not absent, null or an empty text.', {
    type: 'array',
    minItems: 1,
    items: definition('source'),
    examples: [['meta.next', { header: 'X-Next' }]],
  }),
  ...Object.fromEntries(
    CONTEXTS.map((name) => {
      const [title, description, example] = CONTEXT_TEXTS[name];
      return [name, path(title, description, example)];
    }),
  ),
  function: text('Function', 'A function over sources: objects in `args` are sources, texts are texts.', [
    'concat',
  ]),
  args: option('Arguments', 'Arguments of the function.', {
    type: ['array', 'object'],
    default: [],
    examples: [[{ path: 'id' }, '-']],
  }),
  where: object('Item that has', 'The value is a list: its first item that has all these values.', {
    additionalProperties: true,
    examples: [{ rel: 'next' }],
  }),
  take: path('Part of the item', 'Path in the item that `where` finds.', 'href'),
  param: path(
    'Parameter of the address',
    'The value is an address: that parameter of its query, decoded.',
    'after',
  ),
  match: path(
    'Part that matches',
    'A regular expression with one group: what it holds. Where it is not found there is no value.',
    'after=([^&]+)',
  ),
  as: option('Type', 'Makes another type of the value; `json` reads a text that is JSON itself.', {
    enum: ['text', 'number', 'boolean', 'json'],
    examples: ['number'],
  }),
  default: option('Default', 'The value where there is none, or null.', [0]),
};

/** Definitions that the schemas of the stages refer to, by their names under `definitions`. */
export const languageDefinitions: Readonly<Record<'source' | 'condition' | 'place', OptionSchema>> = {
  source: option(
    'Source',
    'A value of the exchange: a path, or an object that says where the value comes from.',
    {
      anyOf: [
        { type: ['string', 'number'], minLength: 1 },
        { type: 'object', minProperties: 1, properties: sourceProperties },
      ],
      examples: ['meta.next', { header: 'X-Next' }, { last: 'id' }],
    },
  ),
  place: option(
    'Place in the request',
    'The name of a parameter, or an object that says where in the request the value goes.',
    {
      anyOf: [
        { type: ['string', 'number'], minLength: 1 },
        {
          type: 'object',
          minProperties: 1,
          properties: {
            param: path('Parameter', 'A parameter, where the method puts parameters.', 'after'),
            query: path(
              'Query',
              'A parameter of the query, whatever the method is; `*` merges an object whole.',
              'after',
            ),
            body: path(
              'Body',
              'A key of the body, at any depth; `*` merges an object whole.',
              'variables.after',
            ),
            header: path('Header', 'A header of the request.', 'X-Page'),
            path: path('Part of the endpoint', '`{name}` in the endpoint.', 'page'),
            template: path('Part of a text', '`{name}` in any text of the request.', 'offset'),
            first: option('Before there is a value', 'What stands in the text in the first request.', {
              default: '',
              examples: [1],
            }),
          },
        },
      ],
      examples: ['after', { body: 'variables.after' }],
    },
  ),
  condition: option('Condition', 'Whether something holds of an answer or a row.', {
    type: ['object', 'array'],
    minProperties: 1,
    items: definition('condition'),
    examples: [{ value: 'meta.page', is: 'atLeast', than: { path: 'meta.pages' } }],
    properties: {
      value: definition('source'),
      is: option('Is', 'What must be so of the value; `present` when it is not set.', {
        anyOf: [{ enum: [...CONDITION_WORDS] }, { type: 'boolean' }],
        default: 'present',
        examples: ['atLeast'],
      }),
      than: option('Than', 'What it is compared with: a value as it stands, or a source as an object.', [
        10,
        { path: 'meta.pages' },
      ]),
      as: option(
        'Compared as',
        'How the two are compared. Not set: as numbers where both read as numbers, as times where both do, else as text.',
        { enum: [...COMPARISONS], examples: ['time'] },
      ),
      status: option('Status', 'Statuses of the answer: a number, `4xx`, `500-504`, or a list of such.', {
        type: ['number', 'string', 'array'],
        examples: [404, '5xx'],
      }),
      all: option('All', 'Conditions that must all hold.', { $ref: '#/definitions/condition' }),
      any: option('Any', 'Conditions of which one must hold.', { $ref: '#/definitions/condition' }),
      not: option('Not', 'A condition that must not hold.', { $ref: '#/definitions/condition' }),
    },
  }),
};

/** Returns the schema of a setting that is a source. */
export function sourceSchema(title: string, description: string, examples: readonly unknown[]): OptionSchema {
  return option(title, description, { examples, allOf: [definition('source')] });
}

/** Returns the schema of a setting that is a place. */
export function placeSchema(title: string, description: string, examples: readonly unknown[]): OptionSchema {
  return option(title, description, { examples, allOf: [definition('place')] });
}

/** Returns the schema of a setting that is a condition, or a list of them. */
export function conditionSchema(
  title: string,
  description: string,
  examples: readonly unknown[],
): OptionSchema {
  return option(title, description, { examples, allOf: [definition('condition')] });
}
