import { option } from '../../lib/option.ts';
import { DEEDS, DEFAULT_TIMES, MOST_TIMES, WAIT_UNITS } from './reactions.ts';
import { conditionSchema, sourceSchema } from './schemas.ts';

/** JSON Schema of `reactions`, of a job and of `api`. */
export const REACTIONS = option(
  'Reactions',
  'What to do about answers: the first whose condition holds decides. Those of a job come before those of the API.',
  {
    type: 'array',
    default: [],
    examples: [
      [{ when: { status: 403 }, do: 'skip' }],
      [{ when: { value: 'ok', is: 'false' }, do: 'fail', message: 'error' }],
    ],
    items: {
      type: 'object',
      required: ['when', 'do'],
      properties: {
        when: conditionSchema('When', 'What must hold of the answer; of a list, any. Required.', [
          { status: [403, 404] },
          { value: 'ok', is: 'false' },
        ]),
        do: option(
          'Do',
          'What is done: `retry` sends it again after a pause, `login` logs in anew first, `empty` takes it as a page without rows, `skip` ends this run of the job without its rows, `rows` takes its body as data whatever its status, `fail` ends with an error. Required.',
          { enum: [...DEEDS], examples: ['skip'] },
        ),
        wait: option(
          'Pause',
          'Seconds to wait before it is sent again, or where the answer says it. By default what `Retry-After` says, else 1, 2, 4 … seconds.',
          {
            type: ['number', 'string', 'object'],
            default: '',
            examples: [30, { from: { header: 'X-RateLimit-Reset' }, as: 'epoch' }],
            properties: {
              from: sourceSchema('From', 'Where the answer says how long. Required.', [
                { path: 'error.message', match: 'in (\\d+) seconds' },
              ]),
              as: option(
                'As',
                'What is found there: `seconds` or `milliseconds` to wait, a Unix time (`epoch`), or a `date`. By default as `Retry-After` is read.',
                { enum: [...WAIT_UNITS], default: '', examples: ['epoch'] },
              ),
              atLeast: option('At least', 'Seconds to wait in any case.', {
                type: ['number', 'string'],
                default: 0,
                examples: [1],
              }),
            },
          },
        ),
        times: option(
          'Times',
          `How often one request is sent again for this: 1 to ${MOST_TIMES}. By default ${DEFAULT_TIMES.retry} for \`retry\`, ${DEFAULT_TIMES.login} for \`login\`. When they are used up, the next reaction that holds decides, or it is an error.`,
          { type: ['integer', 'string'], default: '', examples: [5] },
        ),
        message: sourceSchema('Message', 'Where the API says what is wrong, for the log and the error.', [
          'error.message',
        ]),
      },
    },
  },
);
