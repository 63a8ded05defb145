import { RunError } from '../../../lib/errors.ts';
import { get, isMap, isSequence, shown, type ManifestNode, type NodeMap } from '../airbyte/node.ts';
import { readYaml } from '../airbyte/read-yaml.ts';
import type { Imported } from '../report.ts';
import { assembleRequests, RequestSecrets, type ImportedRequest } from '../requests/assemble.ts';
import { NodeReading } from './node-reading.ts';
import { readNodePagination } from './pagination.ts';

type Node = Readonly<Record<string, unknown>>;

export interface ImportWorkflowOptions {
  /** Name of the file in messages. */
  readonly file: string;
  readonly name: string;
  /** Secrets by their names in the configuration that is made. */
  readonly settings?: NodeMap | undefined;
}

const TYPE = 'n8n-nodes-base.httpRequest';
const SPLIT = 'n8n-nodes-base.splitOut';

/**
 * Imports the HTTP Request nodes of an n8n workflow: each is a stream.
 *
 * @throws {RunError} `import.invalid` for a text that is no workflow, or has no such node
 */
export function importWorkflow(text: string, { file, name, settings }: ImportWorkflowOptions): Imported {
  const workflow = readYaml(text, file);
  const nodes = get(workflow, 'nodes');
  const found = (isSequence(nodes) ? nodes : []).flatMap((node, index) =>
    isMap(node) && get(node, 'type') === TYPE ? [{ node, path: `nodes[${index}]` }] : [],
  );
  if (found.length === 0)
    throw new RunError('import.invalid', 'The file has no HTTP Request node.', {
      where: { file },
      hint: 'Give a workflow as n8n exports it: JSON with “nodes”, one of them of the type n8n-nodes-base.httpRequest.',
    });
  const secrets = new RequestSecrets(settings);
  return assembleRequests({
    source: file,
    name,
    // each request has its whole address
    api: { baseUrl: baseOf(found.map(({ node }) => get(get(node, 'parameters'), 'url'))) },
    requests: found.map(({ node, path }) => requestOf(node, path, workflow, secrets)),
    settings: secrets.values,
    open: secrets.open,
    notes: [],
  });
}

/** Returns the origin that the addresses share; of several the first, and requests to others are no exact ones. */
function baseOf(urls: readonly (ManifestNode | undefined)[]): string {
  const [first = 'https://api.invalid/'] = urls.flatMap((url) => originOf(url) ?? []);
  return first;
}

function originOf(url: ManifestNode | undefined): string | undefined {
  const plain = typeof url === 'string' ? url.replace(/^=/, '').trim() : '';
  const origin = /^https?:\/\/[^/?#{]+(?=[/?#]|$)/i.exec(plain)?.[0];
  return origin === undefined ? undefined : `${origin}/`;
}

function requestOf(node: NodeMap, path: string, workflow: NodeMap, secrets: RequestSecrets): ImportedRequest {
  const title = get(node, 'name');
  const name = typeof title === 'string' ? title : path;
  const parameters = get(node, 'parameters');
  const reading = new NodeReading(isMap(parameters) ? parameters : {}, path, secrets);
  const version = Number(get(node, 'typeVersion') ?? 1);
  if (version < 3) {
    const reason = {
      path: `${path}.typeVersion`,
      message: `Version ${version} of the node has other parameters: open the workflow in n8n 1 or newer, replace the node, and export it again`,
    };
    return { name, reasons: [reason], columns: [], notes: [] };
  }
  if (get(node, 'disabled') === true) reading.not('disabled', 'The node is disabled');
  const url = reading.text(reading.get('url'), 'url');
  const address = addressOf(url, reading);
  const body = bodyOf(reading);
  const login = loginOf(reading);
  const query = {
    ...address.query,
    ...(reading.get('sendQuery') === true ? reading.pairs('query') : {}),
    ...login.query,
  };
  const headers = {
    ...(reading.get('sendHeaders') === true ? reading.pairs('header') : {}),
    ...login.headers,
  };
  const method = reading.get('method') ?? 'GET';
  if (reading.get('options', 'response', 'response', 'fullResponse') === true)
    reading.not('options.response.response.fullResponse', 'Headers and status are part of the item');
  const format = reading.get('options', 'response', 'response', 'responseFormat');
  if (format === 'file' || format === 'text')
    reading.not(
      'options.response.response.responseFormat',
      `The answer is taken as a ${format === 'file' ? 'file' : 'text'}`,
    );
  if (reading.get('options', 'batching') !== undefined)
    reading.notes.push('Pauses between batches are not needed.');
  if (isFedByOthers(workflow, name))
    reading.notes.push('n8n makes the request once for each item that comes in; here it is made once.');
  const rows = splitBehind(workflow, name);
  const job = {
    endpoint: address.endpoint,
    method,
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...body,
    dataField: rows ?? '.',
    ...readNodePagination(reading.get('options', 'pagination', 'pagination'), reading, rows),
  };
  if (rows !== undefined)
    reading.notes.push(`The node behind it splits “${rows}” into items: those are the rows.`);
  return { name, job, reasons: reading.reasons, columns: [], notes: reading.notes };
}

function addressOf(url: unknown, reading: NodeReading): { readonly endpoint: unknown; readonly query: Node } {
  const origin = originOf(reading.get('url'));
  if (origin === undefined) {
    if (reading.reasons.length === 0)
      reading.not('url', 'The host of the address is no text', JSON.stringify(reading.get('url')));
    return { endpoint: '', query: {} };
  }
  if (typeof url !== 'string') return { endpoint: url, query: {} };
  if (!URL.canParse(url)) {
    reading.not('url', 'No address', url);
    return { endpoint: '', query: {} };
  }
  return { endpoint: url, query: {} };
}

function bodyOf(reading: NodeReading): Node {
  if (reading.get('sendBody') !== true) return {};
  const type = reading.get('contentType') ?? 'json';
  if (type === 'json') {
    if (reading.get('specifyBody') !== 'json') return { body: reading.pairs('body'), bodyFormat: 'json' };
    const value = reading.json('jsonBody');
    return { body: value ?? {}, bodyFormat: 'json' };
  }
  if (type === 'form-urlencoded') {
    const text = reading.get('body');
    return reading.get('specifyBody') === 'string' && typeof text === 'string'
      ? { body: Object.fromEntries(new URLSearchParams(text.replace(/^=/, ''))), bodyFormat: 'form' }
      : { body: reading.pairs('body'), bodyFormat: 'form' };
  }
  if (type === 'raw') {
    const kind = reading.get('rawContentType');
    return {
      body: reading.text(reading.get('body'), 'body'),
      bodyFormat: 'text',
      ...(typeof kind === 'string' && kind !== '' ? { headers: { 'Content-Type': kind } } : {}),
    };
  }
  reading.not('contentType', 'This kind of body has no counterpart', JSON.stringify(type));
  return {};
}

/** Returns what the credentials of the node put into a request. Exports of workflows do not have their values. */
function loginOf(reading: NodeReading): { readonly headers: Node; readonly query: Node } {
  const none = { headers: {}, query: {} };
  const kind = reading.get('authentication') ?? 'none';
  if (kind === 'none') return none;
  if (kind !== 'genericCredentialType') {
    reading.not(
      'nodeCredentialType',
      'Credentials of a service are kept by n8n: set the authentication by hand',
      JSON.stringify(reading.get('nodeCredentialType') ?? kind),
    );
    return none;
  }
  switch (reading.get('genericAuthType')) {
    case 'httpBearerAuth':
      return {
        ...none,
        headers: {
          Authorization: joined(
            'Bearer ',
            reading.secret('bearer_token', 'Token of the bearer authentication'),
          ),
        },
      };
    case 'httpBasicAuth': {
      const pair = joined(
        reading.secret('user', 'User of the basic authentication'),
        ':',
        reading.secret('password', 'Password of the basic authentication'),
      );
      return {
        ...none,
        headers: { Authorization: joined('Basic ', { function: 'base64_encode', args: [pair] }) },
      };
    }
    case 'httpHeaderAuth':
      reading.notes.push(
        'The name of the header that logs in is not in the workflow: here it is Authorization.',
      );
      return {
        ...none,
        headers: { Authorization: reading.secret('header_value', 'Value of the header that logs in') },
      };
    default:
      reading.not(
        'genericAuthType',
        'These credentials are kept by n8n: set the authentication by hand',
        JSON.stringify(reading.get('genericAuthType')),
      );
      return none;
  }
}

function joined(...args: readonly unknown[]): Node {
  return { function: 'concat', args };
}

/** Returns the field that the node behind splits into items; undefined where there is none alone. */
function splitBehind(workflow: NodeMap, name: string): string | undefined {
  const behind = targetsOf(workflow, name);
  const [only] = behind;
  const nodes = get(workflow, 'nodes');
  if (only === undefined || behind.length > 1 || !isSequence(nodes)) return undefined;
  const node = nodes.find((each) => get(each, 'name') === only);
  const field = get(get(node, 'parameters'), 'fieldToSplitOut');
  if (get(node, 'type') !== SPLIT || typeof field !== 'string' || /[,=]/.test(field) || field === '')
    return undefined;
  const include = get(get(node, 'parameters'), 'include') ?? 'noOtherFields';
  return include === 'noOtherFields' ? field : undefined;
}

function targetsOf(workflow: NodeMap, name: string): readonly string[] {
  const outputs = get(get(get(workflow, 'connections'), name), 'main');
  return (isSequence(outputs) ? outputs : []).flatMap((output) =>
    (isSequence(output) ? output : []).flatMap((link) => {
      const target = get(link, 'node');
      return typeof target === 'string' ? [target] : [];
    }),
  );
}

/** Tells whether a node gets items of others than one that begins the workflow. */
function isFedByOthers(workflow: NodeMap, name: string): boolean {
  const nodes = get(workflow, 'nodes');
  return (isSequence(nodes) ? nodes : []).some((node) => {
    const [from, type] = [get(node, 'name'), get(node, 'type')];
    return (
      typeof from === 'string' &&
      targetsOf(workflow, from).includes(name) &&
      !/trigger|webhook/i.test(shown(type))
    );
  });
}
