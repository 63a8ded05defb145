import { RawJson, type Reply } from '../reply.ts';
import { sortOrder, type LoadedConfiguration, type LoadedRow } from '../configurations/model.ts';
import type { Author, ConfigurationVersionRow, RowVersionRow } from '../../stores/metadata/tables.ts';
import { rowConfiguration } from '../configurations/row-model.ts';
import { apiTime } from './time.ts';

type Shape = Record<string, Reply>;

const creatorReply = (author: Author): Shape => ({
  id: author.creator_id,
  description: author.creator_description,
});

/** A configuration with the parts that are shown. */
interface Listed extends LoadedConfiguration {
  /** JSON text. */
  readonly configuration?: string;
  readonly rows?: readonly LoadedRow[];
}

/** A configuration; content and rows are left out when they were not loaded, and then rows have none. */
export function configurationReply(
  { head, version, configuration, rows }: Listed,
  { withState }: { withState: boolean },
): Shape {
  const shown = { withContent: configuration !== undefined, withState };
  return {
    id: head.configuration_id,
    name: version.name,
    description: version.description,
    created: apiTime(head.created),
    creatorToken: creatorReply(head),
    version: head.version,
    changeDescription: version.change_description,
    isDisabled: version.is_disabled === 1,
    isDeleted: head.is_deleted === 1,
    ...(configuration === undefined ? {} : { configuration: new RawJson(configuration) }),
    rowsSortOrder: sortOrder(head),
    ...(rows === undefined ? {} : { rows: rows.map((row) => rowReply(row, shown)) }),
    ...(withState ? { state: new RawJson(head.state) } : {}),
    currentVersion: {
      created: apiTime(version.created),
      creatorToken: creatorReply(version),
      changeDescription: version.change_description,
      versionIdentifier: version.identifier,
    },
  };
}

export function rowReply(
  { head, version }: LoadedRow,
  { withContent, withState }: { withContent: boolean; withState: boolean },
): Shape {
  return {
    id: head.row_id,
    name: version.name,
    description: version.description,
    ...(withContent ? { configuration: new RawJson(rowConfiguration(version)) } : {}),
    isDisabled: version.is_disabled === 1,
    version: head.version,
    created: apiTime(head.created),
    creatorToken: creatorReply(head),
    changeDescription: version.change_description,
    ...(withState ? { state: new RawJson(head.state) } : {}),
    versionIdentifier: version.identifier,
  };
}

/** An item of the list of versions; `configuration` is its content when it was asked for. */
export function versionReply(
  version: ConfigurationVersionRow,
  include: readonly string[],
  configuration: string | undefined,
): Shape {
  return {
    version: version.version,
    ...changeReply(version),
    isDeleted: version.is_deleted === 1,
    ...(include.includes('name') ? { name: version.name } : {}),
    ...(include.includes('description') ? { description: version.description } : {}),
    ...(configuration === undefined ? {} : { configuration: new RawJson(configuration) }),
  };
}

/** One version in full; no version shows a state. */
export function versionDetailReply(
  version: ConfigurationVersionRow,
  configuration: string,
  rows: readonly RowVersionRow[],
  rowsSortOrder: readonly string[],
): Shape {
  return {
    ...versionReply(version, ['name', 'description'], configuration),
    isDisabled: version.is_disabled === 1,
    rowsSortOrder,
    rows: rows.map((row) => ({ id: row.row_id, ...rowVersionReply(row, true) })),
  };
}

export function rowVersionReply(version: RowVersionRow, withContent: boolean): Shape {
  return {
    version: version.version,
    name: version.name,
    description: version.description,
    isDisabled: version.is_disabled === 1,
    ...changeReply(version),
    ...(withContent ? { configuration: new RawJson(rowConfiguration(version)) } : {}),
  };
}

function changeReply(version: ConfigurationVersionRow | RowVersionRow): Shape {
  return {
    created: apiTime(version.created),
    creatorToken: creatorReply(version),
    changeDescription: version.change_description,
    versionIdentifier: version.identifier,
  };
}
