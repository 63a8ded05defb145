import { languageDefinitions, REACTIONS } from '../language/index.ts';
import { definition, kind, option, optionalText, type OptionSchema } from '../../lib/option.ts';
import {
  allowedHostsOptions,
  authenticationOptions,
  authorizationOptions,
  awsOptions,
} from '../http/auth/auth-options.ts';
import { BUDGETS } from '../http/budgets.ts';
import {
  cacheOption,
  caCertificateOption,
  clientCertificateOption,
  headersOption,
  httpOption,
  retryConfigOption,
  sshProxyOption,
} from '../http/http-options.ts';
import { COMPLETENESS } from '../shared/completeness-signs.ts';
import { trustedHostsSchema } from '../http/trust/trusted-hosts.ts';
import { jobDefinitions, jobsOption } from '../jobs/job-options.ts';
import { PAGINATION_DEFINITION, PAGINATION_OPTIONS } from '../pagination/pagination-options.ts';
import {
  compatLevelSchema,
  exactJsonSchema,
  incrementalOutputSchema,
  mappingsSchema,
  outputBucketSchema,
  recordDefinitions,
  userDataSchema,
} from '../records/record-options.ts';
import { rowOptions } from '../records/row-options.ts';
import { resourceDefinitions, schemaKey } from './schemas/resource.ts';
import { scalar, storageSchema } from './schemas/storage.ts';
import { branchesOf, isSchema, propertiesOf } from './validation-schema.ts';

/** An object; a list stands for an empty one, as some editors write it. */
const map = kind({ type: ['object', 'array'] });

/** `parameters.config` and each entry of `iterations`; any further key is an attribute for functions. */
export const configOptions = map(
  'Extraction',
  'What to extract. Keys that are not listed are attributes: functions refer to them by `{"attr": "name"}`.',
  {
    additionalProperties: true,
    examples: [{ outputBucket: 'my-api', jobs: [{ endpoint: 'users' }] }],
    properties: {
      jobs: jobsOption,
      outputBucket: outputBucketSchema,
      id: option('Id', 'Part of the name of the bucket when `outputBucket` is not set.', {
        type: ['string', 'number', 'null'],
        examples: ['main'],
      }),
      incrementalOutput: incrementalOutputSchema,
      debug: option('Debug', 'Logs every request.', {
        type: ['boolean', 'integer', 'string', 'null'],
        default: false,
        examples: [true],
      }),
      mappings: mappingsSchema,
      userData: userDataSchema,
      compatLevel: compatLevelSchema,
      exactJson: exactJsonSchema,
      http: map('HTTP', 'HTTP settings of this configuration.', {
        examples: [{ headers: { 'X-Account': '42' } }],
        properties: {
          headers: {
            ...headersOption,
            description:
              'Headers of every request, over those of `api.http.headers`. Values may be functions.',
          },
        },
      }),
      username: scalar('User name', 'Name for the basic authentication.', 'me'),
      '#username': scalar('User name, secret', 'The same, kept secret.', '$env:API_USER'),
      password: scalar(
        'Password',
        'Password for the basic authentication; `#password` keeps it secret.',
        'secret',
      ),
      '#password': scalar('Password, secret', 'Password for the basic authentication.', '$env:API_PASSWORD'),
    },
  },
);

const api = map('API', 'The API itself: address, pagination, authentication, HTTP settings.', {
  required: ['baseUrl'],
  examples: [{ baseUrl: 'https://api.example.com/v1/' }],
  properties: {
    baseUrl: option(
      'Base URL',
      'Address that endpoints are relative to, with a slash at its end. May be a function of attributes.',
      {
        type: ['string', 'object'],
        minLength: 1,
        examples: [
          'https://api.example.com/v1/',
          { function: 'concat', args: ['https://', { attr: 'domain' }, '.example.com/'] },
        ],
      },
    ),
    name: option('Name', 'Part of the name of the bucket when `outputBucket` is not set.', {
      type: ['string', 'number', 'null'],
      default: 'generic',
      examples: ['shop'],
    }),
    pagination: { $ref: `#/definitions/${PAGINATION_DEFINITION}` },
    authentication: definition('authentication'),
    query: map('Query authentication', 'Use `authentication.query`.', {
      deprecated: true,
      examples: [{ token: { attr: '#token' } }],
    }),
    http: definition('http'),
    retryConfig: definition('retryConfig'),
    budgets: BUDGETS,
    reactions: REACTIONS,
    caCertificate: caCertificateOption,
    '#clientCertificate': clientCertificateOption,
    trustedHosts: trustedHostsSchema,
    completeness: COMPLETENESS,
  },
});

const parameters = map('Parameters', 'What the extractor does.', {
  required: ['api', 'config'],
  examples: [{ api: { baseUrl: 'https://api.example.com/v1/' }, config: { jobs: [{ endpoint: 'users' }] } }],
  patternProperties: { '^__': {} },
  properties: {
    api,
    config: definition('config'),
    iterations: option(
      'Iterations',
      'Runs the extraction once for each entry, with the keys of the entry in place of those of `config`. Without entries it runs once.',
      {
        type: ['array', 'object', 'null'],
        items: definition('config'),
        default: [],
        examples: [[{ account: 1 }, { account: 2 }]],
      },
    ),
    sshProxy: definition('sshProxy'),
    aws: definition('aws'),
    cache: cacheOption,
  },
  if: { properties: { iterations: { maxItems: 0 } } },
  then: { properties: { config: { required: ['jobs'] } } },
});

const componentProperties: Readonly<Record<string, OptionSchema>> = {
  $schema: schemaKey('./node_modules/generic-extractor/schemas/config.schema.json'),
  parameters,
  authorization: definition('authorization'),
  image_parameters: map(
    'Image parameters',
    'Settings of the administrator of the component; usually filled by the platform.',
    {
      additionalProperties: true,
      examples: [{ allowed_hosts: [{ host: 'api.example.com' }] }],
      properties: { allowed_hosts: allowedHostsOptions },
    },
  ),
  storage: definition('storage'),
  action: optionalText('Action', '`run`, or the name of a sync action.', {
    default: 'run',
    examples: ['run', 'test_request'],
  }),
  processors: option(
    'Processors',
    'Programs that the platform runs before and after; they are no part of a run here.',
    [{ after: [] }],
  ),
  runtime: option('Runtime', 'How the platform runs the component; without effect here.', [
    { backend: { type: 'small' } },
  ]),
};

const definitions: Readonly<Record<string, OptionSchema>> = {
  config: configOptions,
  authentication: authenticationOptions(),
  authorization: authorizationOptions,
  aws: awsOptions,
  http: httpOption,
  retryConfig: retryConfigOption,
  sshProxy: sshProxyOption,
  storage: storageSchema,
  [PAGINATION_DEFINITION]: onceEach(PAGINATION_OPTIONS),
  ...jobDefinitions,
  ...languageDefinitions,
  job: withOthers(jobDefinitions.job),
  childJob: withOthers(jobDefinitions.childJob),
  ...recordDefinitions,
};

/** One component configuration, with its definitions; what a run is checked against. */
export const componentSchema = map('Component configuration', 'One configuration of the extractor.', {
  required: ['parameters'],
  properties: componentProperties,
  definitions,
});

/** `config.json` in both of its forms, for editors (draft-07). */
export const configSchema: OptionSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://generic-extractor/schemas/config.schema.json',
  title: 'config.json of Generic Extractor',
  description: 'One component configuration, or a whole configuration with its rows and state.',
  if: { required: ['parameters'] },
  then: definition('component'),
  else: {
    if: { anyOf: [{ required: ['configuration'] }, { required: ['rows'] }] },
    then: definition('resource'),
    else: definition('component'),
  },
  definitions: {
    component: without(componentSchema, 'definitions'),
    ...resourceDefinitions({ ...componentProperties, parameters: partOf(parameters) }),
    ...definitions,
  },
};

/** Parameters of a root or a row: what one lacks the other may have. */
function partOf(schema: OptionSchema): OptionSchema {
  const { required: _required, if: _if, then: _then, ...rest } = schema;
  return { ...rest, properties: { ...propertiesOf(schema), api: without(api, 'required') } };
}

/**
 * Adds the keys of a job that other stages read: its own pagination, which has the schema of that of the API, and its
 * rows.
 */
function withOthers(job: OptionSchema): OptionSchema {
  const pagination = { $ref: `#/definitions/${PAGINATION_DEFINITION}` };
  return { ...job, properties: { ...propertiesOf(job), ...rowOptions, pagination } };
}

/** Describes the keys that all methods share once, and only names them in the branch of each method. */
function onceEach(schema: OptionSchema): OptionSchema {
  const common = propertiesOf(schema);
  const allOf = branchesOf(schema['allOf']).map((branch) => {
    const then = isSchema(branch['then']) ? branch['then'] : {};
    const own = Object.entries(propertiesOf(then)).map(([key, property]) => [
      key,
      property === common[key] ? {} : property,
    ]);
    return { ...branch, then: { ...then, properties: Object.fromEntries(own) as unknown } };
  });
  return { ...schema, allOf };
}

function without(schema: OptionSchema, keyword: string): OptionSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== keyword));
}
