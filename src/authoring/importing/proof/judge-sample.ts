import { ExtractorError } from '../../../lib/errors.ts';
import { counted } from '../../../lib/counted.ts';
import {
  compilePath,
  encodeExact,
  getKey,
  isEmpty,
  isObject,
  jsonOf,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import type { ShownRequest } from '../../../engine/extract/preview.ts';
import type { DoubtCode } from '../../../engine/completeness/doubt.ts';
import { findRows } from '../../init/rows.ts';
import type { StreamReport, StreamTrial } from '../report.ts';
import { TrialFindings } from './findings.ts';
import type { SampleRun, SampledExchange } from './sample-run.ts';
import { leftoversIn } from './sent-values.ts';
import { jobsOf, jobsOfStream, mapOf, type StreamJob } from './stream-jobs.ts';
import { seamOf } from './window-seam.ts';

/** Doubts that say that the requests are not those that were meant. */
const WRONG = new Set<DoubtCode>([
  'samePage',
  'onlyKnownRows',
  'notFound',
  'sameWindows',
  'windowsOverlap',
  'sameRuns',
  'strangers',
  'error',
  'headerAgain',
]);

export interface JudgedSample {
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly sample: SampleRun;
  readonly secrets: Secrets;
}

/** Judges by a sample of its row whether a stream does what the import claims. */
export function judgeSample(
  stream: StreamReport,
  { configuration, sample, secrets }: JudgedSample,
): StreamTrial {
  const jobs = jobsOf(configuration);
  const own = jobsOfStream(jobs, stream);
  const findings = new TrialFindings();
  const requests = sample.exchanges.length;
  const notTried = (why: string): StreamTrial => ({
    result: 'not tried',
    reasons: [why],
    seen: [],
    unseen: [],
    requests,
  });
  const outside = failureOutside(sample.failure, sample);
  if (outside !== undefined) return notTried(secrets.redactMessage(outside));
  lookForLeftovers(jobs, sample, findings);
  lookAtAnnounced(sample, secrets, findings);
  if (sample.failure !== undefined) findings.differs(failureText(sample.failure));
  if (sample.isSpent) findings.unseen('the rest: all requests that a check may make were made');
  for (const job of own) {
    lookAtRows(job, sample, findings);
    lookAtVerdict(job, sample, findings);
    lookAtWindows(job, sample, findings);
    lookAtState(job, sample, findings);
  }
  const { differs, seen, unseen } = findings.all;
  const about = { seen, unseen: unseen.map((text) => secrets.redactMessage(text)), requests };
  if (differs.length > 0)
    return { result: 'differs', reasons: differs.map((text) => secrets.redactMessage(text)), ...about };
  const rows = own.reduce((sum, { dataType }) => sum + (sample.rows.get(dataType)?.count ?? 0), 0);
  return rows === 0
    ? { ...notTried('The API was asked, and gave no rows to compare.'), ...about }
    : { result: 'proved', reasons: [], ...about };
}

/** Returns why a failure says nothing about the configuration; undefined when it does, or there is none. */
function failureOutside(failure: unknown, { exchanges }: SampleRun): string | undefined {
  if (failure === undefined) return undefined;
  if (!(failure instanceof ExtractorError)) return failureText(failure);
  const { code, details, message } = failure;
  const status = details['status'];
  if (status === 401 || status === 403 || code === 'auth.failed')
    return `The login was refused: ${message} Look at the settings.`;
  if (status === 429 || (typeof status === 'number' && status >= 500))
    return `The API does not work: ${message}`;
  if (code === 'http.network' || code === 'http.tls' || code === 'http.proxy') return message;
  if (code === 'replay.missing' && details['isKnownPath'] !== true && exchanges.length === 0) return message;
  return undefined;
}

function failureText(failure: unknown): string {
  if (!(failure instanceof ExtractorError)) return failure instanceof Error ? failure.message : 'It failed.';
  const { message, hint, code } = failure;
  return hint === undefined || code !== 'replay.missing' ? message : `${message} ${hint}`;
}

function lookForLeftovers(
  jobs: readonly StreamJob[],
  { exchanges }: SampleRun,
  findings: TrialFindings,
): void {
  const names = new Set(
    jobs.flatMap(({ node }) => [
      ...Object.keys(mapOf(node['placeholders'])),
      ...Object.keys(mapOf(node['over'])),
    ]),
  );
  for (const exchange of exchanges)
    for (const text of leftoversIn(exchange, names))
      findings.differs(
        `A request was not filled in: ${text} (${exchange.request.method} ${exchange.request.url})`,
      );
  if (exchanges.length > 0) findings.seen('no template or placeholder is left in what was sent');
}

/** Compares the first request of each job with what is announced for it. */
function lookAtAnnounced(
  { announced, exchanges }: SampleRun,
  secrets: Secrets,
  findings: TrialFindings,
): void {
  for (const [index, { job, request, login }] of (announced ?? []).entries()) {
    const [sent] = exchanges.filter(({ position }) => position?.length === 1 && position[0]?.index === index);
    // the answer of a login goes into the request
    if (sent === undefined || request === undefined || login !== undefined) continue;
    const { method, url, body } = sent.request;
    const text = body === undefined ? undefined : Buffer.from(body).toString('utf8');
    const shown: Omit<ShownRequest, 'headers'> = {
      method,
      url: secrets.redactUrl(url),
      ...(text === undefined ? {} : { body: secrets.redactBody(text) }),
    };
    const isAsAnnounced =
      shown.method === request.method && shown.url === request.url && shown.body === request.body;
    if (isAsAnnounced) findings.seen('the first request is the one that is announced');
    else
      findings.differs(
        `“${job}” asks for ${shown.method} ${shown.url}, and ${request.method} ${request.url} is announced`,
      );
  }
}

function lookAtRows({ dataType, name, node }: StreamJob, sample: SampleRun, findings: TrialFindings): void {
  const count = sample.rows.get(dataType)?.count ?? 0;
  if (count > 0) {
    findings.seen(`${counted(count, 'row')} came`);
    if (sample.tables.length === 0 && sample.failure === undefined && !sample.isSpent)
      findings.unseen('rows in a table: all that came are left out by the conditions of the job');
    return;
  }
  const other = sample.exchanges.filter(({ position }) => position?.at(-1)?.job === name).map(otherRows);
  const [found] = other.filter((each) => each !== undefined);
  if (found === undefined || sample.failure !== undefined) return;
  const taken =
    typeof node['dataField'] === 'string' ? `“${node['dataField']}”` : 'where they are looked for';
  findings.differs(
    `No rows come at ${taken}, and the answer has ${counted(found.count, 'row')} at “${found.at}”`,
  );
}

/** Returns where an answer has a list of rows, other than in an envelope that is one row itself. */
function otherRows({ response, request }: SampledExchange): { at: string; count: number } | undefined {
  const body = jsonOf(Buffer.from(response.body).toString('utf8'));
  if (body === undefined || response.status >= 300) return undefined;
  const endpoint = new URL(request.url).pathname.split('/').findLast((part) => part !== '') ?? '';
  const [place] = findRows(body, endpoint);
  if (place === undefined || place.kind !== 'list' || place.rows.length === 0 || place.score < LIKELY)
    return undefined;
  return { at: place.keys.join('.'), count: place.rows.length };
}

/** Score of a place whose rows are hardly anything else. */
const LIKELY = 40;

function lookAtVerdict({ at }: StreamJob, { reports, rows }: SampleRun, findings: TrialFindings): void {
  const report = reports.find((each) => each.at === at);
  if (report === undefined) return;
  if (report.pages > report.runs) findings.seen('one page follows another');
  else if (rows.size > 0) findings.unseen(`a second page: ${report.reasons[0]?.text ?? 'one was enough'}`);
  for (const { doubts } of report.doubtful)
    for (const { code, text } of doubts) {
      if (WRONG.has(code)) findings.differs(text);
      else findings.unseen(`the end: ${text}`);
    }
}

function lookAtWindows(
  job: StreamJob,
  { exchanges, announced, failure }: SampleRun,
  findings: TrialFindings,
): void {
  if (job.node['windows'] === undefined) return;
  const firsts = exchanges.filter(({ position }) => {
    const last = position?.at(-1);
    return last?.job === job.name && last.page === 1 && last.export === undefined;
  });
  const [one, other] = [0, 1].map((number) =>
    firsts.find(({ position }) => position?.at(-1)?.window === number),
  );
  if (one === undefined && !job.isChild) {
    const windows = announced?.find(({ at }) => at === job.at)?.windows;
    if (windows === 0) findings.differs('There is no window of time, so that nothing is asked for');
    return;
  }
  if (one === undefined) return;
  if (other === undefined) {
    if (failure === undefined) findings.unseen('the second window of time: there is one alone');
    return;
  }
  const seam = seamOf(one, other);
  if (seam.kind === 'joined') findings.seen('the second window begins where the first ended');
  else if (seam.kind === 'gap')
    findings.differs(`Between two windows is time that is never asked for: ${seam.text}`);
  else if (seam.kind === 'overlap' && mapOf(job.node['windows'])['overlap'] === undefined)
    findings.differs(`Two windows overlap, so that rows come twice: ${seam.text}`);
  else findings.unseen('whether the windows join: their requests do not have both ends');
}

/** Looks at whether the rows move the state, and whether a later run asks by it. */
function lookAtState(job: StreamJob, sample: SampleRun, findings: TrialFindings): void {
  const incremental = mapOf(job.node['incremental']);
  const { cursor } = incremental;
  if (typeof cursor !== 'string') return;
  const rows = sample.rows.get(job.dataType)?.first ?? [];
  if (rows.length === 0) return;
  const at = compilePath(cursor);
  if (!rows.some((row) => hasValue(at.find(row)))) {
    const known = isObject(rows[0]) ? Object.keys(rows[0]).slice(0, 12).join(', ') : '';
    findings.differs(`No row has a “${cursor}”, so that the state never moves; the rows have ${known}`);
    return;
  }
  const { state } = sample;
  if (state === undefined) return;
  if (isStored(state, job)) findings.seen('the state moves');
  else if (sample.laterState === undefined || !isStored(sample.laterState, job)) {
    findings.unseen('whether the state moves: more was to come than the pages that were asked for');
    return;
  } else findings.seen('the rows have values that a state is kept by');
  if (job.isChild) return;
  const [before, after] = [sample.announced, sample.later].map((all) => all?.find(({ at }) => at === job.at));
  if (before === undefined || after === undefined || !sendsState(job)) return;
  const isOther = encodeRequest(before.request) !== encodeRequest(after.request);
  if (isOther) findings.seen('a later run asks from the state on');
  else findings.unseen('whether a later run asks from the state on: its first request would be the same');
}

function isStored(state: AnyObject, { path }: StreamJob): boolean {
  const all = getKey(state, 'incremental');
  const stored = isObject(all) ? getKey(all, path.join('/')) : undefined;
  return isObject(stored) && holdsValue(stored);
}

function hasValue(value: Json | undefined): boolean {
  return value !== undefined && !isEmpty(value);
}

function holdsValue(stored: Json): boolean {
  return /"cursor":|"at":/.test(encodeExact(stored));
}

/** Tells whether requests of a job have its state, or windows that begin by it. */
function sendsState({ node }: StreamJob): boolean {
  if (node['windows'] !== undefined) return true;
  const asked = Object.entries(node).filter(([key]) => key !== 'incremental' && key !== 'where');
  return JSON.stringify(asked).includes('"state":');
}

function encodeRequest(request: ShownRequest | undefined): string {
  return request === undefined ? '' : `${request.method} ${request.url}\n${request.body ?? ''}`;
}
