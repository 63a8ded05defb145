import type { OptionSchema } from '../../../lib/option.ts';

/**
 * The keys that `login` and `oauth20.login` share.
 *
 * @param contexts what the functions of the login request see, for the descriptions
 */
export function loginKeys(contexts: string): Record<string, OptionSchema> {
  return {
    format: {
      enum: ['json', 'text'],
      default: 'json',
      title: 'Format of the login response',
      description:
        '`json`: an object, its values are `response.<path>`. `text`: the whole body is `response.data`.',
      examples: ['text'],
    },
    loginRequest: loginRequestSchema(contexts),
    apiRequest: {
      type: ['object', 'array'],
      default: {},
      title: 'What the other requests get',
      description:
        'Headers and query parameters taken from the login. Values are scalars or functions that see `response` and `attr`; a text that is a path in the login response stands for the value there.',
      properties: {
        headers: {
          type: ['object', 'array'],
          default: {},
          title: 'Headers',
          description: 'Headers to set on every request.',
          examples: [{ 'X-Token': { response: 'auth.token' } }],
        },
        query: {
          type: ['object', 'array'],
          default: {},
          title: 'Query parameters',
          description:
            'Parameters to add to every query. A parameter that the query has already becomes the list `name[0]`, `name[1]`.',
          examples: [{ token: { response: 'auth.token' } }],
        },
      },
      examples: [{ headers: { 'X-Token': { response: 'auth.token' } } }],
    },
    expires: {
      title: 'Expiry of the login',
      description:
        'Seconds after the login, or a value of the login response. When it has passed, the login is made again. Absent: never.',
      anyOf: [
        { type: 'integer' },
        { type: 'string', pattern: '^[+-]?[0-9]+$' },
        {
          type: 'object',
          required: ['response'],
          properties: {
            response: {
              type: ['string', 'number'],
              title: 'Path',
              description:
                'Path in the login response: Unix seconds, or a date text. If nothing is there, the login never expires.',
              examples: ['expires_in'],
            },
            relative: {
              type: ['boolean', 'integer', 'string', 'null'],
              default: false,
              title: 'Counted from the login',
              description: 'The value counts from the login on, as `expires_in` of OAuth does.',
              examples: [true],
            },
          },
        },
        { type: 'null' },
      ],
      examples: [3600, { response: 'expires_in', relative: true }],
    },
  };
}

function loginRequestSchema(contexts: string): OptionSchema {
  return {
    type: 'object',
    required: ['endpoint'],
    title: 'Login request',
    description: `The request that is sent first, without authentication. Functions see ${contexts}.`,
    properties: {
      endpoint: {
        type: ['string', 'object'],
        minLength: 1,
        title: 'Endpoint',
        description: 'Relative to `baseUrl`, or a whole URL. May be a function of attributes.',
        examples: ['login', 'https://id.example.com/token'],
      },
      method: {
        type: 'string',
        pattern:
          '^(?:[Gg][Ee][Tt]|[Pp][Oo][Ss][Tt]|[Ff][Oo][Rr][Mm]|[Pp][Uu][Tt]|[Pp][Aa][Tt][Cc][Hh]|[Dd][Ee][Ll][Ee][Tt][Ee])?$',
        default: 'GET',
        title: 'Method',
        description: 'GET, POST (JSON body), FORM (a POST with a form), PUT, PATCH or DELETE.',
        examples: ['POST', 'FORM'],
      },
      params: {
        type: ['object', 'array'],
        default: {},
        title: 'Parameters',
        description: 'The query of GET, the body of the others: scalars, functions or JSON.',
        examples: [{ username: { attr: 'username' }, password: { attr: '#password' } }],
      },
      headers: {
        type: ['object', 'array'],
        default: {},
        title: 'Headers',
        description: 'Headers of the login request: scalars or functions.',
        examples: [{ 'X-Login': { attr: 'username' } }],
      },
    },
    examples: [{ endpoint: 'login', method: 'POST', params: { password: { attr: '#password' } } }],
  };
}
