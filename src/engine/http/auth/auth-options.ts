import type { OptionSchema } from '../../../lib/option.ts';
import type { AuthType } from './auth.ts';
import { AUTH_TYPES } from './index.ts';

/** JSON Schema of `api.authentication`: one branch for each type, and one for none. */
export function authenticationOptions(types: readonly AuthType[] = AUTH_TYPES): OptionSchema {
  return {
    title: 'Authentication',
    description:
      'How requests are authenticated; `type` names the way. Credentials go only to hosts that the configuration names.',
    oneOf: [noAuthentication, ...types.map(({ options }) => options)],
    examples: types.flatMap(({ options: { examples } }) =>
      Array.isArray(examples) ? (examples as unknown[]).slice(0, 1) : [],
    ),
  };
}

const noAuthentication: OptionSchema = {
  type: ['object', 'array', 'null'],
  title: 'No authentication',
  description: 'Without `type`, requests are sent without authentication.',
  maxItems: 0,
  properties: {
    type: {
      enum: ['', null],
      default: '',
      title: 'Type',
      description: 'Empty: no authentication.',
      examples: [''],
    },
  },
};

/** JSON Schema of `authorization`. */
export const authorizationOptions: OptionSchema = {
  type: ['object', 'array', 'null'],
  title: 'Authorization',
  description: 'What an OAuth authorization left; usually filled by the platform.',
  properties: {
    oauth_api: {
      type: ['object', 'array', 'null'],
      title: 'OAuth',
      description: 'The OAuth authorization of this configuration.',
      properties: {
        id: {
          type: ['string', 'number', 'null'],
          title: 'Id',
          description: 'The id of the authorization; it is not used.',
          examples: ['main'],
        },
        credentials: {
          type: ['object', 'array', 'null'],
          title: 'Credentials',
          description:
            'Used by the types `oauth10`, `oauth20`, `oauth20.login` and `oauth20.clientCredentials`.',
          properties: {
            '#data': {
              type: ['string', 'object', 'number'],
              title: 'Token data',
              description: 'The stored token, or JSON text with it.',
              examples: ['{"access_token": "a", "refresh_token": "b"}'],
            },
            appKey: {
              type: ['string', 'number'],
              title: 'Consumer key, client id',
              description: 'The public half of the application’s credentials.',
              examples: ['my-client'],
            },
            '#appSecret': {
              type: ['string', 'number'],
              title: 'Consumer secret, client secret',
              description: 'The secret half of the application’s credentials.',
              examples: ['a-secret'],
            },
          },
          examples: [{ '#data': '{"access_token": "a"}', appKey: 'my-client', '#appSecret': 'a-secret' }],
        },
      },
      examples: [{ credentials: { '#data': 'a-token', appKey: 'my-client', '#appSecret': 'a-secret' } }],
    },
  },
  examples: [
    { oauth_api: { credentials: { '#data': 'a-token', appKey: 'my-client', '#appSecret': 'a-secret' } } },
  ],
};

const secretText = ['string', 'number'];

/** JSON Schema of `parameters.aws`. */
export const awsOptions: OptionSchema = {
  type: ['object', 'array', 'null'],
  title: 'AWS',
  description: 'Signing of requests for services of AWS.',
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
    signature: {
      type: ['object', 'array', 'null'],
      title: 'Signature',
      description: 'AWS Signature Version 4 in the headers of every request.',
      properties: {
        credentials: {
          type: 'object',
          required: ['accessKeyId', '#secretKey', 'serviceName', 'regionName'],
          title: 'Credentials',
          description: 'The key that signs, and what it signs for.',
          properties: {
            accessKeyId: {
              type: secretText,
              minLength: 1,
              title: 'Access key id',
              description: 'The id of the access key.',
              examples: ['AKIAIOSFODNN7EXAMPLE'],
            },
            '#secretKey': {
              type: secretText,
              minLength: 1,
              title: 'Secret key',
              description: 'The secret of the access key.',
              examples: ['a-secret'],
            },
            '#sessionToken': {
              type: ['string', 'null'],
              title: 'Session token',
              description: 'Needed with temporary credentials only.',
              examples: ['a-session-token'],
            },
            serviceName: {
              type: 'string',
              minLength: 1,
              title: 'Service',
              description: 'The code of the service.',
              examples: ['execute-api', 's3'],
            },
            regionName: {
              type: 'string',
              minLength: 1,
              title: 'Region',
              description: 'The code of the region.',
              examples: ['eu-west-1'],
            },
          },
          examples: [
            {
              accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
              '#secretKey': 'a-secret',
              serviceName: 'execute-api',
              regionName: 'eu-west-1',
            },
          ],
        },
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
    },
  },
};

/** JSON Schema of `image_parameters.allowed_hosts`. */
export const allowedHostsOptions: OptionSchema = {
  type: ['array', 'null'],
  default: [],
  title: 'Allowed hosts',
  description: 'Where requests may go: jobs, children, links, logins and redirects. Empty: anywhere.',
  items: {
    type: 'object',
    required: ['host'],
    properties: {
      host: {
        type: 'string',
        minLength: 1,
        title: 'Host',
        description: 'The exact host.',
        examples: ['api.example.com'],
      },
      scheme: {
        type: ['string', 'null'],
        title: 'Scheme',
        description: '`http` or `https`; absent: both.',
        examples: ['https'],
      },
      port: {
        type: ['integer', 'null'],
        title: 'Port',
        description: 'The port, as a number; absent: any.',
        examples: [443],
      },
      endpoint: {
        type: ['string', 'null'],
        title: 'Path',
        description: 'The path must begin with these segments; absent: any path.',
        examples: ['/v1'],
      },
    },
    examples: [{ scheme: 'https', host: 'api.example.com', endpoint: '/v1' }],
  },
  examples: [[{ scheme: 'https', host: 'api.example.com', port: 443, endpoint: '/v1' }]],
};
