import type { EffectiveConfig, ExtractorConfig } from '../config/extractor-config.ts';
import { parseJobs, type Job } from '../jobs/index.ts';
import {
  encodeExact,
  entriesOf,
  getKey,
  isObject,
  md5,
  objectOf,
  sizeOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';

/** By data type: a digest of the settings that its structure comes from. */
export type StructureSettings = ReadonlyMap<string, string>;

const STRUCT_KEY = 'json_parser.struct';
const STRUCT_VERSION_KEY = 'json_parser.structVersion';
/** Beside the structure in the state. A state that has none, such as one of another program, is taken as it is. */
const STRUCT_SETTINGS_KEY = 'json_parser.structSettings';

/**
 * Returns the settings that decide the columns of a data type, for all jobs that give it: the place of the rows, the
 * filter, the parser, and whether the type is mapped.
 */
export function structureSettings({
  configs,
  api,
}: Pick<ExtractorConfig, 'configs' | 'api'>): StructureSettings {
  const settings = new Map<string, Set<string>>();
  for (const config of configs) {
    const jobs = parseJobs(config.jobs, config.jobsAt, [], api.defaultOptions);
    for (const job of withChildren(jobs)) {
      const of = settings.get(job.dataType) ?? new Set();
      settings.set(job.dataType, of.add(settingsOf(job, config)));
    }
  }
  return new Map(Array.from(settings, ([type, each]) => [type, md5([...each].toSorted().join('\n'))]));
}

/**
 * Returns the state without the structure of data types whose settings have changed since: their columns are learned
 * again, as in a first run. When nothing valid is left, the whole structure goes.
 */
export function forgetChanged(state: AnyObject, settings: StructureSettings, log: Log): AnyObject {
  const known = knownSettings(state);
  const changed = [...settings].filter(([type, digest]) => (known.get(type) ?? digest) !== digest);
  const struct = getKey(state, STRUCT_KEY);
  if (changed.length === 0 || !isObject(struct)) return state;
  const types = changed.map(([type]) => type);
  log.info(
    `The settings of ${types.map((type) => `“${type}”`).join(', ')} have changed since the last run: the columns known from earlier runs are forgotten, and learned anew`,
  );
  const isLeft = changed.length < settings.size;
  const left = isLeft ? without(struct, new Set(types), [...known.keys(), ...settings.keys()]) : undefined;
  const others = entriesOf(state).filter(([key]) => !STRUCT_KEYS.has(key));
  if (left === undefined) return objectOf(others);
  const version = getKey(state, STRUCT_VERSION_KEY);
  const stillKnown = [...known].filter(([type]) => !types.includes(type));
  return objectOf([
    ...others,
    [STRUCT_KEY, left],
    ...(version === undefined ? [] : [[STRUCT_VERSION_KEY, version] as const]),
    [STRUCT_SETTINGS_KEY, objectOf(stillKnown)],
  ]);
}

/** Returns the settings of the types of this run, and of those that it did not have. */
export function settingsJson(state: AnyObject, settings: StructureSettings): Json {
  return objectOf(new Map([...knownSettings(state), ...settings]));
}

const STRUCT_KEYS: ReadonlySet<string> = new Set([STRUCT_KEY, STRUCT_VERSION_KEY, STRUCT_SETTINGS_KEY]);

function knownSettings(state: AnyObject): StructureSettings {
  const known = getKey(state, STRUCT_SETTINGS_KEY);
  if (!isObject(known)) return new Map();
  return new Map(
    entriesOf(known).flatMap(([type, digest]) => (typeof digest === 'string' ? [[type, digest]] : [])),
  );
}

/** Which rows there are, and what their cells look like, changes no column. */
const SHAPELESS: ReadonlySet<string> = new Set(['where', 'cells', 'links', 'types']);

function settingsOf(job: Job, { compatLevel, mappings }: EffectiveConfig): string {
  const { dataField, otherFields = [], rowSettings, responseFilter, responseFilterDelimiter, dataType } = job;
  const isMapped = mappings !== undefined && getKey(mappings, dataType) !== undefined;
  const filter = responseFilter.length === 0 ? [] : [responseFilter, responseFilterDelimiter];
  const fields = otherFields.map(({ text, keys }) => [text, keys ?? []]);
  const shaping = objectOf(entriesOf(rowSettings).filter(([key]) => !SHAPELESS.has(key)));
  return JSON.stringify([
    dataField?.text ?? '',
    dataField?.keys ?? [],
    filter,
    compatLevel,
    isMapped,
    // a state of before these settings knows nothing of them
    ...(fields.length === 0 && sizeOf(shaping) === 0 ? [] : [fields, encodeExact(shaping)]),
  ]);
}

function* withChildren(jobs: readonly Job[]): Generator<Job, void> {
  for (const job of jobs) {
    yield job;
    yield* withChildren(job.children);
  }
}

/** Removes types from the structure; undefined when nothing is left. */
function without(
  struct: AnyObject,
  types: ReadonlySet<string>,
  allTypes: readonly string[],
): AnyObject | undefined {
  const data = getKey(struct, 'data');
  // The present form has one tree for each type, below `_` and its name; the legacy one is flat.
  if (isObject(data) && getKey(struct, 'parent_aliases') !== undefined) {
    const left = entriesOf(data).filter(([key]) => !types.has(key.slice(1)));
    if (left.length === 0) return undefined;
    return objectOf(new Map([...entriesOf(struct), ['data', objectOf(left)]]));
  }
  const ownerOf = (key: string): string =>
    allTypes
      .filter((type) => key === type || key.startsWith(`${type}.`))
      .reduce((longest, type) => (type.length > longest.length ? type : longest), '');
  const left = objectOf(entriesOf(struct).filter(([key]) => !types.has(ownerOf(key))));
  return sizeOf(left) === 0 ? undefined : left;
}
