import { RunError } from '../../../lib/errors.ts';
import { isSecretName } from '../../../lib/secrets.ts';
import { get, isMap, isSequence, type ManifestNode, type NodeMap } from '../airbyte/node.ts';
import { readYaml } from '../airbyte/read-yaml.ts';
import type { Imported, ImportReason } from '../report.ts';
import { assembleRequests, RequestSecrets, type ImportedRequest } from '../requests/assemble.ts';
import { readTapAuth } from './authentication.ts';
import { plainJsonPath } from './json-path.ts';
import { readTapPagination } from './pagination.ts';
import type { TapStream } from './tap-stream.ts';

export interface ImportTapOptions {
  /** Name of the file in messages. */
  readonly file: string;
  readonly name: string;
  /** Secrets by their names in the configuration of the tap. */
  readonly settings?: NodeMap | undefined;
}

const TAP = 'tap-rest-api-msdk';

/**
 * Imports the configuration of `tap-rest-api-msdk`: its own in JSON or YAML, or that of a plug-in in a `meltano.yml`.
 *
 * @throws {RunError} `import.invalid` for a text that is neither
 */
export function importTap(text: string, { file, name, settings }: ImportTapOptions): Imported {
  const { config, at } = configIn(readYaml(text, file), file);
  const secrets = new RequestSecrets(settings);
  const streams = get(config, 'streams');
  if (!isSequence(streams) || streams.length === 0)
    throw invalid(file, 'The configuration of the tap has no streams.');
  const address = get(config, 'api_url');
  const url = typeof address === 'string' ? addressOf(address) : undefined;
  const common: ImportReason[] = [];
  if (url === undefined)
    common.push({
      path: `${at}api_url`,
      message: 'The address is none that is written out',
      template: shown(address),
    });
  const auth = readTapAuth(config, at, secrets, common);
  return assembleRequests({
    source: file,
    name,
    api: {
      baseUrl: url === undefined ? 'https://api.invalid/' : `${url.origin}/`,
      ...(auth === undefined ? {} : { authentication: auth }),
    },
    requests: streams.map((node, index) =>
      streamOf(isMap(node) ? node : {}, `${at}streams[${index}]`, {
        config,
        at,
        address,
        url,
        common,
        secrets,
      }),
    ),
    settings: secrets.values,
    open: secrets.open,
    notes: [],
  });
}

interface TapContext {
  readonly config: NodeMap;
  readonly at: string;
  readonly address: ManifestNode | undefined;
  readonly url: URL | undefined;
  readonly secrets: RequestSecrets;
  /** Reasons against all streams. */
  readonly common: readonly ImportReason[];
}

/** Keys that change nothing that is asked for or written. */
const IRRELEVANT = new Set([
  'num_inference_records',
  'schema',
  'primary_keys',
  'flattening_enabled',
  'flattening_max_depth',
  'stream_maps',
  'stream_map_config',
  'backoff_type',
  'backoff_param',
  'backoff_time_extension',
  'batch_config',
  'faker_config',
]);

/** Keys whose code has no counterpart. */
const UNTAKEN: Readonly<Record<string, string>> = {
  use_request_body_not_params: 'Parameters in the body of a GET have no counterpart',
};

function streamOf(node: NodeMap, path: string, context: TapContext): ImportedRequest {
  const { config, at, address, url } = context;
  const reasons: ImportReason[] = [...context.common];
  const notes: string[] = [];
  const name = text(get(node, 'name')) ?? path;
  const setting = (key: string): ManifestNode | undefined => get(node, key) ?? get(config, key);
  for (const [key, message] of Object.entries(UNTAKEN))
    if (get(config, key) === true) reasons.push({ path: `${at}${key}`, message });
  for (const key of ['stream_maps', 'flattening_enabled'])
    if (get(config, key) !== undefined && get(config, key) !== false)
      reasons.push({
        path: `${at}${key}`,
        message: `“${key}” of the SDK changes rows in ways that are not taken over`,
      });
  const maps = { params: merged(config, node, 'params'), headers: merged(config, node, 'headers') };
  const stream: TapStream = {
    setting,
    config,
    path,
    at,
    basePath: url?.pathname ?? '/',
    params: Object.fromEntries(
      Object.entries(maps.params).flatMap(([key, value]) => paramOf(key, value, path, reasons)),
    ),
    reasons,
    notes,
  };
  const records = text(setting('records_path')) ?? '$[*]';
  const rows = plainJsonPath(records);
  const whole = `${typeof address === 'string' ? address : ''}${text(setting('path')) ?? ''}`;
  const target = addressOf(whole);
  const paged = readTapPagination(stream);
  const incremental = incrementalOf(stream, paged.style);
  const keys = setting('primary_keys');
  const job = {
    endpoint: target === undefined ? '' : `${target.pathname}${target.search}`.replace(/^\//, ''),
    params: { ...stream.params, ...paged.params, ...incremental.params },
    ...(Object.keys(maps.headers).length === 0 ? {} : { headers: headersOf(maps.headers, context.secrets) }),
    dataField: rows === undefined ? records : rows.dataField === '' ? '.' : rows.dataField,
    pagination: paged.pagination,
    ...(incremental.incremental === undefined ? {} : { incremental: incremental.incremental }),
    ...(isSequence(keys) && keys.length > 0 ? { primaryKey: keys } : {}),
  };
  for (const key of Object.keys(node))
    if (!KNOWN.has(key) && !IRRELEVANT.has(key))
      notes.push(`“${key}” is no setting of the tap, which does not read it either.`);
  return {
    name,
    job,
    reasons,
    notes,
    columns: [
      'lists are tables of their own here, and JSON text there; in names a hyphen stays here, and is “_” there',
      ...(get(config, 'store_raw_json_message') === true
        ? ['“_sdc_raw_json” with the whole row is not there']
        : []),
    ],
  };
}

const KNOWN = new Set(
  'name path params headers records_path except_keys replication_key start_date source_search_field source_search_query offset_records_jsonpath'.split(
    ' ',
  ),
);

/** Returns what the tap sends and keeps for a replication key. */
function incrementalOf(
  { setting, notes, reasons, path }: TapStream,
  style: string,
): {
  readonly params: Readonly<Record<string, unknown>>;
  readonly incremental?: Readonly<Record<string, unknown>>;
} {
  const key = text(setting('replication_key'));
  if (key === undefined || key === '') return { params: {} };
  if (style === 'header_link') {
    reasons.push({
      path: `${path}.replication_key`,
      message: 'A state beside “header_link” is sent in ways of one API',
    });
    return { params: {} };
  }
  const [field, query, start] = ['source_search_field', 'source_search_query', 'start_date'].map((name) => {
    const value = text(setting(name));
    return value === '' ? undefined : value;
  });
  if (field === undefined || (query === undefined && style !== 'hateoas_body') || start === undefined) {
    if (field !== undefined && query !== undefined)
      notes.push(
        'Without a “start_date” the tap sends no search in its first run; here there is none in any run.',
      );
    notes.push('Reads all rows in every run, as the tap does: the API is not asked for newer ones.');
    return { params: style === 'hateoas_body' ? {} : { sort: 'asc', order_by: key } };
  }
  const state = isDateTime(setting('schema'), key)
    ? { function: 'date', args: ['Y-m-d\\TH:i:s', { function: 'strtotime', args: [{ state: 'cursor' }] }] }
    : { state: 'cursor' };
  return {
    params: { [field]: searchOf(query ?? 'gt$last_run_date', state) },
    incremental: { cursor: key, first: start },
  };
}

/** Puts the state in the place of `$last_run_date`, as Python's templates do. */
function searchOf(query: string, state: unknown): unknown {
  const parts = query.split(/\$(?:last_run_date\b|\{last_run_date\})/);
  const args = parts.flatMap((part, index) => [
    ...(index === 0 ? [] : [state]),
    ...(part === '' ? [] : [part.replaceAll('$$', '$')]),
  ]);
  return args.length === 1 ? args[0] : { function: 'concat', args };
}

/** Tells whether a schema that is written out says that a field is a time: its form is then changed. */
function isDateTime(schema: ManifestNode | undefined, key: string): boolean {
  return get(get(get(schema, 'properties'), key), 'format') === 'date-time';
}

/** Returns a parameter as the library of the tap sends it; none for null. */
function paramOf(
  key: string,
  value: ManifestNode,
  path: string,
  reasons: ImportReason[],
): readonly (readonly [string, string])[] {
  if (value === null) return [];
  if (typeof value === 'boolean') return [[key, value ? 'True' : 'False']];
  if (typeof value === 'string' || typeof value === 'number') return [[key, String(value)]];
  reasons.push({
    path: `${path}.params.${key}`,
    message: 'A parameter that is a list or an object',
    template: JSON.stringify(value),
  });
  return [];
}

/** Returns headers, those that hold a secret as references. */
function headersOf(headers: NodeMap, secrets: RequestSecrets): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretName(name) ? secrets.take(name.toLowerCase().replaceAll('-', '_'), name, value) : value,
    ]),
  );
}

function merged(config: NodeMap, node: NodeMap, key: string): NodeMap {
  const [above, own] = [get(config, key), get(node, key)];
  return { ...(isMap(above) ? above : {}), ...(isMap(own) ? own : {}) };
}

/** Returns the configuration in a document: the document itself, or that of the plug-in of a Meltano project. */
function configIn(document: NodeMap, file: string): { readonly config: NodeMap; readonly at: string } {
  const extractors = get(get(document, 'plugins'), 'extractors');
  if (!isSequence(extractors)) return { config: document, at: '' };
  const index = extractors.findIndex((each) =>
    [get(each, 'name'), get(each, 'inherit_from'), get(each, 'pip_url'), get(each, 'variant')].some(
      (value) => typeof value === 'string' && value.includes(TAP),
    ),
  );
  const config = get(extractors[index], 'config');
  if (index === -1 || !isMap(config))
    throw invalid(file, `The Meltano project has no extractor ${TAP} with a “config”.`);
  return { config, at: `plugins.extractors[${index}].config.` };
}

function addressOf(text: string): URL | undefined {
  if (!/^https?:\/\//i.test(text) || /\$[A-Za-z_{]/.test(text)) return undefined;
  return URL.canParse(text) ? new URL(text) : undefined;
}

function text(value: ManifestNode | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function shown(value: ManifestNode | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function invalid(file: string, message: string): RunError {
  return new RunError('import.invalid', message, {
    where: { file },
    hint: `Give the config.json of ${TAP}, or a meltano.yml with it.`,
  });
}
