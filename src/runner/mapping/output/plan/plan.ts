import path from 'node:path';
import type { AnyObject } from '../../../../lib/json/index.ts';
import { nearest } from '../../../../lib/suggest.ts';
import type { Origin } from '../../mapping-types.ts';
import { shapeOf } from '../../shape.ts';
import { bucketIdProblem, defaultBucketOf } from './destination.ts';
import { readManifest, type OutputFindings } from './manifest.ts';
import { mergeSettings } from './merge.ts';
import { FileManifest, OutputMapping, TableManifest, type OutputTableMapping } from './plan-options.ts';
import type { OutputPlan, PlannedOutputTable } from './planned.ts';
import { planFile } from './plan-file.ts';
import { planTable } from './plan-table.ts';
import { refuse } from './problems.ts';
import { checkSharedDestinations } from './shared-destination.ts';
import { settingsOf, type PushTableSettings } from './plan-settings.ts';
import { findSources, type OutputSource } from './sources.ts';

export type * from './planned.ts';

export interface PushPlanOptions {
  /** The folder with `tables/` and `files/`; either may be absent. */
  readonly out: string;
  /** `storage.output` of the effective configuration. */
  readonly mapping: AnyObject;
  readonly origin: Origin;
  /** Returns the new destination of a table whose manifest was written before its bucket was renamed. */
  readonly moved?: ((destination: string) => string) | undefined;
}

/**
 * Reads what a run left behind and how it is mapped. Nothing is asked of the storage; of a file,
 * only its first line is read.
 *
 * @throws {MappingError} `push.invalid` with all problems at once
 */
export async function planOutputs({
  out,
  mapping: given,
  origin,
  moved = (destination) => destination,
}: PushPlanOptions): Promise<OutputPlan> {
  const mapping = readMapping(given, out);
  const findings: OutputFindings = { problems: [], warnings: [] };
  const defaultBucket = mapping.default_bucket || defaultBucketOf(origin);
  const bucketProblem = bucketIdProblem(defaultBucket);
  if (bucketProblem !== undefined)
    findings.problems.push({
      message: `The default bucket cannot be used: ${bucketProblem}.`,
      where: { path: 'storage.output.default_bucket' },
      hint: 'Give one as storage.output.default_bucket, such as in.c-main.',
    });
  const sources = findSources(path.join(out, 'tables'), 'table', findings.problems);
  checkMapped(mapping.tables ?? [], { sources, kind: 'table', findings });
  const tables: PlannedOutputTable[] = [];
  for (const source of sources)
    for (const each of settingsFor(source, mapping.tables ?? [], findings)) {
      const { destination } = each.settings;
      const settings =
        destination === undefined || each.mapped !== undefined
          ? each.settings
          : { ...each.settings, destination: moved(destination) };
      const planned = await planTable({ source, ...each, settings, defaultBucket }, findings);
      if (planned !== undefined) tables.push(planned);
    }
  checkSharedDestinations(tables, findings.problems);
  const fileSources = findSources(path.join(out, 'files'), 'file', findings.problems);
  checkMapped(mapping.files ?? [], { sources: fileSources, kind: 'file', findings });
  const files = fileSources.map((source) => {
    const manifest = readManifest(FileManifest, source.manifest, findings);
    const mapped = (mapping.files ?? []).filter((each) => each.source === source.name);
    return planFile(source, [manifest ?? {}, ...mapped]);
  });
  refuse(findings.problems, out);
  return { tables, files, warnings: findings.warnings };
}

function readMapping(given: AnyObject, out: string): OutputMapping {
  const shaped = shapeOf(OutputMapping, given);
  if ('value' in shaped) return shaped.value;
  refuse(
    shaped.misfits.map(({ path: at, message }) => ({
      message: `The output mapping ${message}.`,
      where: { path: `storage.output${at === '' ? '' : `.${at}`}` },
    })),
    out,
  );
  return {};
}

/** Returns the source of a mapping; without one it is the file with the name of its destination. */
function sourceOf({ source = '', destination = '' }: OutputTableMapping): string {
  return source === '' ? destination : source;
}

/**
 * Returns the settings of a source: each of its mappings merged into the manifest; the manifest alone when there is no
 * mapping.
 */
function settingsFor(
  source: OutputSource,
  mappings: readonly OutputTableMapping[],
  findings: OutputFindings,
): { readonly settings: PushTableSettings; readonly mapped: string | undefined }[] {
  const manifest = settingsOf(readManifest(TableManifest, source.manifest, findings) ?? {});
  if (typeof manifest === 'string') {
    findings.problems.push({
      message: `The manifest ${manifest}.`,
      where: { file: source.manifest ?? source.path },
    });
    return [];
  }
  const own = mappings.flatMap((mapping, i) => (sourceOf(mapping) === source.name ? [{ mapping, i }] : []));
  if (own.length === 0) return [{ settings: manifest, mapped: undefined }];
  return own.flatMap(({ mapping, i }) => {
    const settings = settingsOf(mapping);
    if (typeof settings !== 'string')
      return [{ settings: mergeSettings(manifest, settings), mapped: mapping.destination }];
    findings.problems.push({
      message: `The output mapping ${settings}.`,
      where: { path: `storage.output.tables[${i}]` },
    });
    return [];
  });
}

function checkMapped(
  mappings: readonly OutputTableMapping[],
  {
    sources,
    kind,
    findings,
  }: {
    readonly sources: readonly OutputSource[];
    readonly kind: 'file' | 'table';
    readonly findings: OutputFindings;
  },
): void {
  const names = sources.map(({ name }) => name);
  for (const [i, mapping] of mappings.entries()) {
    const source = sourceOf(mapping);
    if (names.includes(source)) continue;
    const meant = nearest(source, names) ?? names.find((name) => isShortFor(source, name));
    const folder = kind === 'table' ? 'out/tables' : 'out/files';
    findings.problems.push({
      message: `${kind === 'table' ? 'Table' : 'File'} sources not found: "${source}"`,
      where: { path: `storage.output.${kind}s[${i}].source` },
      hint:
        source === ''
          ? 'Give the name of a file as “source”, or a “destination”.'
          : meant === undefined
            ? `There is no such file in ${folder}${names.length === 0 ? ', which is empty' : `: it has ${names.slice(0, 20).join(', ')}`}.`
            : `Did you mean “${meant}”?`,
    });
  }
}

/**
 * Tells whether a source is short for a file: `users` is for `users.csv`, and for `my-api.users`, as the extractor
 * names the tables of an `outputBucket`.
 */
function isShortFor(source: string, name: string): boolean {
  return source !== '' && (name.replace(/\.csv$/, '') === source || name.endsWith(`.${source}`));
}
