import type { Way } from './document.ts';

export interface FieldOf {
  readonly way: Way;
  readonly label: string;
  readonly hint?: string;
  /** The default, when it has one. */
  readonly placeholder?: string;
  readonly isSecret?: boolean;
  readonly isNumber?: boolean;
  readonly choices?: readonly { readonly value: string; readonly text: string }[];
}

const login = (key: string): Way => ['parameters', 'api', 'authentication', key];
const pages = (key: string): Way => ['parameters', 'api', 'pagination', key];
const setting = (key: string): Way => ['parameters', 'config', key];

const CLIENT_ID: FieldOf = { way: login('clientId'), label: 'Client id' };
const CLIENT_SECRET: FieldOf = { way: login('#clientSecret'), label: 'Client secret', isSecret: true };
const TOKENS: FieldOf = {
  way: login('tokenUrl'),
  label: 'Address of the tokens',
  placeholder: 'https://id.example.com/token',
};
const SCOPE: FieldOf = {
  way: login('scope'),
  label: 'Scopes',
  hint: 'With blanks between them.',
  placeholder: 'read offline_access',
};

/** The kinds of login that need no more than a few fields. */
export const LOGINS: readonly {
  readonly type: string;
  readonly text: string;
  readonly fields: readonly FieldOf[];
}[] = [
  { type: '', text: 'None', fields: [] },
  {
    type: 'basic',
    text: 'User name and password',
    fields: [
      { way: setting('username'), label: 'User name' },
      { way: setting('#password'), label: 'Password', isSecret: true },
    ],
  },
  {
    type: 'bearer',
    text: 'Bearer token',
    fields: [{ way: login('#token'), label: 'Token of the API', isSecret: true }],
  },
  {
    type: 'apiKey',
    text: 'API key',
    fields: [
      { way: login('name'), label: 'Name of the header or parameter', placeholder: 'X-Api-Key' },
      {
        way: login('in'),
        label: 'Sent in',
        choices: [
          { value: 'header', text: 'a header' },
          { value: 'query', text: 'the query' },
          { value: 'body', text: 'the body' },
          { value: 'cookie', text: 'a cookie' },
        ],
      },
      { way: login('#key'), label: 'Key', isSecret: true },
    ],
  },
  {
    type: 'oauth20.clientCredentials',
    text: 'Client and secret (OAuth client credentials)',
    fields: [CLIENT_ID, CLIENT_SECRET, TOKENS, SCOPE],
  },
  {
    type: 'oauth20.refreshToken',
    text: 'A person, in the browser (OAuth)',
    fields: [
      CLIENT_ID,
      { ...CLIENT_SECRET, label: 'Client secret, if it has one' },
      {
        way: login('authorizationUrl'),
        label: 'Address of the login page',
        placeholder: 'https://id.example.com/authorize',
      },
      TOKENS,
      SCOPE,
    ],
  },
];

const SIZE: FieldOf = { way: pages('limit'), label: 'Page size', isNumber: true };
const SIZE_NAME: FieldOf = {
  way: pages('limitParam'),
  label: 'Parameter of the page size',
  placeholder: 'limit',
};

export const PAGINATIONS: readonly {
  readonly method: string;
  readonly text: string;
  readonly fields: readonly FieldOf[];
}[] = [
  { method: '', text: 'One request is everything', fields: [] },
  {
    method: 'offset',
    text: 'Offset and limit',
    fields: [
      SIZE,
      SIZE_NAME,
      { way: pages('offsetParam'), label: 'Parameter of the offset', placeholder: 'offset' },
    ],
  },
  {
    method: 'pagenum',
    text: 'Page number',
    fields: [
      { way: pages('pageParam'), label: 'Parameter of the page', placeholder: 'page' },
      { way: pages('firstPage'), label: 'First page', placeholder: '1', isNumber: true },
      SIZE,
      SIZE_NAME,
    ],
  },
  {
    method: 'response.param',
    text: 'A value of the answer (cursor, token)',
    fields: [
      { way: pages('responseParam'), label: 'Path of the value in the answer', placeholder: 'meta.next' },
      { way: pages('queryParam'), label: 'Parameter that takes it', placeholder: 'cursor' },
    ],
  },
  {
    method: 'response.url',
    text: 'A link in the answer',
    fields: [{ way: pages('urlKey'), label: 'Path of the link', placeholder: 'next_page' }],
  },
  {
    method: 'link',
    text: 'A Link header',
    fields: [{ way: pages('rel'), label: 'Relation', placeholder: 'next' }],
  },
  {
    method: 'cursor',
    text: 'From the last id on',
    fields: [
      { way: pages('idKey'), label: 'Path of the id in a row', placeholder: 'id' },
      { way: pages('param'), label: 'Parameter that takes it', placeholder: 'since_id' },
    ],
  },
];
