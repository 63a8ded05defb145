import { definition, map, option, optionalText, whole, type OptionSchema } from '../../../lib/option.ts';

const span = (title: string, description: string, example: string): OptionSchema =>
  optionalText(title, description, { default: '', examples: [example] });

const bound = [{ type: ['string', 'number', 'null'] }, { type: 'object', allOf: [definition('source')] }];

/** The JSON Schema (draft-07) of `windows` of a job. */
export const WINDOWS = map(
  'Windows of time',
  'Runs the job once for each window of time. {"window": "from"} and {"window": "to"} in its request are the bounds of the window; each window has its own pages and its own verdict.',
  {
    maxItems: 0,
    default: {},
    examples: [{ from: '2025-01-01', step: '30 days', format: 'Y-m-d' }],
    properties: {
      from: option(
        'Beginning',
        'Where the first window begins: a date, words such as "-90 days" counted from the start of the run, seconds since 1970, or a function. By default where the state of the job says (`incremental`).',
        { anyOf: bound, default: '', examples: ['2025-01-01', '-90 days', { attr: 'since' }] },
      ),
      to: option(
        'End',
        'Where the last window ends; what is at this very moment is not asked for. By default the start of the run.',
        { anyOf: bound, default: '', examples: ['today', '2026-01-01'] },
      ),
      step: span(
        'Step',
        'Length of each window, in months of the calendar or in fixed units: `1 month`, `30 days`, `6 hours`, `P1M`. By default the whole time is one window.',
        '30 days',
      ),
      format: optionalText(
        'Format',
        'How the bounds are sent: letters of PHP (`Y-m-d`), `epoch` (seconds since 1970) or `epochMs`. In UTC, or in the offset of the beginning where the format writes it (`O`, `P`). Windows begin and end on whole days where the format has no time.',
        { default: 'Y-m-d\\TH:i:s\\Z', examples: ['Y-m-d', 'epoch'] },
      ),
      end: option(
        'Meaning of the end',
        'Whether the API takes the end as part of the window. Windows are half-open: with `inclusive` the last day, or second, before the end is sent as `to`. With `through` the last window also takes the end of the whole time, and bounds are not widened.',
        {
          enum: ['exclusive', 'inclusive', 'through', '', null],
          default: 'exclusive',
          examples: ['inclusive'],
        },
      ),
      granularity: span(
        'Granularity',
        'What the API tells apart; bounds are widened to it. By default the shortest unit of the formats in the request.',
        '1 day',
      ),
      overlap: span(
        'Overlap',
        'Lets each window but the first begin so much earlier. Rows there come twice: the table needs a primary key.',
        '1 second',
      ),
      lookback: span('Lookback', 'Lets the first window begin so much before `from`.', '7 days'),
      order: option('Order', '`backward` asks for the newest window first.', {
        enum: ['forward', 'backward', '', null],
        default: 'forward',
        examples: ['backward'],
      }),
      max: whole('Most windows', 'More windows in one run are an error.', {
        default: 10_000,
        examples: [20_000],
      }),
    },
  },
);
