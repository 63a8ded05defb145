import type { OptionSchema } from '../../lib/option.ts';
import { DEFAULT_BOTTOM } from './send/bottom.ts';
import { DEFAULT_TTL_SECONDS } from './cache.ts';
import { DEFAULT_RETRY } from './retry.ts';

/** An object; a list stands for an empty one, as some editors write it. */
function map(schema: OptionSchema): OptionSchema {
  return { type: ['object', 'array'], ...schema };
}

const NUMERIC_TEXT = '^\\s*\\d+(\\.\\d+)?\\s*$';
const WHOLE_TEXT = '^\\s*\\d+\\s*$';

function numeric(schema: OptionSchema): OptionSchema {
  return { type: ['number', 'string'], minimum: 0, pattern: NUMERIC_TEXT, ...schema };
}

function whole(schema: OptionSchema): OptionSchema {
  return { type: ['integer', 'string'], minimum: 0, pattern: WHOLE_TEXT, ...schema };
}

function codes(schema: OptionSchema): OptionSchema {
  return { type: 'array', items: whole({}), ...schema };
}

/** `api.http.headers` and `config.http.headers`. */
export const headersOption: OptionSchema = map({
  title: 'Headers',
  description: 'Headers of every request. A value may be a function.',
  additionalProperties: true,
  default: {},
  examples: [
    { 'X-Api-Version': '2' },
    { Authorization: { function: 'concat', args: ['Bearer ', { attr: '#token' }] } },
  ],
});

/** `api.http`. */
export const httpOption: OptionSchema = map({
  title: 'HTTP',
  description: 'How requests are sent: headers, defaults, timeouts and limits.',
  default: {},
  examples: [{ headers: { Accept: 'application/json' }, requestsPerSecond: 5 }],
  properties: {
    headers: headersOption,
    requiredHeaders: {
      title: 'Required headers',
      description: 'Names of headers that config.http.headers must set; upper and lower case count.',
      type: 'array',
      items: { type: 'string' },
      default: [],
      examples: [['X-StorageApi-Token']],
    },
    defaultOptions: map({
      title: 'Default options',
      description:
        'Parameters, headers and method that every request has unless its job says otherwise. No functions; not for the login.',
      default: {},
      examples: [{ params: { account: '1234', limit: 100 } }],
      additionalProperties: true,
      properties: {
        params: map({
          title: 'Parameters',
          description: 'Parameters of every request; they come before those of the job.',
          additionalProperties: true,
          examples: [{ limit: 100 }],
        }),
        headers: map({
          title: 'Headers',
          description: 'Headers of every request, over those of api.http.headers.',
          additionalProperties: true,
          examples: [{ Accept: 'application/json' }],
        }),
        method: {
          title: 'Method',
          description: 'Method of jobs that name none.',
          type: 'string',
          default: 'GET',
          examples: ['POST'],
        },
      },
    }),
    ignoreErrors: codes({
      title: 'Ignored errors',
      description:
        'Statuses from 400 on that are no error: the response becomes rows, or one row with “errorData”. Retries come first.',
      default: [],
      examples: [[404, 410]],
    }),
    connectTimeout: numeric({
      title: 'Connect timeout',
      description: 'Seconds to wait for a connection, TLS included. 0 means the default.',
      default: DEFAULT_BOTTOM.connectTimeoutMs / 1000,
      examples: [10],
    }),
    requestTimeout: numeric({
      title: 'Request timeout',
      description:
        'Seconds for one request, from its start to the last byte of the response. 0 means the default.',
      default: DEFAULT_BOTTOM.requestTimeoutMs / 1000,
      examples: [600],
    }),
    requestsPerSecond: numeric({
      title: 'Requests per second',
      description:
        'How many requests a host gets in a second, at most, evenly spaced. Fractions are fine: 0.5 is one in two seconds.',
      exclusiveMinimum: 0,
      examples: [5, 0.5],
    }),
    concurrency: whole({
      title: 'Concurrency',
      description: 'How many requests to a host may be under way at the same time.',
      minimum: 1,
      default: 1,
      examples: [4],
    }),
    maxBodyBytes: whole({
      title: 'Largest body',
      description: 'Bytes that the body of one response may have, decoded; a larger one ends the run.',
      minimum: 1,
      default: DEFAULT_BOTTOM.maxBodyBytes,
      examples: [268_435_456],
    }),
  },
});

/** `api.retryConfig`. */
export const retryConfigOption: OptionSchema = map({
  title: 'Retries',
  description: 'What is sent again when it fails, how often and after how long.',
  default: {},
  examples: [{ maxRetries: 5, http: { codes: [429, 500, 503], retryHeader: 'X-RateLimit-Reset' } }],
  properties: {
    maxRetries: {
      title: 'Retries',
      description:
        'Attempts after the first one. Without a word from the server the pauses are 1, 2, 4, 8 … seconds.',
      type: ['number', 'string', 'boolean'],
      default: DEFAULT_RETRY.maxRetries,
      examples: [3],
    },
    maxRetryAfter: numeric({
      title: 'Longest pause',
      description:
        'Seconds that a server may ask to wait before the next attempt; one that asks for more ends the run.',
      default: DEFAULT_RETRY.maxRetryAfterMs / 1000,
      examples: [3600],
    }),
    http: map({
      title: 'Statuses',
      description: 'Which statuses are tried again.',
      default: {},
      examples: [{ codes: [429, 503] }],
      properties: {
        codes: codes({
          title: 'Statuses',
          description: 'Statuses that are tried again, also successful ones; the list replaces the default.',
          default: DEFAULT_RETRY.codes,
          examples: [[202, 429, 503]],
        }),
        retryHeader: {
          title: 'Header',
          description:
            'The response header that says how long to wait: seconds, a Unix time or an HTTP date.',
          type: 'string',
          default: DEFAULT_RETRY.retryHeader,
          examples: ['X-RateLimit-Reset'],
        },
      },
    }),
    curl: map({
      title: 'Network failures',
      description: 'Which failures of the network are tried again.',
      default: {},
      examples: [{ codes: [28, 56] }],
      properties: {
        codes: codes({
          title: 'Numbers',
          description:
            'curl’s numbers: 6 name, 7 connection, 28 time, 35 TLS, 52 empty reply, 56 cut response.',
          default: DEFAULT_RETRY.curlCodes,
          examples: [[28, 56]],
        }),
      },
    }),
    headerName: {
      title: 'Header (older key)',
      description: 'Write http.retryHeader.',
      type: 'string',
      deprecated: true,
      examples: ['X-RateLimit-Reset'],
    },
    httpCodes: codes({
      title: 'Statuses (older key)',
      description: 'Write http.codes.',
      deprecated: true,
      examples: [[429, 503]],
    }),
    curlCodes: codes({
      title: 'Numbers (older key)',
      description: 'Write curl.codes.',
      deprecated: true,
      examples: [[28, 56]],
    }),
  },
});

/** `api.caCertificate`. */
export const caCertificateOption: OptionSchema = {
  title: 'Trusted authorities',
  description: 'Certificates of authorities in PEM form; they are trusted instead of the usual ones.',
  type: ['string', 'null'],
  default: null,
  examples: ['-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n'],
};

/** `api.#clientCertificate`. */
export const clientCertificateOption: OptionSchema = {
  title: 'Client certificate',
  description:
    'The certificate shown to the server, followed by its private key without a passphrase; both in PEM form.',
  type: ['string', 'null'],
  default: null,
  examples: ['-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n…'],
};

/** `parameters.sshProxy`. */
export const sshProxyOption: OptionSchema = map({
  title: 'SSH tunnel',
  description: 'Every request goes through this SSH server, which also looks up the names of hosts.',
  examples: [
    {
      user: 'tunnel',
      host: 'bastion.example.com',
      port: 22,
      '#privateKey': '-----BEGIN OPENSSH PRIVATE KEY-----\n…',
    },
  ],
  required: ['user', 'host', 'port', '#privateKey'],
  properties: {
    user: {
      title: 'User',
      description: 'Name of the user at the SSH server.',
      type: 'string',
      minLength: 1,
      examples: ['tunnel'],
    },
    host: {
      title: 'Host',
      description: 'The SSH server.',
      type: 'string',
      minLength: 1,
      examples: ['bastion.example.com'],
    },
    port: whole({ title: 'Port', description: 'Its port.', minimum: 1, maximum: 65_535, examples: [22] }),
    '#privateKey': {
      title: 'Private key',
      description: 'PEM or OpenSSH form, without a passphrase.',
      type: 'string',
      minLength: 1,
      examples: ['-----BEGIN OPENSSH PRIVATE KEY-----\n…'],
    },
  },
});

/** `parameters.cache`. */
export const cacheOption: OptionSchema = {
  title: 'Cache',
  description:
    'Keeps the responses of GET requests in the data folder while a configuration is being written.',
  default: false,
  examples: [true, { ttl: 3600 }],
  anyOf: [
    { type: 'boolean' },
    { type: 'null' },
    { type: 'array', maxItems: 0 },
    {
      type: 'object',
      properties: {
        ttl: numeric({
          title: 'Time to live',
          description: 'Seconds that a response is good for.',
          default: DEFAULT_TTL_SECONDS,
          examples: [3600],
        }),
      },
    },
  ],
};
