import { Type, type Static } from 'typebox';

const component = Type.Optional(
  Type.String({ description: 'Whose configuration it is; `ex-generic-v2` by default.' }),
);

/** Logins of persons that a page holds. */
const logins = Type.Optional(
  Type.String({
    description: 'Logins of persons that were made for it, as `GET /console/logins/{id}` gives them.',
  }),
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
        '`bearer:TOKEN`, `basic:USER:PASSWORD`, `header:NAME=KEY`, `query:NAME=KEY`, `client:ID:SECRET@TOKEN_URL` or `person:ID:SECRET@LOGIN_URL,TOKEN_URL,SCOPES`, with the secret itself.',
    }),
  ),
  headers: Type.Optional(Type.Array(Type.String(), { description: '`Name: value`' })),
  select: Type.Optional(
    Type.String({ description: 'Of a text with several lists, those that have this in their address.' }),
  ),
  maxRequests: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
  tries: Type.Optional(
    Type.Boolean({
      description:
        'Of a document that describes an API, each list is asked for, with up to `maxRequests` requests, and the configuration has what was proved.',
    }),
  ),
  logins,
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
  logins,
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

/** Tools whose configurations can be imported, as `gex import` names them. */
export const ImportTool = Type.Enum(['airbyte', 'dlt', 'singer', 'n8n', 'curl', 'postman', 'har']);
export type ImportTool = Static<typeof ImportTool>;

/** Body of `POST workshop/import`. */
export const Importing = Type.Object({
  tool: ImportTool,
  text: Type.String({ minLength: 1, description: 'The file of the other tool.' }),
  file: Type.String({ minLength: 1, maxLength: 255, description: 'Its name: the form follows from it.' }),
  name: Type.Optional(
    Type.String({ maxLength: 255, description: 'Of the source; the name of the file by default.' }),
  ),
  settings: Type.Optional(
    Type.String({
      description: 'Settings of the connector as JSON or YAML: they become those of the configuration.',
    }),
  ),
  beside: Type.Optional(
    Type.Record(Type.String({ maxLength: 255 }), Type.String(), {
      maxProperties: 200,
      description:
        'Files of Python beside a manifest, by their paths from its folder: they are read, and never run.',
    }),
  ),
  component,
});

const ImportedStream = Type.Object({
  stream: Type.String(),
  outcome: Type.Enum(['exact', 'equal rows, other columns', 'more rows', 'other rows', 'not']),
  row: Type.Optional(
    Type.String({ description: 'Its row in the configuration; disabled where it is `not`.' }),
  ),
  columns: Type.Array(Type.String({ description: 'Which columns are missing, more, or named otherwise.' })),
  reasons: Type.Array(
    Type.Object({ path: Type.String(), message: Type.String(), template: Type.Optional(Type.String()) }),
    { description: 'Why it is `not`.' },
  ),
  notes: Type.Array(Type.String()),
});

/** Configuration that was made from that of another tool, and how much of it was taken over. */
export const ImportedSource = Type.Object(
  {
    configuration: Type.String({ description: 'JSON: `configuration` and `rows`, its secrets encrypted.' }),
    report: Type.Object({
      source: Type.String(),
      streams: Type.Array(ImportedStream),
      settings: Type.Array(
        Type.Object({
          key: Type.String({ description: 'Path below `parameters.config`.' }),
          title: Type.String(),
          isRequired: Type.Boolean(),
          example: Type.Optional(Type.String()),
        }),
        { description: 'That have no value yet.' },
      ),
      notes: Type.Array(Type.String()),
    }),
  },
  { title: 'Imported source' },
);
export type ImportedSource = Static<typeof ImportedSource>;

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
