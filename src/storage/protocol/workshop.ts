import { Type, type Static } from 'typebox';

const component = Type.Optional(
  Type.String({ description: 'Whose configuration it is; `ex-generic-v2` by default.' }),
);

/** Body of `POST workshop/explore`. */
export const Exploration = Type.Object({
  source: Type.String({
    minLength: 1,
    description:
      'An address, a curl command, or the text of a HAR file, an OpenAPI document or a Postman collection.',
  }),
  auth: Type.Optional(
    Type.String({
      description:
        '`bearer:TOKEN`, `basic:USER:PASSWORD`, `header:NAME=KEY` or `query:NAME=KEY`, with the secret itself.',
    }),
  ),
  headers: Type.Optional(Type.Array(Type.String(), { description: '`Name: value`' })),
  select: Type.Optional(
    Type.String({ description: 'Of a text with several lists, those that have this in their address.' }),
  ),
  maxRequests: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
  component,
});

/** Body of `POST workshop/try`. */
export const Trial = Type.Object({
  document: Type.Unsafe<unknown>({
    description: 'What `config.json` would hold: a configuration, or one with rows.',
  }),
  component,
  configuration: Type.Optional(Type.String({ description: 'Its id, when it is stored.' })),
  row: Type.Optional(Type.String({ description: 'Only this row.' })),
  pages: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, description: 'Of each job; 3 by default.' })),
  recording: Type.Optional(
    Type.String({ description: 'Of an earlier trial: its answers are used, and the API is not asked.' }),
  ),
});

/** Body of `POST workshop/validate`. */
export const Inspection = Type.Object({
  text: Type.String({
    maxLength: 4 * 1024 * 1024,
    description: 'The text of `config.json`: a configuration, or one with rows. It may be no JSON (yet).',
  }),
  component,
  configuration: Type.Optional(Type.String({ description: 'Its id, when it is stored.' })),
});

/** Problem at one place of a configuration. */
export const ConfigurationProblem = Type.Object(
  {
    severity: Type.Union([Type.Literal('error'), Type.Literal('warning')]),
    path: Type.String({ description: 'JSON path in the text; empty for all of it.' }),
    message: Type.String(),
    line: Type.Optional(Type.Integer({ description: 'From 1.' })),
    column: Type.Optional(Type.Integer({ description: 'From 1.' })),
    row: Type.Optional(Type.String({ description: 'Id of the row in which it was found.' })),
    expected: Type.Optional(Type.String()),
    found: Type.Optional(Type.String({ description: 'What is there; never a secret.' })),
    suggestion: Type.Optional(Type.String({ description: 'The word that may have been meant.' })),
    hint: Type.Optional(Type.String({ description: 'What to do about it.' })),
  },
  { title: 'Problem of a configuration' },
);
export type ConfigurationProblem = Static<typeof ConfigurationProblem>;

export const Inspected = Type.Object({ problems: Type.Array(ConfigurationProblem) });
