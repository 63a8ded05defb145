import { counted } from '../../lib/counted.ts';
import type { ImportReport, SettingReport, StreamReport } from './report.ts';

/** Formats a report as a page of its own: one file of HTML, without scripts and without anything from elsewhere. */
export function reportPage(report: ImportReport): string {
  const { source, streams, settings, notes } = report;
  const isChecked = streams.some(({ trial }) => trial !== undefined);
  const isCompared = streams.some(({ compared }) => compared !== undefined);
  const title = `Import of ${source}`;
  const heads = [
    'Stream',
    'Level',
    ...(isChecked ? ['Checked'] : []),
    ...(isCompared ? ['Rows'] : []),
    'What differs',
    'What to do',
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
<main>
<h1>${escaped(title)}</h1>
<p class="summary">${summaryOf(streams)}</p>
${notes.map((note) => `<p>${escaped(note)}</p>\n`).join('')}<div class="wide"><table>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>
<tbody>
${ordered(streams)
  .map((stream) => rowOf(stream, isChecked, isCompared))
  .join('\n')}
</tbody>
</table></div>
${settingsPart(settings)}<h2>The levels</h2>
<dl>
<dt>${badge('exact', 'good')}</dt><dd>The same rows, with the same columns.</dd>
<dt>${badge('equal rows, other columns', 'fair')}</dt><dd>The same rows; columns are missing, more, or called something else.</dd>
<dt>${badge('more rows', 'fair')}</dt><dd>All rows of the other tool, and others that it leaves out, such as in later runs; what differs says which.</dd>
<dt>${badge('other rows', 'fair')}</dt><dd>The same rows where the API answers as the source takes for granted; what differs says when they are others.</dd>
<dt>${badge('not', 'bad')}</dt><dd>Something could not be taken over, or was seen to differ. Its row is there, disabled, for somebody to finish.</dd>
</dl>
</main>
</html>
`;
}

type Colour = 'bad' | 'fair' | 'good' | 'plain';

const LEVELS: Readonly<Record<StreamReport['outcome'], Colour>> = {
  exact: 'good',
  'equal rows, other columns': 'fair',
  'more rows': 'fair',
  'other rows': 'fair',
  not: 'bad',
};
const TRIALS: Readonly<Record<NonNullable<StreamReport['trial']>['result'], Colour>> = {
  proved: 'good',
  differs: 'bad',
  'not tried': 'plain',
};
const COMPARISONS: Readonly<Record<NonNullable<StreamReport['compared']>['result'], Colour>> = {
  equal: 'good',
  'other columns': 'fair',
  differs: 'bad',
  'not compared': 'plain',
};

/** Returns the streams that somebody has to look at in front of the others. */
function ordered(streams: readonly StreamReport[]): readonly StreamReport[] {
  return ORDER.flatMap((outcome) => streams.filter((stream) => stream.outcome === outcome));
}

const ORDER: readonly StreamReport['outcome'][] = [
  'not',
  'other rows',
  'more rows',
  'equal rows, other columns',
  'exact',
];

function summaryOf(streams: readonly StreamReport[]): string {
  const count = (outcome: StreamReport['outcome']): number =>
    streams.filter((stream) => stream.outcome === outcome).length;
  const more = count('more rows');
  const other = count('other rows');
  const parts = [
    `${badge(String(count('exact')), 'good')} exact`,
    `${badge(String(count('equal rows, other columns')), 'fair')} with equal rows and other columns`,
    ...(more === 0 ? [] : [`${badge(String(more), 'fair')} with more rows`]),
    ...(other === 0 ? [] : [`${badge(String(other), 'fair')} that may have other rows`]),
    `${badge(String(count('not')), 'bad')} not`,
  ];
  const proved = streams.filter(({ trial }) => trial?.result === 'proved').length;
  return `${counted(streams.length, 'stream')}: ${parts.join(', ')}${proved === 0 ? '' : `; ${proved} proved by a check`}.`;
}

function rowOf(stream: StreamReport, isChecked: boolean, isCompared: boolean): string {
  const { trial, compared } = stream;
  const cells = [
    `<th scope="row">${escaped(stream.stream)}</th>`,
    `<td>${badge(stream.outcome, LEVELS[stream.outcome])}</td>`,
    ...(isChecked
      ? [
          `<td>${trial === undefined ? '' : badge(trial.result, TRIALS[trial.result])}${seenPart(stream)}</td>`,
        ]
      : []),
    ...(isCompared
      ? [
          `<td>${compared === undefined ? '' : badge(compared.result, COMPARISONS[compared.result])}${list(compared?.lines ?? [])}</td>`,
        ]
      : []),
    `<td>${differencesOf(stream)}</td>`,
    `<td>${list(todoOf(stream))}</td>`,
  ];
  return `<tr>${cells.join('')}</tr>`;
}

function seenPart({ trial }: StreamReport): string {
  if (trial === undefined) return '';
  const why = trial.result === 'not tried' ? trial.reasons : [];
  return list([...why, ...trial.seen, ...trial.unseen.map((text) => `Not seen: ${text}`)]);
}

function differencesOf({ reasons, columns, notes }: StreamReport): string {
  const items = [
    ...reasons.map(
      ({ path, message, template }) =>
        `${escaped(message)} <span class="at">${escaped(path)}</span>${template === undefined ? '' : `<code>${escaped(template)}</code>`}`,
    ),
    ...columns.map((text) => `Columns: ${escaped(text)}`),
    ...notes.map(escaped),
  ];
  return items.length === 0 ? '' : `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;
}

/** Returns what is left to do about a stream. */
function todoOf({ outcome, row, trial, compared, columns }: StreamReport): readonly string[] {
  const named = row === undefined ? 'the configuration' : `the row “${row}”`;
  if (outcome === 'not')
    return row === undefined
      ? ['Write a job for it by hand.']
      : [`Finish ${named}, which is disabled, by what differs; then enable it.`];
  const first =
    trial?.result === 'proved' || compared?.result === 'equal'
      ? []
      : [`Try it: gex run${row === undefined ? '' : ` --row ${row}`} --limit 2, or import with --check.`];
  const look =
    columns.length === 0 && compared?.result !== 'other columns'
      ? []
      : ['Look whether somebody needs the columns that differ.'];
  return first.length + look.length === 0 ? ['Nothing.'] : [...look, ...first];
}

function settingsPart(settings: readonly SettingReport[]): string {
  if (settings.length === 0) return '<h2>Settings</h2>\n<p>All settings have a value.</p>\n';
  const rows = settings.map(
    ({ key, title, isRequired, example }) =>
      `<tr><td><code>parameters.config.${escaped(key)}</code></td><td>${escaped(title)}</td><td>${isRequired ? 'yes' : 'may stay empty'}</td><td>${escaped(example ?? '')}</td></tr>`,
  );
  return `<h2>Settings to fill in</h2>
<div class="wide"><table>
<thead><tr><th scope="col">Place</th><th scope="col">Meaning</th><th scope="col">Needed</th><th scope="col">For example</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table></div>
`;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul>${items.map((item) => `<li>${escaped(item)}</li>`).join('')}</ul>`;
}

function badge(text: string, colour: Colour): string {
  return `<span class="badge ${colour}">${escaped(text)}</span>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Writes a text from outside so that a browser shows it; signs that steer a terminal or the direction are left out. */
function escaped(text: string): string {
  return text
    .replace(/[^\P{Cc}\t\n]|\p{Bidi_Control}/gu, '\uFFFD')
    .replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}

const STYLE = `
:root{color-scheme:light dark;--line:#e3e3e8;--muted:#5d5d68;--bg:#fff;--soft:#f7f7f8;--text:#1b1b1f;--good:#146c43;--goods:#e2f4ea;--fair:#8a5300;--fairs:#fdf1d9;--bad:#b42318;--bads:#fdeceb}
@media (prefers-color-scheme:dark){:root{--line:#2e2e36;--muted:#a5a5b2;--bg:#121215;--soft:#1a1a1f;--text:#ececf1;--good:#6fd3a0;--goods:#17352a;--fair:#f0b75a;--fairs:#3a2c12;--bad:#ff9a90;--bads:#43201d}}
body{margin:0;background:var(--bg);color:var(--text);font:0.875rem/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}
main{max-width:80rem;margin:0 auto;padding:2rem 1rem}
h1{font-size:1.375rem;margin:0 0 .5rem}h2{font-size:1rem;margin:2rem 0 .5rem}
.summary{margin:0 0 1.5rem}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.5rem .75rem;border-bottom:1px solid var(--line)}
tbody tr:last-child>*{border-bottom:0}
thead th{background:var(--soft);color:var(--muted);font-weight:600;white-space:nowrap}
td:has(ul){min-width:14rem}
tbody th{font-weight:600;overflow-wrap:anywhere;min-width:11rem}
ul{margin:.25rem 0 0;padding-left:1.1rem}li{overflow-wrap:anywhere;white-space:pre-wrap;margin-bottom:.25rem}
.badge{display:inline-block;padding:0 .5rem;border-radius:1rem;white-space:nowrap;font-weight:600}
.good{color:var(--good);background:var(--goods)}.fair{color:var(--fair);background:var(--fairs)}.bad{color:var(--bad);background:var(--bads)}.plain{color:var(--muted);background:var(--soft)}
.at{color:var(--muted);font-size:.8125rem}
code{font:.8125rem ui-monospace,'SF Mono',Menlo,'DejaVu Sans Mono',monospace;overflow-wrap:anywhere}
li>code{display:block;background:var(--soft);padding:.25rem .5rem;border-radius:6px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.5rem 1rem}dt,dd{margin:0}
@media (max-width:40rem){dl{grid-template-columns:1fr}}
@media print{.wide{overflow:visible}main{padding:0}}
`;
