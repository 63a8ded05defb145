import { COMPLETENESS } from '../shared/completeness-signs.ts';
import {
  definition,
  kind,
  map,
  name,
  object,
  option,
  optionalText,
  text,
  whole,
  type OptionSchema,
} from '../../lib/option.ts';
import { exportOption } from './export/export-options.ts';
import { formatOptions } from '../formats/format-options.ts';
import { REACTIONS } from '../language/index.ts';
import { BODY_FORMATS } from './body.ts';
import { METHODS } from './job.ts';
import { INCREMENTAL } from './incremental/incremental-options.ts';
import { WINDOWS } from './windows/window-options.ts';

/**
 * The JSON Schema (draft-07) of `config.jobs`. It refers to `#/definitions/job`: whoever puts it into a schema takes
 * {@link jobDefinitions} along as `definitions`.
 *
 * As lenient as the reference: null and `[]` stand for "not set", a list for a map, a number for its text; keys that
 * are not listed are allowed.
 */
export const jobsOption = option(
  'Jobs',
  'What to ask the API for, in this order. Jobs with the same id, or the same definition and no id, are one job.',
  {
    type: ['array', 'object'],
    items: definition('job'),
    additionalProperties: definition('job'),
    minItems: 1,
    minProperties: 1,
    examples: [[{ endpoint: 'users', dataField: 'data' }]],
  },
);

const textOrNumber = { type: ['string', 'number', 'null'] };
const scalar = kind(textOrNumber);
const anyCase = METHODS.map((method) =>
  method.replace(/./g, (letter) => `[${letter}${letter.toLowerCase()}]`),
);

const placeOfRows: OptionSchema = {
  type: 'object',
  properties: {
    path: name('Path', 'Path of the rows, keys joined by the delimiter. Required.', {
      minLength: 1,
      examples: ['data/items'],
    }),
    delimiter: optionalText(
      'Delimiter',
      'What stands between the keys of the path, where a key itself has a dot.',
      { default: '.', examples: ['/'] },
    ),
  },
};

/** Keys that jobs and children share. */
const common: Readonly<Record<string, OptionSchema>> = {
  id: optionalText(
    'Id',
    'Names the job in logs. Jobs of one list with the same id are one job: at the place of the first, with the definition of the last. By default a hash of the definition.',
    { default: '', examples: ['users'] },
  ),
  endpoint: option(
    'Endpoint',
    'What to ask for: a path relative to the base URL, a path from the root of the host, or a whole URL. It may hold placeholders in braces, or be a function; the job then needs a `dataType`. Required.',
    {
      type: ['string', 'number', 'object'],
      minLength: 1,
      examples: ['users', '/v2/users?active=1', 'users/{user-id}/orders'],
    },
  ),
  method: optionalText(
    'Method',
    'HTTP method, upper or lower case. POST, PUT and PATCH send the parameters as JSON, FORM is a POST that sends them as a form.',
    {
      anyOf: [{ enum: [...METHODS, '', null] }, { pattern: `^(?:${anyCase.join('|')})$` }],
      default: 'GET',
      examples: ['GET', 'POST'],
    },
  ),
  completeness: COMPLETENESS,
  reactions: REACTIONS,
  params: map(
    'Parameters',
    'Parameters of the request: in the query of GET and DELETE, in the body of the other methods. A value may be a function, which may refer to "attr" and "time". In a child, {placeholder} in a text is replaced too, and functions may also refer to "placeholder" (values of the placeholders by name) and "parent" (the row that started the child).',
    {
      default: {},
      examples: [
        { status: 'active', since: { function: 'date', args: ['Y-m-d', { time: 'previousStart' }] } },
        { user: '{user-id}' },
      ],
    },
  ),
  paramsIn: option(
    'Place of the parameters',
    'Puts the parameters into the query or the body whatever the method is. By default the method decides.',
    { enum: ['query', 'body', '', null], default: '', examples: ['query'] },
  ),
  query: map(
    'Query',
    'Parameters that go into the query, whatever the method is. Functions and placeholders work as in "params".',
    { default: {}, examples: [{ version: '2' }] },
  ),
  body: option(
    'Body',
    'The body of the request, with any method: an object, a list or a text, with functions and placeholders. An object takes in the parameters that go into the body; beside a list or a text they go into the query.',
    {
      type: ['object', 'array', 'string', 'null'],
      additionalProperties: true,
      default: '',
      examples: [{ filter: { status: 'active' } }, [{ op: 'list' }], '<find><id>{id}</id></find>'],
    },
  ),
  bodyFormat: option(
    'Format of the body',
    'How the body is written, and its Content-Type. By default "json" for objects and lists ("form" with the method FORM), and "text" for a text. A text is sent as it is in any format but "multipart".',
    { enum: [...BODY_FORMATS, '', null], default: '', examples: ['xml'] },
  ),
  queryParamIn: option(
    'Place of the pagination parameter',
    'Where "queryParam" of the pagination goes: "query" puts it into the query of any method, "params" beside the parameters of the job.',
    { enum: ['query', 'params', '', null], default: 'params', examples: ['query'] },
  ),
  headers: map(
    'Headers',
    'Request headers of this job; they win over those of "api.http" and "config.http". Functions and, in a child, placeholders work as in "params".',
    { default: {}, examples: [{ 'X-Account': '42' }, { 'X-Token': { attr: '#token' } }] },
  ),
  dataField: option(
    'Data field',
    'Where the rows are in the response: a path of keys joined by ".", or "." for the whole response. A list gives its items, anything else is one row. A list of places gives the rows of all of them, in order. Not set, the only list of the response is taken.',
    {
      anyOf: [textOrNumber, { type: 'array', items: { anyOf: [textOrNumber, placeOfRows] } }, placeOfRows],
      default: '',
      examples: ['data.items', '.', ['created', 'changed'], { path: 'data/items', delimiter: '/' }],
    },
  ),
  ...formatOptions,
  dataType: scalar(
    'Data type',
    'Names the output table, or the mapping to use. Jobs with the same data type write one table. By default the endpoint as written.',
    { default: '', examples: ['users'] },
  ),
  responseFilter: option(
    'Response filter',
    'Parts of each row to keep as JSON text instead of splitting them up: a path or a list of paths. "[]" after a key means each item of that list.',
    {
      type: ['string', 'number', 'array', 'object', 'null'],
      items: { type: ['string', 'number'] },
      additionalProperties: { type: ['string', 'number'] },
      default: [],
      examples: ['additional', ['contacts[].properties', 'tags']],
    },
  ),
  responseFilterDelimiter: scalar(
    'Delimiter of the response filter',
    'What stands between the keys of the paths in "responseFilter".',
    { default: '.', examples: ['/'] },
  ),
  scroller: scalar(
    'Scroller',
    'Which scroller to use when the pagination method is "multiple". By default its default one.',
    { default: '', examples: ['by-cursor'] },
  ),
  // what is in it is a matter of its stage: `config/schema.ts` puts the whole schema here
  pagination: map(
    'Pagination',
    'A pagination of this job alone, in place of that of the API. Children do not inherit it.',
    { default: {}, examples: [{ method: 'pagenum' }] },
  ),
  userData: option(
    'User data',
    'Columns to add to each row of this job: names and values, where a value may be a function. A single value goes into the column "job_parent_id".',
    {
      default: {},
      examples: [{ country: 'UK' }, { extracted: { function: 'date', args: ['Y-m-d'] } }, 'UK'],
    },
  ),
  windows: WINDOWS,
  over: map(
    'Lists',
    'Runs the job once for each value of a list, which is a placeholder then; of several lists, for each combination. A list of settings is {"attr": "name"}; of objects, each key is a placeholder: {account.id}.',
    {
      additionalProperties: { anyOf: [{ type: 'array' }, definition('source')] },
      default: {},
      examples: [{ country: ['cz', 'sk'], kind: { attr: 'kinds' } }],
    },
  ),
  primaryKey: option(
    'Primary key',
    'What tells a row from all others: a path in the row or a column, or a list of them. It becomes the key of the table; with `incremental` rows that come again take the place of those that are there.',
    {
      type: ['string', 'number', 'array', 'null'],
      items: { type: ['string', 'number'], minLength: 1 },
      default: '',
      examples: ['id', ['account.id', 'date']],
    },
  ),
  incremental: INCREMENTAL,
  children: map(
    'Children',
    'Jobs to run for each row of this job. They use the pagination of the API unless they have one of their own, and may have children themselves.',
    {
      items: definition('childJob'),
      additionalProperties: definition('childJob'),
      default: [],
      examples: [[{ endpoint: 'users/{user-id}/orders', placeholders: { 'user-id': 'id' } }]],
    },
  ),
};

/** Keys that a request of an export has. */
const request = Object.fromEntries(
  ['endpoint', 'method', 'params', 'paramsIn', 'query', 'body', 'bodyFormat', 'headers'].flatMap((key) => {
    const schema = common[key];
    return schema === undefined ? [] : [[key, schema] as const];
  }),
);

/** Keys of jobs that have requests of their own. */
const exporting: Readonly<Record<string, OptionSchema>> = { export: exportOption(request) };

/** Keys of children. */
const ofChildren: Readonly<Record<string, OptionSchema>> = {
  placeholders: map(
    'Placeholders',
    'Names that stand in braces in the endpoint, the parameters and the headers, and where their values are in the parent row. "2:name" takes the value from the row above the parent row, and so on. A list runs the child once for each item. Each value also becomes a column "parent_<path>".',
    {
      items: definition('placeholder'),
      additionalProperties: definition('placeholder'),
      default: {},
      examples: [{ 'user-id': 'id' }, { '2:user-id': 'id', '1:order-id': 'order.id' }],
    },
  ),
  group: map(
    'Group',
    'Asks for several parent rows in one request: the placeholder stands for their values. Groups are made of the rows of one page of the parent.',
    {
      maxItems: 0,
      default: {},
      examples: [{ size: 100, by: 'author_id' }],
      properties: {
        size: whole('Size', 'Values in one request, at most.', {
          minimum: 1,
          maximum: 10_000,
          default: 100,
          examples: [50],
        }),
        join: option(
          'Join',
          'The text between the values. With `false` they are a list, where a text is nothing but the placeholder.',
          { type: ['string', 'boolean', 'null'], default: ',', examples: ['|', false] },
        ),
        by: option(
          'By',
          'Path in the rows of the answer of the value that says which parent a row belongs to: it becomes the column `parent_<path>`. `false` where nobody needs it.',
          { type: ['string', 'boolean', 'null'], default: false, examples: ['author_id'] },
        ),
      },
    },
  ),
  recursionFilter: option(
    'Recursion filter',
    'Which parent rows start the child: a condition over the row, or a list of them that must all hold. Or a text: conditions such as "id>10" joined by "&" (and) and "|" (or). Operators: == != > < >= <= ~~ (like, % is any text) !~ (not like). Blanks count. Not set, all rows do.',
    {
      anyOf: [textOrNumber, { type: 'array', maxItems: 0 }, definition('condition')],
      default: '',
      examples: ['role==parent|id>300&id<400', 'type!~%min%', { value: 'orders', is: 'above', than: 0 }],
    },
  ),
};

/** Keys that may be others for each of several parents. */
const differing = Object.fromEntries(
  ['endpoint', 'params', 'query', 'headers', 'body', 'userData', 'over'].map((key) => [
    key,
    common[key] ?? {},
  ]),
);

/** Keys of jobs at the top; with `parents` they are children. */
const ofTop: Readonly<Record<string, OptionSchema>> = {
  ...ofChildren,
  placeholders: map(
    'Placeholders',
    'Names that stand in braces in the endpoint, the parameters and the headers, and the functions that give their values, such as the year of a window; with `parents`, where they are in the parent row.',
    {
      additionalProperties: definition('placeholder'),
      default: {},
      examples: [{ year: { function: 'date', args: ['Y', { window: 'from' }] } }],
    },
  ),
  parents: option(
    'Parents',
    'Makes the job a child of other jobs, which are named by their ids (without one, by their data types). An entry may have keys of the job that differ for that parent.',
    {
      type: ['array', 'string', 'null'],
      default: [],
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          {
            type: 'object',
            required: ['job'],
            properties: {
              job: text('Job', 'Id of the parent. Required.', { minLength: 1, examples: ['posts'] }),
              ...ofChildren,
              ...differing,
            },
          },
        ],
      },
      examples: [['posts', { job: 'photos', placeholders: { id: 'photo_id' } }]],
    },
  ),
};

const placeholder = option(
  'Placeholder',
  'A path in the parent row, a path with a function that makes the value from what is there, or a function alone.',
  {
    anyOf: [
      { type: ['string', 'number'], minLength: 1 },
      { allOf: [definition('source')] },
      {
        type: 'object',
        minProperties: 1,
        properties: {
          path: name(
            'Path',
            'Path of the value in the parent row, keys joined by ".". Without it the value comes from the function alone.',
            { default: '', examples: ['user.id'] },
          ),
          function: text(
            'Function',
            'Makes the value of the placeholder. By default the value is taken as it is.',
            { default: '', examples: ['urlencode'] },
          ),
          args: option(
            'Arguments',
            'Arguments of the function; {"placeholder": "value"} is the value found at the path.',
            { type: ['array', 'object'], default: [], examples: [[{ placeholder: 'value' }]] },
          ),
          placeholder: option(
            'Reference',
            'Always "value": the value found at the path, without a function.',
            { enum: ['value', ''], default: '', examples: ['value'] },
          ),
        },
      },
    ],
    examples: ['id', { path: 'id', function: 'urlencode', args: [{ placeholder: 'value' }] }],
  },
);

/** The schemas that {@link jobsOption} refers to, by their names under `definitions`. */
export const jobDefinitions: Readonly<Record<'job' | 'childJob' | 'placeholder', OptionSchema>> = {
  job: object('Job', 'A resource of the API that becomes a table.', {
    required: ['endpoint'],
    properties: { ...common, ...exporting, ...ofTop },
    examples: [{ endpoint: 'users', dataField: 'data' }],
  }),
  childJob: object('Child job', 'A resource that is asked for once for each row of the job above it.', {
    required: ['endpoint'],
    properties: { ...common, ...exporting, ...ofChildren },
    examples: [{ endpoint: 'users/{user-id}', placeholders: { 'user-id': 'id' } }],
  }),
  placeholder,
};
