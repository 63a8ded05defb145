import { definition, kind, map, option, type OptionSchema } from '../../../lib/option.ts';
import { conditionSchema, sourceSchema } from '../../language/index.ts';

const time = ['number', 'string', 'null'];
const duration = kind({ type: time });

/**
 * Returns the JSON Schema (draft-07) of `export` of a job.
 *
 * @param request the keys of a request, as jobs have them
 */
export function exportOption(request: Readonly<Record<string, OptionSchema>>): OptionSchema {
  const requestOf = (title: string, description: string, example: object): OptionSchema =>
    map(title, description, {
      maxItems: 0,
      default: {},
      examples: [example],
      properties: { ...request, placeholders: PLACEHOLDERS },
    });
  const poll = requestOf(
    'Wait',
    'The request that asks how far the export is, again and again; {"created": "id"} is a value of the answer that created it.',
    {
      endpoint: 'reports/{id}',
      placeholders: { id: { created: 'id' } },
      until: { value: 'status', is: 'equals', than: 'done' },
    },
  );
  const download = requestOf(
    'Download',
    'Where the files are: "from", one address or a list of them in the last answer; or a request, once or for "each" item of a list. By default the request of the job itself.',
    { from: 'url' },
  );
  return map(
    'Export',
    'How an export becomes the answer of the job: it is created, waited for and downloaded. The format, the pagination and all else of the job are of the files.',
    {
      maxItems: 0,
      default: {},
      examples: [
        {
          create: { endpoint: 'reports', method: 'POST', params: { type: 'orders' } },
          poll: {
            endpoint: 'reports/{id}',
            placeholders: { id: { created: 'id' } },
            until: { value: 'status', is: 'equals', than: 'done' },
            failWhen: { value: 'status', is: 'in', than: ['failed', 'cancelled'] },
          },
          download: { from: 'url' },
        },
      ],
      properties: {
        create: requestOf(
          'Creation',
          'The request that asks for the export. By default the request of the job itself, where “download” is another one; otherwise nothing is created.',
          { endpoint: 'reports', method: 'POST' },
        ),
        poll: {
          ...poll,
          default: null,
          required: ['until'],
          properties: { ...propertiesOf(poll), ...POLL },
        },
        address: requestOf('Address', 'A request in between, whose answer says where the files are.', {
          endpoint: 'documents/{id}',
          placeholders: { id: { polled: 'documentId' } },
        }),
        download: { ...download, properties: { ...propertiesOf(download), ...DOWNLOAD } },
      },
    },
  );
}

const PLACEHOLDERS = map(
  'Placeholders',
  'Names that stand in braces in the request, and where their values come from: {"created": "id"} of the answer that created the export, {"polled": "file.id"} of the last one, {"created": "@header.location"} of its headers; functions over them.',
  { additionalProperties: definition('source'), default: {}, examples: [{ id: { created: 'id' } }] },
);

const POLL: Readonly<Record<string, OptionSchema>> = {
  until: conditionSchema('Until', 'When the export is done. Required.', [
    { value: 'status', is: 'equals', than: 'done' },
  ]),
  failWhen: conditionSchema('Failure', 'When the API could not make it: the run then ends with an error.', [
    { value: 'status', is: 'in', than: ['failed', 'cancelled'] },
  ]),
  emptyWhen: conditionSchema('Nothing', 'When it is done and has no rows, and perhaps no file.', [
    { value: 'url', is: 'absent' },
  ]),
  message: sourceSchema('Words', 'What the API says of a failure, for the message.', ['error.message']),
  every: option(
    'Pauses',
    'Time between two polls: seconds, or a text such as "30 seconds"; or {"from", "to", "times"} for pauses that grow. By default 1, 2, 4 … up to 60 seconds. What the answer says in Retry-After counts more.',
    {
      type: [...time, 'object'],
      properties: {
        from: duration('First', 'The first pause.', { default: 1, examples: [5] }),
        to: duration('Longest', 'The longest pause.', { default: 60, examples: ['5 minutes'] }),
        times: option('Factor', 'How many times longer each pause is than the one before.', {
          type: ['number', 'null'],
          minimum: 1,
          default: 2,
          examples: [1.5],
        }),
      },
      default: { from: 1, to: 60, times: 2 },
      examples: [30, '5 minutes', { from: 5, to: 120, times: 1.5 }],
    },
  ),
  deadline: duration(
    'Deadline',
    'How long to wait at most: seconds, or a text such as "2 hours". Time in which the run stood still does not count.',
    { default: '1 hour', examples: ['2 hours'] },
  ),
};

const DOWNLOAD: Readonly<Record<string, OptionSchema>> = {
  from: sourceSchema(
    'Addresses',
    'Where the last answer has the address of the file, or a list of addresses. Credentials go to hosts alone that the configuration names.',
    ['url', '$.files[*].url'],
  ),
  each: sourceSchema(
    'Each',
    'Where the last answer has a list: the download is asked for once for each item, which is {item} in it.',
    ['parts', '$.parts[*].id'],
  ),
};

function propertiesOf(schema: OptionSchema): Readonly<Record<string, OptionSchema>> {
  return (schema['properties'] ?? {}) as Readonly<Record<string, OptionSchema>>; // made above
}
