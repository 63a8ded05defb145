import type { OpenPoint } from '../../storage/protocol/advice.ts';
import { proofText } from '../../engine/completeness/words.ts';
import type { Discovery } from './discover.ts';
import type { Field } from './fields.ts';
import { pathOf, signOf, valueOf } from './signs.ts';
import { counted } from '../../lib/counted.ts';

/** A line of the finding: what it is about, and what was found with its evidence. */
export type Line = readonly [topic: string, text: string];

/** Describes a discovery in words, with evidence. */
export function findingLines(found: Discovery): readonly Line[] {
  const { place, others, fields, time, settled, tried } = found;
  const lines: Line[] = [
    ['request', requestText(found)],
    ['rows', rowsText(found)],
  ];
  if (others.length > 0)
    lines.push([
      'other lists',
      others
        .slice(0, 5)
        .map(({ keys, rows }) => `\`${pathOf(keys)}\` (${rows.length})`)
        .join(', '),
    ]);
  if (place.rows.length > 0) {
    if (place.kind !== 'one') lines.push(['id', keyText(found)]);
    if (time !== undefined) lines.push(['time', timeText(time)]);
    lines.push(['fields', fieldsText(fields)]);
  }
  if (settled !== undefined) lines.push(['next page', settled.candidate.says]);
  lines.push(['end', endText(found)]);
  for (const { what, result } of tried) lines.push(['tried', `${what}: ${result}`]);
  return lines;
}

function requestText({ target: { method, baseUrl, endpoint }, requests, waits }: Discovery): string {
  const waited = waits === 0 ? '' : `; the API asked to wait ${waits === 1 ? 'once' : `${waits} times`}`;
  return `${method} ${baseUrl}${endpoint === '/' ? '' : endpoint} (${counted(requests, 'request')} made${waited})`;
}

function rowsText({ place }: Discovery): string {
  if (place.kind === 'one') return 'the whole answer, one object: one row';
  const where = place.keys.length === 0 ? 'the whole answer' : `\`${pathOf(place.keys)}\``;
  return `${where} (${counted(place.rows.length, 'row')}, ${place.why})`;
}

function keyText({ key, rows, fields }: Discovery): string {
  const all = rows > 0 ? rows : (fields[0]?.rows ?? 0);
  const [first, second] = key.paths;
  if (first === undefined) return 'none found: no field has a value of its own in every row';
  if (second !== undefined)
    return `\`${first}\` and \`${second}\` together, unique in ${counted(all, 'row')}`;
  const others =
    key.others.length === 0
      ? ''
      : `; also ${key.others
          .slice(0, 3)
          .map((path) => `\`${path}\``)
          .join(', ')}`;
  return `\`${first}\`, unique and never empty in ${counted(all, 'row')}${others}`;
}

function timeText({ path, least, most, order }: Field): string {
  const sorted = order === 'none' ? '' : `, ${order === 'ascending' ? 'old rows first' : 'new rows first'}`;
  return `\`${path}\`, from ${least ?? ''} to ${most ?? ''}${sorted}: what new rows may be told by`;
}

const SHOWN_FIELDS = 12;

function fieldsText(fields: readonly Field[]): string {
  const own = fields.filter(
    ({ kind, path }) => kind !== 'object' || !fields.some((other) => other.path.startsWith(`${path}.`)),
  );
  const shown = own
    .slice(0, SHOWN_FIELDS)
    .map(({ path, kind }) => `${path} ${kind === 'null' ? 'empty' : kind}`);
  const more = own.length > SHOWN_FIELDS ? `, and ${own.length - SHOWN_FIELDS} more` : '';
  return `${own.length}: ${shown.join(', ')}${more}`;
}

function endText({ settled, report, verdict, pages, rows, signs, against, tried }: Discovery): string {
  const came = `${counted(rows, 'row')} on ${counted(pages, 'page')}`;
  const proof = report?.proof === undefined ? '' : `: ${proofText(report.proof)}`;
  const evidence = (settled?.evidence ?? []).map((text) => `; ${text}`).join('');
  if (verdict === 'complete') return `reached, ${came}${proof}${evidence}`;
  if (verdict === 'ended' && settled === undefined)
    return `reached, ${came}: nothing that ${tried.length === 0 ? 'is in the answer' : 'was tried'} leads to another page`;
  if (verdict === 'ended')
    return `reached, ${came}: ${report?.reasons[0]?.text ?? 'nothing more came'}${evidence}`;
  const total = valueOf(signOf(signs, 'total'));
  if (verdict === 'cut' && settled?.verdict === 'ended' && settled.doubt !== undefined)
    return `not known: ${came}: ${report?.reasons[0]?.text ?? 'nothing more came'}`;
  if (verdict === 'cut' && settled?.verdict !== 'cut') return `not known: ${came}`;
  if (verdict === 'cut')
    return `not reached with the requests that are allowed: ${total === undefined ? came : `${rows} of the ${total} rows that the API speaks of came, on ${counted(pages, 'page')}`}, none of them twice${evidence}`;
  return `doubtful, ${came}: ${against.join(' ')}`;
}

const REPEATS = new Set<string>(['sameResponse', 'repeatedRequest', 'repeatedRows']);

/** Returns the questions that the discovery left open, and the tasks before a run. */
export function openPoints(found: Discovery): readonly OpenPoint[] {
  const { verdict, key, place, notes, target, time, settled, report } = found;
  const points = [...target.notes, ...notes].map(note);
  if (found.isSpent) points.push({ code: 'requestsSpent' });
  if (verdict === 'cut' && settled !== undefined && settled.doubt === undefined)
    points.push({ code: 'longer', isEndSeen: settled?.evidence.length !== 0 });
  if (
    verdict === 'ended' &&
    place.kind !== 'one' &&
    !notes.some((text) => text.startsWith('Whether these are all'))
  )
    points.push(
      note(
        'Whether these are all rows: nothing in the answers says so, or only a total that may be the number of rows of the page.',
      ),
    );
  if (
    settled !== undefined &&
    verdict !== 'complete' &&
    report?.reasons.some(({ reason }) => REPEATS.has(reason.code))
  )
    points.push(
      note(
        'Whether it ends where it should: its last page came again, and nothing says that it is the last one.',
      ),
    );
  if (place.kind === 'list' && place.rows.length > 0 && key.paths.length === 0)
    points.push(note('An id: rows that come twice cannot be told apart.'));
  if (place.kind !== 'one' && place.rows.length > 0 && time === undefined)
    points.push(note('A time of change: no field is a time that every row has.'));
  else if (time !== undefined)
    points.push(
      note(
        `Whether the API can filter by \`${time.path}\`: see its documentation for a parameter such as “since”.`,
      ),
    );
  return points;
}

function note(text: string): OpenPoint {
  return { code: 'note', text };
}
