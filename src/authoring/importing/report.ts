import type { TableComparison } from './against/compare-tables.ts';
/** The degree to which a stream was taken over. */
export type ConversionOutcome = 'exact' | 'equal rows, other columns' | 'more rows' | 'other rows' | 'not';

/** Something that could not be taken over as it is. */
export interface ImportReason {
  /** Its place in the imported file: `streams[2].retriever.paginator`. */
  readonly path: string;
  readonly message: string;
  /** The text of a template, where it is about one. */
  readonly template?: string;
}

/** Result of running an imported stream for a few requests. */
export interface StreamTrial {
  readonly result: 'proved' | 'differs' | 'not tried';
  /** How it differs, or why it was not tried. */
  readonly reasons: readonly string[];
  /** Found to be as it was claimed. */
  readonly seen: readonly string[];
  /** Not shown by the few requests. */
  readonly unseen: readonly string[];
  readonly requests: number;
}

/** Result of comparing the rows of a stream with those that the other tool has. */
export interface StreamComparison {
  readonly result: 'equal' | 'other columns' | 'differs' | 'not compared';
  /** In words: how many rows are equal, and what is different; or why they were not compared. */
  readonly lines: readonly string[];
  /** Counts and examples; absent where they were not compared. */
  readonly table?: TableComparison;
}

export interface StreamReport {
  readonly stream: string;
  readonly outcome: ConversionOutcome;
  /** Id of its row in the configuration; absent when it has none. A row of a stream that is `not` is disabled. */
  readonly row?: string;
  /** In words: which columns are missing, more, or named in another way. */
  readonly columns: readonly string[];
  /** Why it is `not`. */
  readonly reasons: readonly ImportReason[];
  /** Differences on the way to the same result. */
  readonly notes: readonly string[];
  /** Absent where it was not run. */
  readonly trial?: StreamTrial;
  /** Absent where no rows of the other tool were given. */
  readonly compared?: StreamComparison;
}

export interface SettingReport {
  /** Path below `parameters.config`: `settings.credentials.#token`. */
  readonly key: string;
  readonly title: string;
  readonly isRequired: boolean;
  /** A value that fits, for people to see the form. */
  readonly example?: string;
}

export interface ImportReport {
  /** Name of the connector or the file that was imported. */
  readonly source: string;
  readonly streams: readonly StreamReport[];
  /** Settings that have no value yet. */
  readonly settings: readonly SettingReport[];
  /** About the whole. */
  readonly notes: readonly string[];
}

/** The result of an importer. */
export interface Imported {
  /** A configuration resource: `configuration` and `rows`. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly report: ImportReport;
}

function countOf(report: ImportReport, outcome: ConversionOutcome): number {
  return report.streams.filter((stream) => stream.outcome === outcome).length;
}

/** Formats the report for people: a line for each stream, with its notes below it. */
export function reportText(report: ImportReport): string {
  const { streams, settings, notes } = report;
  const width = Math.max(0, ...streams.map(({ stream }) => stream.length));
  const lines = streams.flatMap(({ stream, outcome, columns, reasons, notes: about, trial, compared }) => [
    `${stream.padEnd(width)}  ${outcome}${trial === undefined ? '' : `, ${trial.result}`}`,
    ...reasons.map(
      ({ path, message, template }) =>
        `  ${message} (${path})${template === undefined ? '' : `: ${oneLine(template)}`}`,
    ),
    ...columns.map((text) => `  columns: ${text}`),
    ...about.map((text) => `  ${text}`),
    ...trialLines(trial),
    ...(compared === undefined ? [] : [`  rows ${compared.result}:`]),
    ...(compared?.lines ?? []).map((text) => `    ${text}`),
  ]);
  const more = countOf(report, 'more rows');
  const other = countOf(report, 'other rows');
  const open = settings.map(
    ({ key, title, isRequired, example }) =>
      `  parameters.config.${key}${isRequired ? '' : ' (may stay empty)'}: ${title}${example === undefined ? '' : `, for example ${example}`}`,
  );
  return [
    ...lines,
    '',
    ...notes,
    `${countOf(report, 'exact')} exact, ${countOf(report, 'equal rows, other columns')} with equal rows and other columns, ${more === 0 ? '' : `${more} with more rows, `}${other === 0 ? '' : `${other} that may have other rows, `}${countOf(report, 'not')} not.`,
    ...trialCounts(streams),
    ...comparedCounts(streams),
    ...(open.length === 0 ? [] : ['', 'Settings to fill in:', ...open]),
  ].join('\n');
}

/** How it differs stands among the reasons of its stream. */
function trialLines(trial: StreamTrial | undefined): readonly string[] {
  if (trial === undefined) return [];
  const { result, reasons, seen, unseen } = trial;
  return [
    ...(result === 'not tried' ? reasons.map((text) => `  not tried: ${text}`) : []),
    ...(seen.length === 0 ? [] : [`  seen: ${seen.join('; ')}`]),
    ...unseen.map((text) => `  not seen: ${text}`),
  ];
}

function trialCounts(streams: readonly StreamReport[]): readonly string[] {
  if (streams.every(({ trial }) => trial === undefined)) return [];
  const count = (result: StreamTrial['result']): number =>
    streams.filter(({ trial }) => trial?.result === result).length;
  return [`Checked: ${count('proved')} proved, ${count('differs')} differ, ${count('not tried')} not tried.`];
}

function comparedCounts(streams: readonly StreamReport[]): readonly string[] {
  if (streams.every(({ compared }) => compared === undefined)) return [];
  const count = (result: StreamComparison['result']): number =>
    streams.filter(({ compared }) => compared?.result === result).length;
  return [
    `Rows compared: ${count('equal')} equal, ${count('other columns')} with other columns, ${count('differs')} differ, ${count('not compared')} not compared.`,
  ];
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
