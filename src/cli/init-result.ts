import { counted } from '../lib/counted.ts';
import {
  findingLines,
  findingOf,
  openPoints,
  type Discovery,
  type FromDocument,
  type Line,
} from '../authoring/init/index.ts';
import { shownText } from '../lib/shown-text.ts';
import { fitTable } from './fit-table.ts';
import { formatCount, wrapped } from './format.ts';
import { openText } from './init-words.ts';

interface Surroundings {
  /** Variables to be set before a run. */
  readonly missing: readonly string[];
}

/** Formats the finding for people: topics at the left, results beside them. */
export function describeFinding(
  found: Discovery,
  { width = Infinity, missing }: Surroundings & { readonly width?: number | undefined },
): string {
  const lines: Line[] = [...findingLines(found), ['verdict', VERDICTS[found.verdict]]];
  const open = openPoints(found).map(openText);
  const room = Math.max(...lines.map(([topic]) => topic.length)) + 2;
  const shown = lines.flatMap(([topic, text], i) => {
    const name = lines[i - 1]?.[0] === topic ? '' : topic;
    return wrapped(shownText(text), fitting(width - room)).map((line, at) =>
      `${(at === 0 ? name : '').padEnd(room)}${line}`.trimEnd(),
    );
  });
  const points = [
    ...open,
    ...missing.map((name) => `The value of $${name}: it is not in the configuration; set it before a run.`),
  ];
  if (points.length === 0) return shown.join('\n');
  const list = points.flatMap((text) => itemLines(text, width));
  return [...shown, '', 'Not known, or to be done by you:', ...list].join('\n');
}

const VERDICTS = {
  complete: 'complete: a run with this configuration has everything, by what the answers say',
  ended: 'ended: a run with this configuration comes to an end, and nothing speaks against it',
  cut: 'unproved: right as far as it was tried, the end was not seen',
  doubtful: 'doubtful: do not use it as it is',
} as const;

/** Formats the finding for programs. */
export function findingJson(
  found: Discovery,
  { file, missing }: Surroundings & { readonly file: string | undefined },
): string {
  const finding = findingOf(found);
  const open = finding.open.map(openText);
  return JSON.stringify(
    { ...(file === undefined ? {} : { file }), ...finding, open, variables: missing },
    null,
    2,
  );
}

/** Describes the lists that were taken from a document, and those that were not. */
export function describeDocument(document: FromDocument, width = Infinity): string {
  const { kind, title, lists, skipped, variables, notes } = document;
  const head = `${kind}${title === '' ? '' : `, “${shownText(title)}”`}: ${counted(lists.length, 'list')}${verdictsText(lists)}`;
  const isTried = lists.some(({ attempt }) => attempt !== undefined);
  const lines = isTried
    ? [...triedTable(lists, width), ...toLookAt(lists, width)]
    : lists.flatMap(({ path, table, parent, rowsAt, nextPage }) => {
        const rows = rowsAt === '' ? '' : `, rows in \`${rowsAt}\``;
        const of = parent === undefined ? '' : `, for each row of ${parent}`;
        const how = wrapped(`${nextPage}${rows}${of}`, fitting(width - 4));
        return [`GET ${path} → ${table}`, ...how.map((line) => `    ${line}`)];
      });
  const left =
    skipped.length === 0
      ? []
      : ['', 'Not taken:', ...skipped.flatMap(({ what, why }) => itemLines(`${what}: ${why}`, width))];
  const points = [
    ...(isTried ? TRIED : UNTRIED),
    ...notes,
    ...variables.map((name) => `The value of $${name}: set it before a run.`),
  ];
  return [
    head,
    '',
    ...lines,
    ...left,
    '',
    'Not known, or to be done by you:',
    ...points.flatMap((text) => itemLines(text, width)),
  ]
    .map((line) => shownText(line))
    .join('\n');
}

const UNTRIED = [
  'Nothing was asked for: whether the API does what the document says is seen by gex run --limit 2, and its verdict. --try asks for each list.',
];
const TRIED = [
  'A way to the next page that is “not proved” is that of the document: there was no second page to prove it with.',
  'Lists below others were asked for with the first rows above, and not with all.',
];

/** “: 3 complete, 1 failed”; nothing where none was tried. */
function verdictsText(lists: FromDocument['lists']): string {
  const counts = new Map<string, number>();
  for (const { attempt } of lists)
    if (attempt !== undefined)
      counts.set(wordOf(attempt.verdict), (counts.get(wordOf(attempt.verdict)) ?? 0) + 1);
  return counts.size === 0
    ? ''
    : `: ${[...counts].map(([verdict, number]) => `${number} ${verdict}`).join(', ')}`;
}

function wordOf(verdict: string): string {
  return verdict === 'cut' ? 'unproved' : verdict;
}

/** A line for each list: what came of it, and what was proved. */
function triedTable(lists: FromDocument['lists'], width: number): string[] {
  const rows = lists.map(({ path, parent, nextPage, attempt }) => {
    if (attempt === undefined) return [path, 'untried', '', '', '', ''];
    const { verdict, rows: came, total, id, isProved } = attempt;
    const isRead = verdict !== 'failed' && verdict !== 'untried';
    const all = total === undefined || total < came ? '' : formatCount(total);
    // a list below another one stands below it, by what its path has behind that
    const shown = parent !== undefined && path.startsWith(`${parent}/`) ? path.slice(parent.length) : path;
    const depth = parent === undefined ? '' : `${'  '.repeat(depthOf(parent, lists))}└ `;
    const way = isProved
      ? nextPage
      : came === 0 || nextPage.startsWith('one page')
        ? ''
        : `not proved: ${nextPage}`;
    return [
      `${depth}${shown}`,
      wordOf(verdict),
      isRead ? formatCount(came) : '',
      isRead ? all : '',
      id.join(' + '),
      isRead ? way.replaceAll('`', '') : '',
    ];
  });
  return fitTable(HEADER, rows, {
    right: ['rows', 'total'],
    elastic: ['list', 'id', 'next page'],
    width: Number.isFinite(width) ? width : undefined,
  });
}

const HEADER = ['list', 'result', 'rows', 'total', 'id', 'next page'];

/** Number of lists above the one with a path. */
function depthOf(path: string, lists: FromDocument['lists']): number {
  const above = lists.find((each) => each.path === path)?.parent;
  return above === undefined ? 0 : 1 + depthOf(above, lists);
}

/** Describes the lists of which something is to be said that no table has room for. */
function toLookAt(lists: FromDocument['lists'], width: number): string[] {
  const texts = lists.flatMap(({ path, attempt }) =>
    attempt === undefined || attempt.why === ''
      ? []
      : itemLines(`GET ${path}, ${wordOf(attempt.verdict)}: ${attempt.why}`, width),
  );
  return texts.length === 0 ? [] : ['', 'To be looked at:', ...texts];
}

/** Formats what was proved of each list, to be kept beside the configuration. */
export function documentReport({ kind, title, lists, skipped, notes }: FromDocument): string {
  return `${JSON.stringify({ kind, title, lists, skipped, notes }, null, 2)}\n`;
}

export function documentJson(document: FromDocument, file: string | undefined): string {
  return JSON.stringify(
    {
      ...(file === undefined ? {} : { file }),
      verdict: document.lists.some(({ attempt }) => attempt !== undefined) ? 'tried' : 'untried',
      ...document,
    },
    null,
    2,
  );
}

function itemLines(text: string, width: number): string[] {
  return wrapped(shownText(text), fitting(width - 2)).map((line, at) => `${at === 0 ? '- ' : '  '}${line}`);
}

/** One column stays free, and a terminal that is very narrow breaks the lines itself. */
function fitting(width: number): number {
  return Math.max(20, width - 1);
}
