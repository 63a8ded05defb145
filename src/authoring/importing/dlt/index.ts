import { plainName, rowId } from '../airbyte/assemble.ts';
import type { Imported, ImportReason, StreamReport } from '../report.ts';
import { readAuth } from './authentication.ts';
import { SourceFindings } from './findings.ts';
import { findSources } from './find-sources.ts';
import { jobOf, type ResourceJob } from './job.ts';
import { scalarOut } from './out.ts';
import { readResources, type Resource } from './resources.ts';
import { SourceSettings } from './dlt-settings.ts';
import { filledMap } from './templates.ts';
import { addsRows, keyOf, readHints } from './hints.ts';
import type { RowShape } from './python/row-shape.ts';
import type { SourceUses } from './python/source-uses.ts';
import { type TranslatedValue, shownValue, type Value, ValueMap } from './value.ts';
import { trimEnd } from '../../../lib/trim.ts';

export interface ImportDltOptions {
  /** For messages. */
  readonly file: string;
  /** Name of the configuration. */
  readonly name: string;
  /** Values of settings by their names. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Takes over a `rest_api` source of the library dlt: JSON, or a Python file in which it is a dictionary that is written
 * out. A resource becomes a job, its dependent resources become children of that job, and each job at the top has a row.
 *
 * @throws {RunError} `import.invalid` for a file in which there is no such source
 */
export function importDlt(text: string, { file, name, settings: given }: ImportDltOptions): Imported {
  const { sources, strange, changes, uses } = findSources(text, file);
  const settings = new SourceSettings(given);
  const ids = new Set<string>();
  const names = new Set<string>();
  const all = sources.map((source) =>
    takeSource(source, { file, changes, uses, settings, ids, names, isAlone: sources.length === 1 }),
  );
  const [only] = all;
  const bucket = plainName(name);
  return {
    configuration: {
      name,
      configuration: {
        parameters: {
          api: { name: bucket, ...(all.length === 1 ? only?.api : {}) },
          config: { outputBucket: bucket, ...settings.entries() },
        },
      },
      rows: all.flatMap(({ rows }) => rows),
    },
    report: {
      source: file,
      streams: [
        ...all.flatMap(({ streams }) => streams),
        ...strange.map(({ value, line }) =>
          lost(`source in line ${line}`, `line ${line}`, 'A source that is Python code', value),
        ),
      ],
      settings: settings.open(),
      notes: [
        'The library writes names of columns and tables in snake case, with __ between the levels, and adds columns that begin with _dlt. Here they are as the API has them.',
      ],
    },
  };
}

interface SourceContext {
  readonly file: string;
  /** Why nothing of it can be relied on. */
  readonly changes: readonly string[];
  readonly uses: SourceUses;
  readonly settings: SourceSettings;
  /** Ids of rows that are taken. */
  readonly ids: Set<string>;
  /** Names of resources that other sources have. */
  readonly names: Set<string>;
  /** True where its client is that of the whole configuration. */
  readonly isAlone: boolean;
}

interface TakenSource {
  /** `parameters.api`, for a source that is alone. */
  readonly api: Readonly<Record<string, TranslatedValue>>;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly streams: readonly StreamReport[];
}

function takeSource(
  source: ValueMap,
  { file, changes, uses, settings, ids, names, isAlone }: SourceContext,
): TakenSource {
  const whole = new SourceFindings();
  for (const change of changes) whole.not(file, `The source is changed after it was written. ${change}`);
  for (const code of source.open) whole.not(file, 'Keys of the source that code makes', code);
  const given = source.get('client');
  const client = given instanceof ValueMap ? given : new ValueMap([]);
  if (!(given instanceof ValueMap)) whole.not('client', 'A client that code makes', given);
  const { headers, ...address } = clientOf(client, settings, whole);
  const { resources, strange } = readResources(source, uses);
  for (const { name, at, findings } of resources) {
    if (names.has(name))
      findings.not(
        at,
        'Another source of the file has a resource of this name, and their tables would be one',
      );
    names.add(name);
  }
  const tree = new Tree(resources, { settings, whole, client });
  const http = {
    ...(headers === undefined ? {} : { headers }),
    ...(tree.sendsLists ? { lists: 'repeated' } : {}),
  };
  const api = { ...address, ...(Object.keys(http).length === 0 ? {} : { http }) };
  const rows = tree.rows(ids, isAlone ? {} : api, isAlone);
  const { authentication } = tree;
  return {
    api: { ...api, ...(authentication === undefined ? {} : { authentication }) },
    rows,
    streams: [
      ...tree.reports(),
      ...strange.map(({ name, at, value }) => lost(name, at, 'A resource that is Python code', value)),
    ],
  };
}

function lost(stream: string, path: string, message: string, value: Value): StreamReport {
  return {
    stream,
    outcome: 'not',
    columns: [],
    reasons: [{ path, message, template: shownValue(value) }],
    notes: [],
  };
}

/** Reads the client, which all resources share; authentication is with the rows, since one may have its own. */
function clientOf(
  client: ValueMap,
  settings: SourceSettings,
  whole: SourceFindings,
): Record<string, TranslatedValue> {
  for (const code of client.open) whole.not('client', 'Keys of the client that code makes', code);
  const session = client.get('session');
  if (session !== undefined && session !== null)
    whole.not('client.session', 'No counterpart: a session of its own', session);
  const address = whole.attempt('client.base_url', () => scalarOut(client.get('base_url'), settings));
  const baseUrl = typeof address === 'string' ? `${trimEnd(address, '/')}/` : address;
  const headers =
    whole.attempt('client.headers', () =>
      filledMap(client.get('headers'), (field) => `{${field}}`, settings),
    ) ?? {};
  return {
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

interface TreeContext {
  readonly settings: SourceSettings;
  /** Findings about the whole source. */
  readonly whole: SourceFindings;
  readonly client: ValueMap;
}

interface Taken {
  readonly resource: Resource;
  readonly job: ResourceJob;
  readonly names: readonly string[];
  readonly parentColumns: readonly string[];
  readonly included: ReadonlyMap<string, string | undefined>;
  readonly shape: RowShape;
  readonly where: readonly TranslatedValue[];
  readonly authentication: TranslatedValue | undefined;
  readonly parent: Taken | undefined;
  /** True where it, and all above it, are taken over without a difference. */
  readonly isWhole: boolean;
  row: string | undefined;
}

/** Resources below those that they depend on. */
class Tree {
  readonly #resources: readonly Resource[];
  readonly #context: TreeContext;
  readonly #taken = new Map<string, Taken>();

  constructor(resources: readonly Resource[], context: TreeContext) {
    this.#resources = resources;
    this.#context = context;
    for (const resource of resources) this.#take(resource, []);
  }

  /**
   * Returns the rows of the configuration: one for each job at the top, and a disabled one for each resource that
   * differs.
   */
  rows(
    ids: Set<string>,
    api: Readonly<Record<string, TranslatedValue>>,
    isAlone: boolean,
  ): readonly Readonly<Record<string, unknown>>[] {
    const isOwn = !isAlone || this.authentication === undefined;
    const all = [...this.#taken.values()];
    return all.flatMap((taken) => {
      const isRun = taken.isWhole && this.#isRun(taken);
      const isApart = this.#isApart(taken);
      if (isRun && taken.parent !== undefined && !isApart) return [];
      if (isRun && isApart)
        taken.resource.findings.note(
          'It has a row of its own, as its table is written in another way than the first one above it: what is above it is asked for in each of the two.',
        );
      const id = rowId(taken.resource.name, ids);
      taken.row = id;
      const jobs = isRun
        ? underParents(this.#withChildren(taken), taken.parent, true)
        : underParents(taken.job, taken.parent);
      const writer = this.#writer(taken);
      for (const below of isRun ? this.#below(taken) : []) {
        below.row = id;
        if (isSelected(below)) tellMixed(below.resource, writer);
      }
      return [
        rowOf(
          taken,
          writer,
          id,
          jobs,
          isRun
            ? undefined
            : taken.isWhole
              ? 'It is not selected in the source.'
              : `Not the same as it was: ${this.#reasonsOf(taken)
                  .map(({ message }) => message)
                  .join('; ')}`,
          isOwn
            ? taken.authentication === undefined
              ? api
              : { ...api, authentication: taken.authentication }
            : api,
        ),
      ];
    });
  }

  /** Tells whether a parameter of any of them is a list. */
  get sendsLists(): boolean {
    return [...this.#taken.values()].some(({ job }) =>
      [job['params'], job['query']].some(
        (sent) => typeof sent === 'object' && sent !== null && Object.values(sent).some(Array.isArray),
      ),
    );
  }

  reports(): readonly StreamReport[] {
    for (const taken of this.#taken.values()) tellParent(taken);
    return [...this.#taken.values()].map((taken) => {
      const { resource, isWhole, row } = taken;
      const { name, findings } = resource;
      return {
        stream: name,
        outcome: isWhole ? findings.outcome : 'not',
        ...(row === undefined ? {} : { row }),
        columns: findings.columns,
        reasons: this.#reasonsOf(taken),
        notes: findings.notes,
      };
    });
  }

  /** The authentication of all of them, where they have the same. */
  get authentication(): TranslatedValue | undefined {
    const [first, ...others] = [...this.#taken.values()];
    const isCommon = others.every(
      ({ authentication }) => JSON.stringify(authentication) === JSON.stringify(first?.authentication),
    );
    return isCommon ? first?.authentication : undefined;
  }

  #reasonsOf({ resource: { findings }, parent }: Taken): readonly ImportReason[] {
    const above =
      parent === undefined || parent.isWhole
        ? []
        : [{ path: 'resources', message: `Its parent “${parent.resource.name}” can't be taken over` }];
    return [...findings.reasons, ...this.#context.whole.reasons, ...above];
  }

  #take(resource: Resource, above: readonly string[]): Taken {
    const known = this.#taken.get(resource.name);
    if (known !== undefined) return known;
    const { findings, at } = resource;
    const { settings, whole, client } = this.#context;
    const parent = this.#parentOf(resource, above);
    const {
      job: asked,
      names,
      parentColumns,
      included,
      shape,
      where,
    } = jobOf(resource, { settings, paginator: client.get('paginator'), above: parent });
    const job = { ...asked, ...keyOf(resource) };
    const own = resource.endpoint.get('auth');
    const authentication = findings.attempt(own === undefined ? 'client.auth' : `${at}.endpoint.auth`, () =>
      // None of its own is none at all
      readAuth(own === undefined ? client.get('auth') : own, settings),
    );
    readHints(resource);
    if (parent !== undefined && JSON.stringify(parent.authentication) !== JSON.stringify(authentication))
      findings.not(`${at}.endpoint.auth`, 'No counterpart: a parent that is authenticated in another way');
    const isWhole =
      findings.reasons.length === 0 && whole.reasons.length === 0 && (parent === undefined || parent.isWhole);
    const taken: Taken = {
      resource,
      job,
      names,
      parentColumns,
      included,
      shape,
      where,
      authentication,
      parent,
      isWhole,
      row: undefined,
    };
    this.#taken.set(resource.name, taken);
    return taken;
  }

  #parentOf({ parent, name, findings, at }: Resource, above: readonly string[]): Taken | undefined {
    if (parent === undefined) return undefined;
    const found = this.#resources.find((other) => other.name === parent);
    if (found === undefined) findings.not(`${at}.endpoint`, `There is no resource “${parent}”`);
    else if (above.includes(parent) || parent === name)
      findings.not(`${at}.endpoint`, 'Resources depend on each other in a circle');
    else return this.#take(found, [...above, name]);
    return undefined;
  }

  /** Tells whether any table is made of a resource or those below it in its row. */
  #isRun(taken: Taken): boolean {
    return isSelected(taken) || this.#children(taken).length > 0;
  }

  /** Returns those below a resource that share its row. */
  #children(taken: Taken): readonly Taken[] {
    return [...this.#taken.values()].filter(
      (child) => child.parent === taken && child.isWhole && this.#isRun(child) && !this.#isApart(child),
    );
  }

  #below(taken: Taken): readonly Taken[] {
    return this.#children(taken).flatMap((child) => [child, ...this.#below(child)]);
  }

  /** Returns the resource of a row whose write disposition is that of the row: the first one with a table. */
  #writer(taken: Taken): Resource {
    const written = [taken, ...this.#below(taken)].find(isSelected);
    return (written ?? taken).resource;
  }

  /**
   * Tells whether a resource has a row of its own although it is below another one: a row adds to all of its tables, or
   * replaces all of them.
   */
  #isApart(taken: Taken): boolean {
    const { parent, resource } = taken;
    if (parent === undefined || !isSelected(taken)) return false;
    // what a state gives can't take the place of a table
    if (!addsRows(resource) && hasState(taken)) return false;
    let top = parent;
    while (top.parent !== undefined && !this.#isApart(top)) top = top.parent;
    return addsRows(resource) !== addsRows(this.#firstWritten(top).resource);
  }

  /** Returns the first resource with a table, of one and all that are below it. */
  #firstWritten(taken: Taken): Taken {
    const all = [...this.#taken.values()];
    const found = (each: Taken): Taken | undefined =>
      isSelected(each)
        ? each
        : all.flatMap((child) => (child.parent === each ? (found(child) ?? []) : [])).at(0);
    return found(taken) ?? taken;
  }

  #withChildren(taken: Taken): ResourceJob {
    const children = this.#children(taken).map((child) => this.#withChildren(child));
    return {
      ...taken.job,
      ...(isSelected(taken) ? {} : { table: false }),
      ...(children.length === 0 ? {} : { children }),
    };
  }
}

/** Reports rows that are below other rows of the parent. */
function tellParent({ parent, resource: { findings } }: Taken): void {
  if (parent === undefined) return;
  tellParent(parent);
  const { outcome } = parent.resource.findings;
  const { name } = parent.resource;
  if (outcome === 'more rows')
    findings.moreRows(`Its rows are asked for below those of “${name}”, which has more rows.`);
  if (outcome === 'other rows')
    findings.otherRows(`Its rows are asked for below those of “${name}”, which may have other rows.`);
}

/** Reports a table that is written in another way than the first one of its row. */
function tellMixed(resource: Resource, writer: Resource): void {
  if (addsRows(resource) === addsRows(writer)) return;
  resource.findings.otherRows(
    `Its table is written as that of “${writer.name}” is, with which it shares a row: ${addsRows(writer) ? 'rows are added to it, and there they replace it' : 'rows replace it, and there they are added to it'}.`,
  );
}

/** Tells whether a resource, or one above it, has a state. */
function hasState({ job, parent }: Taken): boolean {
  return 'incremental' in job || (parent !== undefined && hasState(parent));
}

function isSelected({ resource }: Taken): boolean {
  return resource.map.get('selected') !== false;
}

/** Returns a job with those above it; without their tables where they are written in another row. */
function underParents(job: ResourceJob, parent: Taken | undefined, isApart = false): ResourceJob {
  let whole = job;
  for (let above = parent; above !== undefined; above = above.parent)
    whole = { ...above.job, ...(isApart ? { table: false } : {}), children: [whole] };
  return whole;
}

/** @param writer the resource whose table is written as the row says */
function rowOf(
  { resource }: Taken,
  writer: Resource,
  id: string,
  job: ResourceJob,
  whyDisabled: string | undefined,
  api: Readonly<Record<string, TranslatedValue>>,
): Readonly<Record<string, unknown>> {
  const { name } = resource;
  return {
    id,
    name,
    ...(whyDisabled === undefined ? {} : { description: whyDisabled, isDisabled: true }),
    configuration: {
      parameters: {
        ...(Object.keys(api).length === 0 ? {} : { api }),
        config: { ...(addsRows(writer) ? { incrementalOutput: true } : {}), jobs: [job] },
      },
    },
  };
}
