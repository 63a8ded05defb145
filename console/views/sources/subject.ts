import { client, type Configuration, type ConfigurationRow } from '../../data/client.ts';
import { invalidate } from '../../data/query.ts';
import { pretty } from '../../data/pretty.ts';
import type { Json } from '../../../src/lib/json/value.ts';
import { encodeExact } from '../../../src/lib/json/encode.ts';
import { jsonOf } from './document.ts';
import { named } from './difference.ts';

/** Properties of a configuration or a row that may be changed. */
export interface Changes {
  readonly name?: string;
  readonly description?: string;
  readonly isDisabled?: boolean;
  readonly configuration?: Json;
  readonly changeDescription?: string;
  readonly ifVersion?: number;
}

/** Stored properties that configurations and rows share. */
export interface Stored {
  readonly version: number;
  readonly configuration: Json;
  /** Author and time of this version. */
  readonly by: string;
  readonly at: string;
}

export interface VersionInfo {
  readonly version: number;
  readonly created: string;
  readonly by: string;
  readonly note: string;
}

/** A configuration or one of its rows: what the editors, the states and the versions work on. */
export interface Subject {
  readonly kind: 'row' | 'source';
  readonly name: string;
  readonly stored: Stored;
  readonly state: Json;
  read(): Promise<Stored>;
  update(changes: Changes): Promise<Stored>;
  updateState(state: Json): Promise<void>;
  versions(offset: number, limit: number): Promise<VersionInfo[]>;
  /** Loads everything in a version that can be compared. */
  version(version: number): Promise<Json>;
  rollback(version: number, note: string): Promise<void>;
  /** Completes the edited text to the one to check: returns it with the number of lines before the edited part. */
  whole(text: string): { readonly text: string; readonly linesBefore: number };
  /** Completes the edited configuration to the document of a trial, and names the row to run, if it is one. */
  trial(configuration: Json): { readonly document: Json; readonly row?: string };
}

function storedOf(of: Configuration): Stored {
  const { version, configuration, currentVersion } = of;
  return {
    version,
    configuration: jsonOf(configuration),
    by: currentVersion.creatorToken.description,
    at: currentVersion.created,
  };
}

const storedRow = ({ version, configuration, creatorToken, created }: ConfigurationRow): Stored => ({
  version,
  configuration: jsonOf(configuration),
  by: creatorToken.description,
  at: created,
});

export function sourceSubject(component: string, source: Configuration): Subject {
  const group = client().configurations(component);
  const { id } = source;
  return {
    kind: 'source',
    name: source.name,
    stored: storedOf(source),
    state: jsonOf(source.state),
    read: async () => storedOf(await group.detail(id)),
    async update(changes) {
      const done = await group.update(id, changes);
      await invalidate('sources');
      return storedOf(done);
    },
    async updateState(state) {
      await group.updateState(id, state);
      await invalidate('sources');
    },
    versions: async (offset, limit) => (await group.versions(id, { offset, limit })).map(infoOf),
    async version(version) {
      const found = await group.version(id, version);
      return named([
        ['name', found.name],
        ['description', found.description],
        ['isDisabled', found.isDisabled],
        ['configuration', jsonOf(found.configuration)],
        ['rows', named((found.rows ?? []).map((row) => [row.id, comparable(row)]))],
        ['rowsSortOrder', [...(found.rowsSortOrder ?? [])]],
      ]);
    },
    async rollback(version, note) {
      await group.rollback(id, version, noteOf(note));
      await invalidate('sources');
    },
    whole: (text) => ({ text, linesBefore: 0 }),
    trial: (configuration) => ({
      document: named([
        ['configuration', configuration],
        ['rows', source.rows.map((row) => rowJson(row))],
      ]),
    }),
  };
}

const rowJson = (row: ConfigurationRow, configuration = jsonOf(row.configuration)): Json =>
  named([
    ['id', row.id],
    ['isDisabled', row.isDisabled],
    ['configuration', configuration],
  ]);

export function rowSubject(component: string, source: Configuration, row: ConfigurationRow): Subject {
  const group = client().configurations(component).rows(source.id);
  const { id } = row;
  return {
    kind: 'row',
    name: row.name === '' ? row.id : row.name,
    stored: storedRow(row),
    state: jsonOf(row.state),
    read: async () => storedRow(await group.detail(id)),
    async update(changes) {
      const done = await group.update(id, changes);
      await invalidate('sources');
      return storedRow(done);
    },
    async updateState(state) {
      await group.updateState(id, state);
      await invalidate('sources');
    },
    versions: async (offset, limit) => (await group.versions(id, { offset, limit })).map(infoOf),
    version: async (version) => comparable(await group.version(id, version)),
    async rollback(version, note) {
      await group.rollback(id, version, noteOf(note));
      await invalidate('sources');
    },
    whole(text) {
      const before = `{"configuration":${encodeExact(jsonOf(source.configuration))},"rows":[{"id":${JSON.stringify(id)},"configuration":\n`;
      return { text: `${before}${text}\n}]}`, linesBefore: 1 };
    },
    trial: (configuration) => ({
      document: named([
        ['configuration', jsonOf(source.configuration)],
        ['rows', [rowJson(row, configuration)]],
      ]),
      row: id,
    }),
  };
}

function comparable(row: {
  readonly name: string;
  readonly description: string;
  readonly isDisabled: boolean;
  readonly configuration?: unknown;
}): Json {
  return named([
    ['name', row.name],
    ['description', row.description],
    ['isDisabled', row.isDisabled],
    ['configuration', jsonOf(row.configuration)],
  ]);
}

function infoOf(version: {
  readonly version: number;
  readonly created: string;
  readonly creatorToken: { readonly description: string };
  readonly changeDescription: string;
}): VersionInfo {
  const { created, changeDescription, creatorToken } = version;
  return { version: version.version, created, by: creatorToken.description, note: changeDescription };
}

const noteOf = (note: string): { changeDescription?: string } =>
  note === '' ? {} : { changeDescription: note };

export const textOf = ({ configuration }: Stored): string => pretty(configuration);
