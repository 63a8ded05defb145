import { Type } from 'typebox';

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
