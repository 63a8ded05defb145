import { documentOf, validateConfig, type Problem } from '../../engine/config/index.ts';

type Node = Readonly<Record<string, unknown>>;

/** A row, taken apart: its jobs and tables, and what it has beside them. */
interface Row {
  readonly id: string;
  readonly jobs: readonly Node[];
  readonly tables: readonly unknown[];
  /** Its configuration without both. */
  readonly rest: RowRest;
}

interface RowRest {
  readonly configuration: Node;
  readonly parameters: Node;
  readonly config: Node;
  readonly storage: Node;
  readonly output: Node;
}

/** A job that is alike in several rows, and below jobs that are. */
interface SharedJob {
  readonly own: Node;
  readonly children: Map<string, SharedJob>;
  /** Ids of the rows. */
  readonly rows: Set<string>;
}

const JOBS_AT = 'rows[0].configuration.parameters.config.jobs';

/** Times that rows are looked at together; each finds one mistake. */
const MOST_TURNS = 8;

/**
 * Returns the problems of rows of a configuration that was made, in the order of its values.
 *
 * Rows of a connector stand below the same parents, again and again: the jobs of all are looked at as one
 * configuration, each with its parents once. A job is read by itself and the jobs above it, and where jobs are compared
 * with each other, more of them are never less wrong; so nothing is wrong with any row where nothing is wrong with all.
 * A column, an export or reactions that several of them have are looked at once, too. Only rows that a problem was
 * found in are then looked at as they are.
 *
 * @param ids of the rows
 */
export async function problemsOfRows(
  configuration: Node,
  ids: readonly string[],
): Promise<readonly Problem[]> {
  const { rows } = configuration;
  const wanted = new Set(ids);
  const found = (Array.isArray(rows) ? rows.filter(isMap) : []).filter(({ id }) => wanted.has(String(id)));
  const groups = new Map<string, Row[]>();
  const doubtful: string[] = [];
  for (const row of found) {
    const apart = takenApart(row);
    if (apart === undefined) {
      doubtful.push(String(row['id']));
      continue;
    }
    const kind = JSON.stringify(apart.rest);
    groups.set(kind, [...(groups.get(kind) ?? []), apart]);
  }
  for (const group of groups.values()) doubtful.push(...(await doubtfulOf(configuration, group)));
  return doubtful.length === 0 ? [] : await problemsIn(configuration, doubtful);
}

async function problemsIn(configuration: Node, rows?: readonly string[]): Promise<readonly Problem[]> {
  const problems = await validateConfig(documentOf(configuration), rows === undefined ? {} : { rows });
  return problems.filter(isAboutForm);
}

/** Tells whether a problem is about the form of an address, which is unknown until its settings are. */
function isAboutForm({ path, message }: Problem): boolean {
  return (
    !(path.endsWith('.baseUrl') && message.startsWith('The function')) && !path.includes('.config.settings')
  );
}

/** Returns a row in its parts; undefined where one of them is of another kind, or a job names its parents. */
function takenApart(row: Node): Row | undefined {
  const whole = part(row, 'configuration');
  const allParameters = part(whole, 'parameters');
  const allConfig = part(allParameters, 'config');
  const allStorage = part(whole, 'storage');
  const allOutput = part(allStorage, 'output');
  if (whole === undefined || allParameters === undefined || allConfig === undefined) return undefined;
  if (allStorage === undefined || allOutput === undefined) return undefined;
  const { parameters: _, storage: __, ...configuration } = whole;
  const { config: ___, ...parameters } = allParameters;
  const { jobs, ...config } = allConfig;
  const { output: ____, ...storage } = allStorage;
  const { tables = [], ...output } = allOutput;
  if (!Array.isArray(jobs) || jobs.length === 0 || !jobs.every(isMap) || !Array.isArray(tables))
    return undefined;
  if (jobs.some((job) => Object.hasOwn(job, 'parents'))) return undefined;
  return {
    id: String(row['id']),
    jobs,
    tables,
    rest: { configuration, parameters, config, storage, output },
  };
}

/** Returns a map in a map, empty where there is none; undefined for what is no map. */
function part(node: Node | undefined, key: string): Node | undefined {
  const value = node?.[key];
  if (value === undefined) return {};
  return isMap(value) ? value : undefined;
}

/** Returns the rows of a group that something may be wrong with. */
async function doubtfulOf(configuration: Node, group: readonly Row[]): Promise<readonly string[]> {
  const doubtful = new Set<string>();
  let others = group;
  for (let turn = 0; turn < MOST_TURNS && others.length > 0; turn++) {
    const jobs = new Map<string, SharedJob>();
    for (const row of others) share(row.jobs, row.id, jobs);
    const problems = await problemsIn({ ...configuration, rows: [joined(others, jobs)] });
    if (problems.length === 0) return [...doubtful];
    for (const { path } of problems)
      for (const id of rowsAt(path, jobs) ?? others.map((row) => row.id)) doubtful.add(id);
    others = others.filter(({ id }) => !doubtful.has(id));
  }
  return [...doubtful, ...others.map(({ id }) => id)];
}

function share(jobs: readonly Node[], row: string, into: Map<string, SharedJob>): void {
  for (const job of jobs) {
    const { children, ...alone } = job;
    const isList = Array.isArray(children) && children.every(isMap);
    const own = isList ? alone : job;
    let key = JSON.stringify(own);
    // one that a row has twice stays there twice
    while (into.get(key)?.rows.has(row) === true) key += ' ';
    const known = into.get(key) ?? { own, children: new Map<string, SharedJob>(), rows: new Set<string>() };
    into.set(key, known);
    known.rows.add(row);
    if (isList) share(children, row, known.children);
  }
}

/** Puts rows that differ in nothing but jobs and tables together. */
function joined(rows: readonly Row[], jobs: ReadonlyMap<string, SharedJob>): Node {
  const [first] = rows;
  const tables = rows.flatMap((row) => row.tables);
  const { configuration, parameters, config, storage, output } = first?.rest ?? EMPTY;
  return {
    id: first?.id,
    configuration: {
      ...configuration,
      parameters: { ...parameters, config: { ...config, jobs: written(jobs) } },
      storage: { ...storage, output: { ...output, ...(tables.length === 0 ? {} : { tables }) } },
    },
  };
}

const EMPTY: RowRest = { configuration: {}, parameters: {}, config: {}, storage: {}, output: {} };

/** Writes jobs out. Those of different rows may have the same id, which is then changed, as in a list it is one job. */
function written(jobs: ReadonlyMap<string, SharedJob>, reactions = new Set<string>()): readonly Node[] {
  const byId = new Map<string, { readonly id: string; readonly rows: ReadonlySet<string> }[]>();
  const parts = new Map<string, Set<string>>();
  return [...jobs.values()].map(({ own: whole, children, rows }) => {
    const own = withoutRepeated(withoutKnown(whole, reactions), parts);
    const { id } = own;
    const below = children.size === 0 ? {} : { children: written(children, reactions) };
    if (typeof id !== 'string') return { ...own, ...below };
    const same = byId.get(id) ?? [];
    // one that a row has twice stays a mistake
    const given =
      same.find((other) => !other.rows.isDisjointFrom(rows))?.id ?? `${id}${' '.repeat(same.length)}`;
    byId.set(id, [...same, { id: given, rows }]);
    return { ...own, id: given, ...below };
  });
}

/** Leaves out the reactions that another job has, too: they are read by themselves. */
function withoutKnown(job: Node, known: Set<string>): Node {
  const { reactions, ...others } = job;
  if (reactions === undefined) return job;
  const text = JSON.stringify(reactions);
  if (known.has(text)) return others;
  known.add(text);
  return job;
}

/** Keys of a job that say nothing of how its other parts are read. */
const APART: ReadonlySet<string> = new Set([
  'id',
  'dataType',
  'dataField',
  'body',
  'columns',
  'exclude',
  'where',
  'reactions',
]);

/**
 * Leaves out what another job below the same parent has, too, with the same around it: an export, and the values of
 * columns, which are constants then.
 *
 * @param known what jobs before have, by what is around it
 */
function withoutRepeated(job: Node, known: Map<string, Set<string>>): Node {
  const { columns, export: ofExport, ...others } = job;
  if (!isMap(columns) && ofExport === undefined) return job;
  const around = JSON.stringify(Object.entries(job).filter(([key]) => !APART.has(key)));
  const parts = known.get(around) ?? new Set();
  known.set(around, parts);
  const isRepeated = (part: string): boolean => {
    const isKnown = parts.has(part);
    parts.add(part);
    return isKnown;
  };
  return {
    ...others,
    ...(ofExport === undefined || isRepeated('') ? {} : { export: ofExport }),
    ...(isMap(columns)
      ? {
          columns: Object.fromEntries(
            Object.entries(columns).map(([name, value]) => [
              name,
              isRepeated(name + JSON.stringify(value)) ? { value: null } : value,
            ]),
          ),
        }
      : columns === undefined
        ? {}
        : { columns }),
  };
}

/** Returns the ids of the rows that have the job at a path, or something in it; undefined where it is in no job. */
function rowsAt(path: string, jobs: ReadonlyMap<string, SharedJob>): ReadonlySet<string> | undefined {
  if (!path.startsWith(JOBS_AT)) return undefined;
  let at: SharedJob | undefined;
  for (const index of /^(?:(?:\.children)?\[\d+\])*/.exec(path.slice(JOBS_AT.length))?.[0].match(/\d+/g) ??
    [])
    at = [...(at?.children ?? jobs).values()][Number(index)] ?? at;
  return at?.rows;
}

function isMap(node: unknown): node is Node {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}
