import type { Json } from '../../../lib/json/index.ts';
import type { ComponentEntry } from './catalogue.ts';

/** Returns the components that clients of the public API expect to exist; the first one is this program. */
export function builtInComponents(extractorSchema: Json): ComponentEntry[] {
  return [
    component('ex-generic-v2', 'extractor', 'Generic', 'Extracts data from any REST API.', extractorSchema),
    component('wr-db', 'writer', 'Database', 'Writes tables to a database.'),
    component('transformation', 'transformation', 'Transformations', 'Transforms tables.'),
    component('provisioning', 'other', 'Provisioning', 'Credentials of workspaces.'),
    component('keboola.orchestrator', 'other', 'Orchestrator', 'Runs configurations one after another.'),
    component('keboola.scheduler', 'other', 'Scheduler', 'Runs configurations at given times.'),
    component(
      'keboola.runner-config-test',
      'application',
      'Runner configuration test',
      'Shows what it was given.',
    ),
  ];
}

function component(
  id: string,
  type: string,
  name: string,
  description: string,
  configurationSchema: Json = {},
): ComponentEntry {
  return { id, type, name, fields: { ...DEFAULT_FIELDS, description, configurationSchema } };
}

/** Fields of an entry of which nothing else is known. */
export const DEFAULT_FIELDS: Readonly<Record<string, Json>> = {
  description: '',
  longDescription: '',
  version: 1,
  complexity: null,
  categories: [],
  hasRun: true,
  hasUI: false,
  ico32: '',
  ico64: '',
  ico128: '',
  data: {
    definition: {},
    vendor: { contact: [] },
    configuration_format: 'json',
    network: 'bridge',
    forward_token: false,
    forward_token_details: false,
    default_bucket: true,
    default_bucket_stage: 'in',
    staging_storage: { input: 'local', output: 'local' },
  },
  flags: [],
  features: [],
  documentationUrl: null,
  configurationSchema: {},
  configurationRowSchema: {},
  emptyConfiguration: {},
  emptyConfigurationRow: {},
  createConfigurationRowSchema: {},
  configurationDescription: null,
  uiOptions: {},
  expiredOn: null,
  dataTypesConfiguration: {},
  processorConfiguration: {},
};
