import { definition, option, type OptionSchema } from '../../lib/option.ts';

/** Schemas of options that several methods have. */

/** Schema of a whole number, as number or text; an empty value means none. A fraction is cut off. */
export const COUNT = {
  type: ['number', 'string', 'null'],
  minimum: 0,
  pattern: '^\\s*(?:\\+?\\d+(?:\\.\\d*)?)?\\s*$',
} as const;

/** Schema of a flag, in all accepted forms. */
export const FLAG = {
  type: ['boolean', 'integer', 'string', 'null'],
  enum: [true, false, 0, 1, '0', '1', '', null],
} as const;

/** Returns the schema of a setting that may be null, for none. */
export function orNull(schema: OptionSchema): OptionSchema {
  const { allOf, ...rest } = schema;
  return {
    ...rest,
    anyOf: [{ type: 'null' }, ...(Array.isArray(allOf) ? (allOf as readonly unknown[]) : [])],
  };
}

export const queryParamIn = option(
  'Place of the pagination parameters',
  "Where the parameters set by the pagination go. `params`: with the job's own parameters, which is the query of GET and the body of POST and FORM. `query`: into the query, whatever the method is.",
  { enum: ['params', 'query'], default: 'params', examples: ['query'] },
);

export const firstPageParams = option(
  'Parameters in the first request',
  'Whether the first request carries the pagination parameters. With `false` it is the job as it is written.',
  { ...FLAG, default: true, examples: [false] },
);

/** Schema of the parameter that sends the page size. */
export const limitParam = option(
  'Page size parameter',
  'Where the page size goes: the name of a parameter, or a place in the request. `false`: it is not sent.',
  {
    anyOf: [{ const: false }, definition('place')],
    default: 'limit',
    examples: ['per_page', { body: 'page.size' }, false],
  },
);
