import { option, optionalText } from '../../lib/option.ts';
import { kind, map } from './kinds.ts';
import { DEFAULT_LIMITS } from './send/limits.ts';
import { DEFAULT_TTL_SECONDS } from './cache.ts';
import { DEFAULT_RETRY } from './retry.ts';

const NUMERIC_TEXT = '^\\s*\\d+(\\.\\d+)?\\s*$';
const WHOLE_TEXT = '^\\s*\\d+\\s*$';

const WHOLE = { type: ['integer', 'string'], minimum: 0, pattern: WHOLE_TEXT };

const numeric = kind({ type: ['number', 'string'], minimum: 0, pattern: NUMERIC_TEXT });
const whole = kind(WHOLE);
const codes = kind({ type: 'array', items: WHOLE });

/** `api.http.headers` and `config.http.headers`. */
export const headersOption = map('Headers', 'Headers of every request. A value may be a function.', {
  additionalProperties: true,
  default: {},
  examples: [
    { 'X-Api-Version': '2' },
    { Authorization: { function: 'concat', args: ['Bearer ', { attr: '#token' }] } },
  ],
});

/** `api.http`. */
export const httpOption = map('HTTP', 'How requests are sent: headers, defaults, timeouts and limits.', {
  default: {},
  examples: [{ headers: { Accept: 'application/json' }, requestsPerSecond: 5 }],
  properties: {
    headers: headersOption,
    requiredHeaders: option(
      'Required headers',
      'Names of headers that config.http.headers must set; upper and lower case count.',
      { type: 'array', items: { type: 'string' }, default: [], examples: [['X-StorageApi-Token']] },
    ),
    defaultOptions: map(
      'Default options',
      'Parameters, headers and method that every request has unless its job says otherwise. No functions; not for the login.',
      {
        default: {},
        examples: [{ params: { account: '1234', limit: 100 } }],
        additionalProperties: true,
        properties: {
          params: map('Parameters', 'Parameters of every request; they come before those of the job.', {
            additionalProperties: true,
            examples: [{ limit: 100 }],
          }),
          headers: map('Headers', 'Headers of every request, over those of api.http.headers.', {
            additionalProperties: true,
            examples: [{ Accept: 'application/json' }],
          }),
          method: option('Method', 'Method of jobs that name none.', {
            type: 'string',
            default: 'GET',
            examples: ['POST'],
          }),
        },
      },
    ),
    lists: option(
      'Lists in parameters',
      'How a list in a query or a form is written: `indexed` as `id[0]=1&id[1]=2`, `repeated` as `id=1&id=2`.',
      { enum: ['indexed', 'repeated', '', null], default: 'indexed', examples: ['repeated'] },
    ),
    ignoreErrors: codes(
      'Ignored errors',
      'Statuses from 400 on that are no error: the response becomes rows, or one row with “errorData”. Retries come first.',
      { default: [], examples: [[404, 410]] },
    ),
    connectTimeout: numeric(
      'Connect timeout',
      'Seconds to wait for a connection, TLS included. 0 means the default.',
      { default: DEFAULT_LIMITS.connectTimeoutMs / 1000, examples: [10] },
    ),
    requestTimeout: numeric(
      'Request timeout',
      'Seconds for one request, from its start to the last byte of the response. 0 means the default.',
      { default: DEFAULT_LIMITS.requestTimeoutMs / 1000, examples: [600] },
    ),
    requestsPerSecond: numeric(
      'Requests per second',
      'How many requests a host gets in a second, at most, evenly spaced. Fractions are fine: 0.5 is one in two seconds.',
      { exclusiveMinimum: 0, examples: [5, 0.5] },
    ),
    concurrency: option(
      'Concurrency',
      'How many requests to a host may be under way at the same time; `auto` finds out how many the API takes.',
      {
        type: ['integer', 'string'],
        minimum: 1,
        pattern: '^\\s*\\d+\\s*$|^auto$',
        default: 1,
        examples: [4, 'auto'],
      },
    ),
    maxBodyBytes: whole(
      'Largest body',
      'Bytes that the body of one response may have, decoded; a larger one ends the run.',
      { minimum: 1, default: DEFAULT_LIMITS.maxBodyBytes, examples: [268_435_456] },
    ),
  },
});

/** `api.retryConfig`. */
export const retryConfigOption = map(
  'Retries',
  'What is sent again when it fails, how often and after how long.',
  {
    default: {},
    examples: [{ maxRetries: 5, http: { codes: [429, 500, 503], retryHeader: 'X-RateLimit-Reset' } }],
    properties: {
      maxRetries: option(
        'Retries',
        'Attempts after the first one. Without a word from the server the pauses are 1, 2, 4, 8 … seconds.',
        { type: ['number', 'string', 'boolean'], default: DEFAULT_RETRY.maxRetries, examples: [3] },
      ),
      maxRetryAfter: numeric(
        'Longest pause',
        'Seconds that a server may ask to wait before the next attempt; one that asks for more ends the run.',
        { default: DEFAULT_RETRY.maxRetryAfterMs / 1000, examples: [3600] },
      ),
      http: map('Statuses', 'Which statuses are tried again.', {
        default: {},
        examples: [{ codes: [429, 503] }],
        properties: {
          codes: codes(
            'Statuses',
            'Statuses that are tried again, also successful ones; the list replaces the default.',
            { default: DEFAULT_RETRY.codes, examples: [[202, 429, 503]] },
          ),
          retryHeader: option(
            'Header',
            'The response header that says how long to wait: seconds, a Unix time or an HTTP date.',
            { type: 'string', default: DEFAULT_RETRY.retryHeader, examples: ['X-RateLimit-Reset'] },
          ),
        },
      }),
      curl: map('Network failures', 'Which failures of the network are tried again.', {
        default: {},
        examples: [{ codes: [28, 56] }],
        properties: {
          codes: codes(
            'Numbers',
            'curl’s numbers: 6 name, 7 connection, 28 time, 35 TLS, 52 empty reply, 56 cut response.',
            { default: DEFAULT_RETRY.curlCodes, examples: [[28, 56]] },
          ),
        },
      }),
      headerName: option('Header (older key)', 'Write http.retryHeader.', {
        type: 'string',
        deprecated: true,
        examples: ['X-RateLimit-Reset'],
      }),
      httpCodes: codes('Statuses (older key)', 'Write http.codes.', {
        deprecated: true,
        examples: [[429, 503]],
      }),
      curlCodes: codes('Numbers (older key)', 'Write curl.codes.', {
        deprecated: true,
        examples: [[28, 56]],
      }),
    },
  },
);

/** `api.caCertificate`. */
export const caCertificateOption = optionalText(
  'Trusted authorities',
  'Certificates of authorities in PEM form; they are trusted instead of the usual ones.',
  { default: null, examples: ['-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n'] },
);

/** `api.#clientCertificate`. */
export const clientCertificateOption = optionalText(
  'Client certificate',
  'The certificate shown to the server, followed by its private key without a passphrase; both in PEM form.',
  {
    default: null,
    examples: ['-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n…'],
  },
);

/** `parameters.sshProxy`. */
export const sshProxyOption = map(
  'SSH tunnel',
  'Every request goes through this SSH server, which also looks up the names of hosts.',
  {
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
      user: option('User', 'Name of the user at the SSH server.', {
        type: 'string',
        minLength: 1,
        examples: ['tunnel'],
      }),
      host: option('Host', 'The SSH server.', {
        type: 'string',
        minLength: 1,
        examples: ['bastion.example.com'],
      }),
      port: whole('Port', 'Its port.', { minimum: 1, maximum: 65_535, examples: [22] }),
      '#privateKey': option('Private key', 'PEM or OpenSSH form, without a passphrase.', {
        type: 'string',
        minLength: 1,
        examples: ['-----BEGIN OPENSSH PRIVATE KEY-----\n…'],
      }),
    },
  },
);

/** `parameters.cache`. */
export const cacheOption = option(
  'Cache',
  'Keeps the responses of GET requests in the data folder while a configuration is being written.',
  {
    default: false,
    examples: [true, { ttl: 3600 }],
    anyOf: [
      { type: 'boolean' },
      { type: 'null' },
      { type: 'array', maxItems: 0 },
      {
        type: 'object',
        properties: {
          ttl: numeric('Time to live', 'Seconds that a response is good for.', {
            default: DEFAULT_TTL_SECONDS,
            examples: [3600],
          }),
        },
      },
    ],
  },
);
