import type { Context } from '../context.ts';
import { keyOf } from '../../stores/metadata/configuration-key.ts';
import type { LoadedConfiguration, LoadedRow, StateWriter } from '../configurations/model.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { Author, ConfigurationVersionRow, RowVersionRow, RunRow } from '../../stores/metadata/tables.ts';

/** Author of a part of the data that a run uses. */
export interface Maker extends Author {
  /** The part, as the end of a sentence: `which …`. */
  readonly did: string;
}

/** Configuration that a run uses, with its rows. */
export interface ConfigurationOfRun extends LoadedConfiguration {
  readonly rows: readonly LoadedRow[];
}

/**
 * Returns the authors whose permissions a run needs beside those of its requester: otherwise, a user who may change a
 * configuration could use the permissions of anyone who runs it. The requester answers for the content at the time of
 * the request; a schedule may run content that nobody has checked.
 *
 * @param rows ids of the rows that run
 */
export async function makersOf(
  { meta }: Pick<Context, 'meta'>,
  run: Pick<RunRow, 'approved_id' | 'creator_id'>,
  { whole, rows }: { readonly whole: ConfigurationOfRun; readonly rows: readonly string[] },
): Promise<readonly Maker[]> {
  const ran = whole.rows.filter(({ head }) => rows.includes(head.row_id));
  const versions = run.approved_id === null ? await makersOfVersion(meta, whole.version, ran) : [];
  const states = [
    writerOf(whole.head, 'set the state of the configuration', run),
    ...ran.map(({ head }) => writerOf(head, `set the state of the row “${head.row_id}”`, run)),
  ];
  const first = new Map<number, Maker>();
  for (const maker of [...versions, ...states])
    if (maker !== undefined && !first.has(maker.creator_id)) first.set(maker.creator_id, maker);
  first.delete(run.creator_id);
  return [...first.values()];
}

async function makersOfVersion(
  meta: Meta,
  version: ConfigurationVersionRow,
  rows: readonly LoadedRow[],
): Promise<readonly Maker[]> {
  const content = await contentMaker(meta, version);
  const ofRows = await Promise.all(rows.map(async (row) => await makersOfRow(meta, row)));
  return [
    makerOf(version, `made version ${version.version} of the configuration`),
    makerOf(content, `gave the configuration its content, in version ${content.version}`),
    ...ofRows.flat(),
  ];
}

async function makersOfRow(meta: Meta, { version }: LoadedRow): Promise<readonly Maker[]> {
  const content = await rowContentMaker(meta, version);
  return [
    makerOf(version, `made version ${version.version} of the row “${version.row_id}”`),
    makerOf(content, `gave the row “${version.row_id}” its content, in version ${content.version}`),
  ];
}

/** Returns the version that introduced the content: after a rollback, the one that restored it. */
async function contentMaker(meta: Meta, version: ConfigurationVersionRow): Promise<ConfigurationVersionRow> {
  const ofIt = meta.selectFrom('configuration_versions').where((where) => where.and(keyOf(version)));
  const other = await ofIt
    .select('version')
    .where('version', '<', version.version)
    .where('content_version', '!=', version.content_version)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return await ofIt
    .selectAll()
    .where('version', '>', other?.version ?? 0)
    .orderBy('version')
    .limit(1)
    .executeTakeFirstOrThrow();
}

/** As {@link contentMaker}, for a row: a version of it has its content even where only its name changed. */
async function rowContentMaker(meta: Meta, version: RowVersionRow): Promise<RowVersionRow> {
  const ofIt = meta
    .selectFrom('row_versions')
    .where((where) => where.and({ ...keyOf(version), row_id: version.row_id }));
  const other = await ofIt
    .select('version')
    .where('version', '<', version.version)
    .where('configuration', '!=', version.configuration)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return await ofIt
    .selectAll()
    .where('version', '>', other?.version ?? 0)
    .orderBy('version')
    .limit(1)
    .executeTakeFirstOrThrow();
}

function writerOf(
  { state_writer }: { readonly state_writer: string | null },
  did: string,
  { approved_id }: Pick<RunRow, 'approved_id'>,
): Maker | undefined {
  if (state_writer === null) return undefined;
  // Written by this service.
  const writer = JSON.parse(state_writer) as StateWriter;
  return approved_id === null || writer.at > approved_id ? makerOf(writer, did) : undefined;
}

const makerOf = ({ creator_id, creator_description }: Author, did: string): Maker => ({
  creator_id,
  creator_description,
  did,
});
