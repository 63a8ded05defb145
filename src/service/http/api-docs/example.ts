import type { Operation, Schema } from './document.ts';
import { sampleOf, samplePart } from './sample.ts';

/** A request as a line of the shell: with what it needs, and else with what is usually said. */
export function curlExample(operation: Operation): string {
  const { method, path, isPublic } = operation;
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required === true)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(sampleOf(schema, name)))}`)
    .join('&');
  const target = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => samplePart(name, path));
  const body = bodyOf(operation);
  const needsMethod = method !== 'GET' && !(method === 'POST' && body.length > 0);
  const parts = [
    `curl ${needsMethod ? `-X ${method} ` : ''}"$STORAGE_URL${target}${query === '' ? '' : `?${query}`}"`,
    ...(isPublic ? [] : ['-H "X-StorageApi-Token: $STORAGE_TOKEN"']),
    ...body,
  ];
  return parts.join(' \\\n  ');
}

/** Bodies that are read as they come are not in the document. */
const UPLOADS: Readonly<Record<string, readonly string[]>> = {
  '/upload-file': ['-F data=@users.csv', "-F 'tags[]=monthly'"],
  '/write-table': ['-F tableId=in.c-main.users', '-F data=@users.csv', '-F incremental=1'],
  '/v2/storage/buckets/{bucket}/tables': ['-F name=users', '-F data=@users.csv', '-F primaryKey=id'],
  '/v2/storage/tables/{table}/import': ['-F data=@users.csv', '-F incremental=1'],
};

function bodyOf({ method, path, body }: Operation): readonly string[] {
  if (method === 'POST' && UPLOADS[path] !== undefined) return UPLOADS[path];
  if (body?.properties === undefined || method === 'GET') return [];
  const fields = fieldsOf(body).map(([name, schema]) => [name, contentOf(name, schema)] as const);
  if (fields.length === 0) return [];
  if (fields.some(([, value]) => isNested(value))) {
    const json = JSON.stringify(Object.fromEntries(fields)).replaceAll("'", String.raw`'\''`);
    return ["-H 'Content-Type: application/json'", `-d '${json}'`];
  }
  return fields.flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((item) => `-d '${name}[]=${String(item)}'`)
      : [`-d ${quoted(`${name}=${String(value)}`)}`],
  );
}

/** Of fields that may all be left out, one shows how. */
function fieldsOf({ properties = {}, required = [] }: Schema): [string, Schema][] {
  const all = Object.entries(properties);
  const wanted = all.filter(([name]) => required.includes(name) || USUAL.has(name));
  return wanted.length > 0 ? wanted : all.filter(([name]) => name !== 'changeDescription').slice(0, 1);
}

/** What is given nearly always, though it need not be. */
const USUAL = new Set(['configuration', 'dataFileId', 'federationToken', 'metadata', 'stage']);

function contentOf(name: string, schema: Schema): unknown {
  return name === 'configuration' ? { parameters: {} } : sampleOf(schema, name);
}

function isNested(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object');
  return typeof value === 'object' && value !== null;
}

function quoted(text: string): string {
  return /^[\w=.,-]+$/.test(text) ? text : `'${text}'`;
}
