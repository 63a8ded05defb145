import { notBefore, plainPath, type IncrementalDraft } from './incremental.ts';
import type { TranslatedJob } from './parent-rows.ts';
import type { RecordsDraft } from './records.ts';
import { fieldSource } from './scope.ts';
import type { StreamParts } from './stream-parts.ts';
import { call } from './translate/out.ts';
import { pathText } from './translate/position.ts';

/** Windows and state, where the request or the rows have a use for them. */
export function withWindows(
  parts: StreamParts,
  job: TranslatedJob,
  draft: IncrementalDraft,
  records: RecordsDraft,
  isBelowNew: boolean,
): boolean {
  const { incremental, windows, cursorField, stateOf } = withFilterBefore(parts, job, draft, records);
  const usesWindow = JSON.stringify(job).includes('{"window":');
  if (usesWindow && windows !== undefined) job['windows'] = windows;
  if (!usesWindow && windows?.['step'] !== undefined)
    parts.findings.note(
      'Asked for once: no request uses the windows of time, for each of which the other tool asks for the same rows again.',
    );
  if (incremental === undefined) return false;
  const { first, ...rest } = incremental;
  // rows before the start are left out in the first run, too, whatever the API gives
  const isFirst = first !== undefined && (!usesWindow || incremental['filter'] === true);
  const state = isFirst ? incremental : rest;
  const isUsed =
    usesWindow ||
    incremental['filter'] === true ||
    incremental['order'] !== undefined ||
    incremental['to'] !== undefined;
  if (!isUsed) {
    parts.findings.note(
      isBelowNew
        ? 'Reads all rows of each new row of the parent: the API is not asked for newer ones.'
        : 'Reads all rows in every run: the API is not asked for newer ones.',
    );
    return false;
  }
  const field = cursorField ?? '';
  const top = field.split('.')[0] ?? field;
  const isConverted = records.isChanged(top) && records.isConvertedTime(top);
  if (isConverted)
    parts.findings.column(`“${field}” is converted by Python code: the state takes it for the same time`);
  const added = records.added.get(field);
  const named = added?.out ?? fieldSource(records.names, [field], 'path');
  const why =
    records.isChanged(top) && !isConverted
      ? 'is changed by Python code'
      : named === undefined
        ? 'has another name by then'
        : undefined;
  if (why !== undefined) {
    withoutState(parts, field, why, incremental);
    return false;
  }
  const isMoved = added === undefined && records.names.isChanged && named !== undefined;
  const made = added?.out ?? (isMoved ? named : undefined);
  const cursor = made === undefined ? state['cursor'] : plainPath(stateOf?.(made) ?? made);
  // rows that are left out don't move the state
  const source = typeof cursor === 'string' ? { path: cursor } : cursor;
  const moving =
    records.isKept === undefined || source === undefined ? cursor : call('if', records.isKept, source, null);
  // the format is that of what the code makes
  const { cursorFormat, ...others } = state;
  job['incremental'] = {
    ...others,
    ...(moving === undefined ? {} : { cursor: moving }),
    ...(cursorFormat === undefined || isConverted ? {} : { cursorFormat }),
  };
  return true;
}

/**
 * Leaves old rows out by the field as the API gives it, where the other tool does so before its transformations make
 * that of the state: a row that has none yet is kept.
 */
function withFilterBefore(
  { retriever }: StreamParts,
  job: TranslatedJob,
  draft: IncrementalDraft,
  records: RecordsDraft,
): IncrementalDraft {
  const { incremental: { filter, ...others } = {}, cursorField = '' } = draft;
  const selector = retriever.child('record_selector');
  const isBefore =
    selector?.get('transform_before_filtering') !== undefined && !selector.flag('transform_before_filtering');
  // a feed leaves them out behind its pages
  const isFeed = others['order'] !== undefined;
  if (filter !== true || isFeed || !isBefore || !records.added.has(cursorField)) return draft;
  const field = { path: pathText([cursorField]) };
  const isNew = notBefore(plainPath(draft.cursorOf?.(field) ?? field), { window: 'from' });
  job['where'] = job['where'] === undefined ? isNew : { all: [job['where'], isNew] };
  return { ...draft, incremental: others };
}

/** Reads a stream without a state, whose newest value can't be told: from the start in every run. */
function withoutState(
  { stream, findings }: StreamParts,
  field: string,
  why: string,
  { to }: NonNullable<IncrementalDraft['incremental']>,
): void {
  // without a window the state itself is what is sent
  if (to === undefined)
    findings.moreRows(
      `Every run reads all rows, as the first one does: the field “${field}” of the state ${why}.`,
    );
  else findings.not(stream.place('incremental_sync'), `The field “${field}” of the state ${why}`);
}
