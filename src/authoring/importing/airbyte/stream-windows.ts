import { plainPath, type IncrementalDraft } from './incremental.ts';
import type { TranslatedJob } from './parent-rows.ts';
import type { RecordsDraft } from './records.ts';
import { fieldSource } from './scope.ts';
import type { StreamParts } from './stream-parts.ts';
import { call } from './translate/out.ts';

/** Windows and state, where the request or the rows have a use for them. */
export function withWindows(
  parts: StreamParts,
  job: TranslatedJob,
  { incremental, windows, cursorField, cursorOf }: IncrementalDraft,
  records: RecordsDraft,
  isBelowNew: boolean,
): boolean {
  const usesWindow = JSON.stringify(job).includes('{"window":');
  if (usesWindow && windows !== undefined) job['windows'] = windows;
  if (incremental === undefined) return false;
  const { first, ...rest } = incremental;
  const state = usesWindow || first === undefined ? rest : incremental;
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
  if (records.isChanged(top) && records.isConvertedTime(top))
    parts.findings.column(`“${field}” is converted by Python code: the state takes it for the same time`);
  else if (records.isChanged(top))
    parts.findings.not(
      parts.stream.place('transformations'),
      `The field “${field}” of the state is changed by Python code`,
    );
  const added = records.added.get(field);
  const named = added?.out ?? fieldSource(records.names, [field], 'path');
  if (named === undefined)
    parts.findings.not(
      parts.stream.place('incremental_sync'),
      `The field “${field}” of the state has another name by then`,
    );
  const isMoved = added === undefined && records.names.isChanged && named !== undefined;
  const cursor = added?.out ?? (isMoved ? plainPath(cursorOf?.(named) ?? named) : state['cursor']);
  // rows that are left out don't move the state
  const source = typeof cursor === 'string' ? { path: cursor } : cursor;
  const moving =
    records.isKept === undefined || source === undefined ? cursor : call('if', records.isKept, source, null);
  job['incremental'] = moving === undefined ? state : { ...state, cursor: moving };
  return true;
}
