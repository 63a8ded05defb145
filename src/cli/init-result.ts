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
import { wrapped } from './format.ts';
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
  const lines = lists.flatMap(({ path, table, parent, rowsAt, nextPage, attempt }) => {
    const rows = rowsAt === '' ? '' : `, rows in \`${rowsAt}\``;
    const of = parent === undefined ? '' : `, for each row of ${parent}`;
    const came = attempt === undefined ? [] : wrapped(attemptText(attempt), fitting(width - 4));
    return [
      `GET ${path} → ${table}`,
      ...came.map((line) => `    ${line}`),
      ...wrapped(`${nextPage}${rows}${of}`, fitting(width - 4)).map((line) => `    ${line}`),
    ];
  });
  const left =
    skipped.length === 0
      ? []
      : ['', 'Not taken:', ...skipped.flatMap(({ what, why }) => itemLines(`${what}: ${why}`, width))];
  const isTried = lists.some(({ attempt }) => attempt !== undefined);
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
  'Lists of one page: the next page is asked for as the document says, which was not proved. Lists below others were asked for with the first rows above.',
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

/** “complete, 137 rows on 4 pages by 6 requests”. */
function attemptText({
  verdict,
  why,
  rows,
  pages,
  requests,
}: NonNullable<FromDocument['lists'][number]['attempt']>): string {
  const came = wordOf(verdict);
  if (verdict === 'untried' || verdict === 'failed') return `${came}: ${why}`;
  const all = [came, `${counted(rows, 'row')} on ${counted(pages, 'page')}`, counted(requests, 'request')];
  return `${all.join(', ')}${why === '' ? '' : `: ${why}`}`;
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
