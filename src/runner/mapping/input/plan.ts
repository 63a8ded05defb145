import type { File } from '../../../storage/client/index.ts';
import type { ProcessedFile } from '../mapping-types.ts';
import { chooseFiles } from './choose-files.ts';
import type { PullContext } from './context.ts';
import { entryOf } from './entry.ts';
import { readFileMappings, type InputFileMapping } from './file-mapping.ts';
import { savedName } from './file-name.ts';
import { findTable, type FoundTable } from './find-table.ts';
import type { InputFolder } from './input-folder.ts';
import { mapConcurrent } from './lanes.ts';
import { createProblems } from './problems.ts';
import type { RememberedFiles } from './next-state.ts';
import { readInputState } from './state.ts';
import { readTableMappings, type InputTableMapping } from './table-mapping.ts';

/** Tables and files to be fetched, with the results of their look-up. */
export interface InputPlan {
  readonly tables: readonly PlannedInputTable[];
  /** Each file once, also where several entries mean it. */
  readonly files: readonly PlannedInputFile[];
  readonly processed: readonly ProcessedFile[];
  /** Adaptive choices of files, as the state is to have them when the row has succeeded. */
  readonly remembered: readonly RememberedFiles[];
}

export interface PlannedInputTable {
  readonly mapping: InputTableMapping;
  readonly found: FoundTable;
  /** Only rows that changed since. */
  readonly since: string | undefined;
}

export interface PlannedInputFile {
  readonly path: string;
  readonly file: File;
  /** Name in `in/files`. */
  readonly name: string;
}

const LOOK_UPS = 4;

/**
 * Reads the mapping and asks the storage for the tables and files it names; fetches nothing.
 *
 * @throws {MappingError} `input.invalid` with all problems at once
 */
export async function planInputs(context: PullContext, folder: InputFolder): Promise<InputPlan> {
  const { mapping, connection, origin, env, log, runId, signal } = context;
  const { client, production } = connection;
  const problems = createProblems();
  const input = entryOf(mapping, 'storage.input', problems);
  const tables = readTableMappings(input, (message) => log.warn(message));
  const files = readFileMappings(input, env.now());
  const isAdaptive = [...tables, ...files].some((each) => each.isAdaptive);
  const state = readInputState(isAdaptive ? context.state : undefined, problems);

  const places = { client, branch: origin.branch, production };
  const found = await mapConcurrent(tables, LOOK_UPS, signal, async (each) => {
    const table = await findTable(each, places);
    const since = each.isAdaptive ? state.lastImportDate(each.source) : each.changedSince;
    return table === undefined ? [] : [{ mapping: each, found: table, since }];
  });
  const chosen = await mapConcurrent(files, LOOK_UPS, signal, async (each) => {
    if (problems.hasAt(each.entry.path)) return { mapping: each, files: [], waiting: 0 };
    const lastImportId = state.lastImportId(each.stateTags);
    return { mapping: each, ...(await chooseFiles(each, { client, runId, lastImportId, signal })) };
  });
  const planned = uniqueFiles(chosen, folder);
  problems.throwIfAny();

  for (const { mapping: each, waiting } of chosen)
    if (waiting > 0) log.info(`${waiting} new files wait for the next run`, { path: each.entry.path });
  return {
    tables: found.flat(),
    files: planned,
    processed: processedOf(chosen),
    remembered: chosen
      .filter((each) => each.mapping.isAdaptive)
      .map(({ mapping: { stateTags }, files: taken }) => ({
        tags: stateTags,
        lastImportId:
          taken.length > 0 ? Math.max(...taken.map(({ id }) => id)) : state.lastImportId(stateTags),
      })),
  };
}

interface Chosen {
  readonly mapping: InputFileMapping;
  readonly files: readonly File[];
}

function uniqueFiles(chosen: readonly Chosen[], folder: InputFolder): readonly PlannedInputFile[] {
  const planned = new Map<number, PlannedInputFile>();
  for (const { mapping, files } of chosen) {
    for (const file of files) {
      const name = savedName(file.id, file.name);
      if (!mapping.mayOverwrite && folder.hasOwn('files', name))
        mapping.entry.wrong(
          'overwrite',
          `in/files/${name} is there already, and must not be overwritten.`,
          'Move it away, or leave `overwrite` out.',
        );
      if (!planned.has(file.id)) planned.set(file.id, { path: mapping.entry.path, file, name });
    }
  }
  return [...planned.values()];
}

function processedOf(chosen: readonly Chosen[]): readonly ProcessedFile[] {
  const tags = new Map<number, Set<string>>();
  for (const { mapping, files } of chosen) {
    if (mapping.processedTags.length === 0) continue;
    for (const { id } of files) tags.set(id, new Set([...(tags.get(id) ?? []), ...mapping.processedTags]));
  }
  return [...tags].map(([fileId, names]) => ({ fileId, tags: [...names] }));
}
