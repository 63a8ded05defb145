import { option, type OptionSchema } from '../../../lib/option.ts';
import { kind, name, optionalMap, optionalText, text } from '../kinds.ts';
import type { AuthType } from './auth.ts';
import { AUTH_TYPES } from './index.ts';

/** Returns the JSON Schema of `api.authentication`: one branch for each type, and one for none. */
export function authenticationOptions(types: readonly AuthType[] = AUTH_TYPES): OptionSchema {
  return option(
    'Authentication',
    'How requests are authenticated; `type` names the way. Credentials go only to hosts that the configuration names.',
    {
      oneOf: [noAuthentication, ...types.map(({ options }) => options)],
      examples: types.flatMap(({ options: { examples } }) =>
        Array.isArray(examples) ? (examples as unknown[]).slice(0, 1) : [],
      ),
    },
  );
}

const noAuthentication = optionalMap(
  'No authentication',
  'Without `type`, requests are sent without authentication.',
  {
    maxItems: 0,
    properties: {
      type: kind({ enum: ['', null], default: '' })('Type', 'Empty: no authentication.', ['']),
    },
  },
);

/** JSON Schema of `authorization`. */
export const authorizationOptions = optionalMap(
  'Authorization',
  'What an OAuth authorization left; usually filled by the platform.',
  {
    properties: {
      oauth_api: optionalMap('OAuth', 'The OAuth authorization of this configuration.', {
        properties: {
          id: kind({ type: ['string', 'number', 'null'] })(
            'Id',
            'The id of the authorization; it is not used.',
            ['main'],
          ),
          credentials: optionalMap(
            'Credentials',
            'Used by the types `oauth10`, `oauth20`, `oauth20.login` and `oauth20.clientCredentials`.',
            {
              properties: {
                '#data': kind({ type: ['string', 'object', 'number'] })(
                  'Token data',
                  'The stored token, or JSON text with it.',
                  ['{"access_token": "a", "refresh_token": "b"}'],
                ),
                appKey: name('Consumer key, client id', 'The public half of the application’s credentials.', [
                  'my-client',
                ]),
                '#appSecret': name(
                  'Consumer secret, client secret',
                  'The secret half of the application’s credentials.',
                  ['a-secret'],
                ),
              },
              examples: [{ '#data': '{"access_token": "a"}', appKey: 'my-client', '#appSecret': 'a-secret' }],
            },
          ),
        },
        examples: [{ credentials: { '#data': 'a-token', appKey: 'my-client', '#appSecret': 'a-secret' } }],
      }),
    },
    examples: [
      { oauth_api: { credentials: { '#data': 'a-token', appKey: 'my-client', '#appSecret': 'a-secret' } } },
    ],
  },
);

const secretText = ['string', 'number'];

/** JSON Schema of `parameters.aws`. */
export const awsOptions = optionalMap('AWS', 'Signing of requests for services of AWS.', {
  examples: [
    {
      signature: {
        credentials: {
          accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
          '#secretKey': 'a-secret',
          serviceName: 'execute-api',
          regionName: 'eu-west-1',
        },
      },
    },
  ],
  properties: {
    signature: optionalMap('Signature', 'AWS Signature Version 4 in the headers of every request.', {
      properties: {
        credentials: kind({
          type: 'object',
          required: ['accessKeyId', '#secretKey', 'serviceName', 'regionName'],
        })('Credentials', 'The key that signs, and what it signs for.', {
          properties: {
            accessKeyId: kind({ type: secretText, minLength: 1 })(
              'Access key id',
              'The id of the access key.',
              ['AKIAIOSFODNN7EXAMPLE'],
            ),
            '#secretKey': kind({ type: secretText, minLength: 1 })(
              'Secret key',
              'The secret of the access key.',
              ['a-secret'],
            ),
            '#sessionToken': optionalText('Session token', 'Needed with temporary credentials only.', [
              'a-session-token',
            ]),
            serviceName: text('Service', 'The code of the service.', ['execute-api', 's3']),
            regionName: text('Region', 'The code of the region.', ['eu-west-1']),
          },
          examples: [
            {
              accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
              '#secretKey': 'a-secret',
              serviceName: 'execute-api',
              regionName: 'eu-west-1',
            },
          ],
        }),
      },
      examples: [
        {
          credentials: {
            accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
            '#secretKey': 'a-secret',
            serviceName: 'execute-api',
            regionName: 'eu-west-1',
          },
        },
      ],
    }),
  },
});

/** JSON Schema of `image_parameters.allowed_hosts`. */
export const allowedHostsOptions = kind({ type: ['array', 'null'], default: [] })(
  'Allowed hosts',
  'Where requests may go: jobs, children, links, logins and redirects. Empty: anywhere.',
  {
    items: {
      type: 'object',
      required: ['host'],
      properties: {
        host: text('Host', 'The exact host.', ['api.example.com']),
        scheme: optionalText('Scheme', '`http` or `https`; absent: both.', ['https']),
        port: kind({ type: ['integer', 'null'] })('Port', 'The port, as a number; absent: any.', [443]),
        endpoint: optionalText('Path', 'The path must begin with these segments; absent: any path.', ['/v1']),
      },
      examples: [{ scheme: 'https', host: 'api.example.com', endpoint: '/v1' }],
    },
    examples: [[{ scheme: 'https', host: 'api.example.com', port: 443, endpoint: '/v1' }]],
  },
);
