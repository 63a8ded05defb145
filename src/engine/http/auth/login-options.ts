import { option, type OptionSchema } from '../../../lib/option.ts';
import { kind, values } from '../kinds.ts';

/**
 * Returns the keys that `login` and `oauth20.login` share.
 *
 * @param contexts what the functions of the login request see, for the descriptions
 */
export function loginKeys(contexts: string): Record<string, OptionSchema> {
  return {
    format: kind({ enum: ['json', 'text'], default: 'json' })(
      'Format of the login response',
      '`json`: an object, its values are `response.<path>`. `text`: the whole body is `response.data`.',
      ['text'],
    ),
    loginRequest: loginRequestSchema(contexts),
    apiRequest: values(
      'What the other requests get',
      'Headers and query parameters taken from the login. Values are scalars or functions that see `response` and `attr`; a text that is a path in the login response stands for the value there.',
      {
        properties: {
          headers: values('Headers', 'Headers to set on every request.', [
            { 'X-Token': { response: 'auth.token' } },
          ]),
          query: values(
            'Query parameters',
            'Parameters to add to every query. A parameter that the query has already becomes the list `name[0]`, `name[1]`.',
            [{ token: { response: 'auth.token' } }],
          ),
        },
        examples: [{ headers: { 'X-Token': { response: 'auth.token' } } }],
      },
    ),
    expires: option(
      'Expiry of the login',
      'Seconds after the login, or a value of the login response. When it has passed, the login is made again. Absent: never.',
      {
        anyOf: [
          { type: 'integer' },
          { type: 'string', pattern: '^[+-]?[0-9]+$' },
          {
            type: 'object',
            required: ['response'],
            properties: {
              response: kind({ type: ['string', 'number'] })(
                'Path',
                'Path in the login response: Unix seconds, or a date text. If nothing is there, the login never expires.',
                ['expires_in'],
              ),
              relative: kind({ type: ['boolean', 'integer', 'string', 'null'], default: false })(
                'Counted from the login',
                'The value counts from the login on, as `expires_in` of OAuth does.',
                [true],
              ),
            },
          },
          { type: 'null' },
        ],
        examples: [3600, { response: 'expires_in', relative: true }],
      },
    ),
  };
}

function loginRequestSchema(contexts: string): OptionSchema {
  return kind({ type: 'object', required: ['endpoint'] })(
    'Login request',
    `The request that is sent first, without authentication. Functions see ${contexts}.`,
    {
      properties: {
        endpoint: kind({ type: ['string', 'object'], minLength: 1 })(
          'Endpoint',
          'Relative to `baseUrl`, or a whole URL. May be a function of attributes.',
          ['login', 'https://id.example.com/token'],
        ),
        method: kind({
          type: 'string',
          pattern:
            '^(?:[Gg][Ee][Tt]|[Pp][Oo][Ss][Tt]|[Ff][Oo][Rr][Mm]|[Pp][Uu][Tt]|[Pp][Aa][Tt][Cc][Hh]|[Dd][Ee][Ll][Ee][Tt][Ee])?$',
          default: 'GET',
        })('Method', 'GET, POST (JSON body), FORM (a POST with a form), PUT, PATCH or DELETE.', [
          'POST',
          'FORM',
        ]),
        params: values(
          'Parameters',
          'The query of GET, the body of the others: scalars, functions or JSON.',
          [{ username: { attr: 'username' }, password: { attr: '#password' } }],
        ),
        query: values('Query', 'Parameters of the address, beside those in the body.', [{ v: '2' }]),
        headers: values('Headers', 'Headers of the login request: scalars or functions.', [
          { 'X-Login': { attr: 'username' } },
        ]),
      },
      examples: [{ endpoint: 'login', method: 'POST', params: { password: { attr: '#password' } } }],
    },
  );
}
