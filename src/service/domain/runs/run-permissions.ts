import { planRows, resourceOf, type ConfigDocument } from '../../../engine/config/index.ts';
import { entriesOf, getKey, isList, isObject, type AnyObject, type Json } from '../../../lib/json/index.ts';
import { defaultBucketOf } from '../../../runner/mapping/output/plan/destination.ts';

/** Permissions of a run in the storage: those that the mapping of its configuration needs, and no more. */
export interface RunRights {
  /** Ids of buckets that its tables go to; they are made when they are missing. */
  readonly writes: readonly string[];
  /** Ids of buckets that its inputs come from. */
  readonly reads: readonly string[];
  /** True when it takes files as inputs. */
  readonly readsFiles: boolean;
  /** Tags that it adds to these files. */
  readonly tags: readonly string[];
  /** Ids of the rows that run. */
  readonly rows: readonly string[];
}

export interface RightsOptions {
  readonly component: string;
  readonly configuration: string;
  /** Ids of the rows that run; all that are not disabled by default. */
  readonly rows?: readonly string[] | undefined;
}

/** @throws {ConfigError} when it cannot be told which rows run */
export function rightsOf(document: ConfigDocument, options: RightsOptions): RunRights {
  const [writes, reads, tags] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const ran: string[] = [];
  let readsFiles = false;
  const { component, configuration: id, rows } = options;
  for (const { id: row, configuration } of planRows(resourceOf(document), rows).runs) {
    if (row !== undefined) ran.push(row);
    for (const bucket of outputBuckets(configuration)) writes.add(bucket);
    const mapped = textAt(configuration, 'storage', 'output', 'default_bucket');
    writes.add(mapped ?? defaultBucketOf({ component, configuration: id, isStored: true }));
    for (const table of listAt(configuration, 'storage', 'output', 'tables'))
      add(writes, bucketOf(textAt(table, 'destination')));
    for (const table of listAt(configuration, 'storage', 'input', 'tables'))
      add(reads, bucketOf(textAt(table, 'source')));
    for (const file of listAt(configuration, 'storage', 'input', 'files')) {
      readsFiles = true;
      for (const tag of listAt(file, 'processed_tags')) if (typeof tag === 'string') tags.add(tag);
    }
  }
  return { writes: [...writes], reads: [...reads], readsFiles, tags: [...tags], rows: ran };
}

/** Returns the buckets that the extractor names in its manifests: of the root, or of every iteration of it. */
function outputBuckets(configuration: AnyObject): readonly string[] {
  const root = at(configuration, ['parameters', 'config']);
  const name = textAt(configuration, 'parameters', 'api', 'name') ?? '';
  const iterations = at(configuration, ['parameters', 'iterations']);
  const each = isList(iterations)
    ? iterations
    : isObject(iterations)
      ? entriesOf(iterations).map(([, value]) => value)
      : [];
  return (each.length === 0 ? [root] : each).flatMap((config) => {
    const given = textAt(config, 'outputBucket') ?? textAt(root, 'outputBucket');
    if (given !== undefined) return [`in.c-${given}`];
    const id = textAt(config, 'id') ?? textAt(root, 'id');
    return id === undefined ? [] : [`in.c-ex-api-${name}-${id}`];
  });
}

function bucketOf(table: string | undefined): string | undefined {
  const parts = table?.split('.') ?? [];
  return parts.length === 3 ? parts.slice(0, 2).join('.') : undefined;
}

function add(all: Set<string>, one: string | undefined): void {
  if (one !== undefined) all.add(one);
}

function textAt(value: Json | undefined, ...keys: readonly string[]): string | undefined {
  const found = at(value, keys);
  if (typeof found === 'number') return String(found);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function listAt(value: Json | undefined, ...keys: readonly string[]): readonly Json[] {
  const found = at(value, keys);
  return isList(found) ? found : [];
}

function at(value: Json | undefined, keys: readonly string[]): Json | undefined {
  let found = value;
  for (const key of keys) found = isObject(found) ? getKey(found, key) : undefined;
  return found;
}
