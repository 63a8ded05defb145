import type { Imported, ConversionOutcome } from '../report.ts';
import { readBudgets } from './budgets.ts';
import { ComponentCode, type ReadFileBeside } from './code/component-code.ts';
import { ManifestComponent } from './component.ts';
import { dynamicStreams } from './dynamic-streams.ts';
import { ManifestFindings } from './findings.ts';
import { get, isMap, isSequence, manifestError, placeOf, type ManifestNode, type NodeMap } from './node.ts';
import { propagate } from './propagate.ts';
import { readYaml } from './read-yaml.ts';
import { resolveReferences } from './resolve-references.ts';
import { ConnectorSettings } from './airbyte-settings.ts';
import type { JobTree } from './parent-rows.ts';
import { SharedParents } from './shared-parents.ts';
import { readStream } from './stream.ts';
import { assemble, rowId, type TakenStream } from './assemble.ts';

export interface AirbyteOptions {
  /** Name of the manifest in messages. */
  readonly file: string;
  /** Values of the settings, in the form of that ecosystem, where there are some already. */
  readonly settings?: NodeMap | undefined;
  /** Name of the bucket; by default made of the file. */
  readonly name?: string | undefined;
  /** Reads the files of the connector, such as those with its Python code, by their paths from the folder of the manifest. */
  readonly readBeside?: ReadFileBeside | undefined;
}

/**
 * Converts a declarative connector manifest into a configuration with a row for each stream, with notes on each.
 *
 * @throws {RunError} `import.invalid` for a text that is no manifest at all
 */
export function importAirbyte(text: string, options: AirbyteOptions): Imported {
  const read = readYaml(text, options.file);
  const components = propagate(withType(resolveReferences(read)));
  if (get(components, 'streams') === undefined && get(components, 'dynamic_streams') === undefined)
    throw manifestError(
      'The file is no manifest: it has no streams.',
      '',
      'A manifest has a list “streams:”.',
    );
  const specification =
    get(get(components, 'spec'), 'connection_specification') ?? specificationBeside(options.readBeside);
  const settings = new ConnectorSettings(specification, options.settings);
  const code = options.readBeside === undefined ? undefined : new ComponentCode(options.readBeside, read);
  const { readBeside } = options;
  const taken: TakenStream[] = [];
  const ids = new Set<string>();
  const parents = new SharedParents();
  const mentionsState = text.includes('stream_state');
  const dynamic = dynamicStreams(components, settings);
  const found: readonly Found[] = [...streamsOf(components), ...dynamic.made];
  for (const { stream, condition, note, column } of found) {
    const findings = new ManifestFindings();
    const tree = safely(stream, findings, () =>
      readStream(stream, { settings, findings, code, readBeside, parents, mentionsState }),
    );
    const name = stream.text('name') ?? `stream ${taken.length + 1}`;
    if (note !== undefined) findings.note(note);
    if (column !== undefined) findings.column(column);
    if (condition !== undefined) findings.note(`There only where a setting wants it: ${condition}`);
    taken.push({ name, id: rowId(name, ids), tree, findings, outcome: outcomeOf(findings, tree) });
  }
  return assemble({
    settings,
    taken,
    dynamic: dynamic.not,
    notes: dynamic.notes,
    budgets: readBudgets(components),
    name: options.name ?? nameOf(options.file),
    file: options.file,
  });
}

/** Returns the specification of the settings from the file that has it where the manifest does not. */
function specificationBeside(readBeside: ReadFileBeside | undefined): ManifestNode | undefined {
  for (const name of ['spec.yaml', 'spec.yml', 'spec.json']) {
    const text = readBeside?.(name);
    if (text === undefined) continue;
    const read = readYaml(text, name);
    return get(read, 'connectionSpecification') ?? get(read, 'connection_specification');
  }
  return undefined;
}

function withType(manifest: NodeMap): NodeMap {
  return get(manifest, 'type') === undefined ? { ...manifest, type: 'DeclarativeSource' } : manifest;
}

function nameOf(file: string): string {
  const parts = file.split(/[\\/]/);
  const base = (parts.at(-1) ?? '').replace(/\.ya?ml$/i, '');
  return base === 'manifest' ? (parts.at(-2) ?? base) : base;
}

interface Found {
  readonly stream: ManifestComponent;
  readonly condition?: string;
  readonly note?: string;
  /** How the columns of a stream differ that was made of several. */
  readonly column?: string;
}

/** Returns the streams of a manifest, including those that depend on a setting. */
function streamsOf(manifest: NodeMap): readonly Found[] {
  const streams = get(manifest, 'streams');
  return (isSequence(streams) ? streams : []).flatMap((node: ManifestNode, index): Found[] => {
    const at = placeOf('streams', index);
    if (!isMap(node)) throw manifestError('A stream is not a map of keys.', at);
    const stream = new ManifestComponent(node, at);
    if (stream.type !== 'ConditionalStreams') return [{ stream }];
    const condition = stream.text('condition') ?? '';
    return stream.children('streams').map((inner) => ({ stream: inner, condition }));
  });
}

function outcomeOf(findings: ManifestFindings, tree: JobTree | undefined): ConversionOutcome {
  if (findings.reasons.length > 0 || tree === undefined) return 'not';
  if (findings.hasMoreRows) return 'more rows';
  return findings.columns.length > 0 ? 'equal rows, other columns' : 'exact';
}

/** Runs the conversion of a stream; one of an unexpected shape is reported, and the others are still converted. */
function safely<T>(
  stream: ManifestComponent,
  findings: ManifestFindings,
  work: () => T | undefined,
): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    findings.not(stream.at, `Not understood: ${error.message}`);
    return undefined;
  }
}
