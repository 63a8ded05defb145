import type { JobRequest } from '../shared/message.ts';
import type { PageSource, PageStep } from '../pagination/pages.ts';
import type { Reason } from '../shared/stop-reason.ts';
import type { PageContent } from './content.ts';
import { isExpired, type ExportRun } from './export-run.ts';

type Pages = AsyncGenerator<PageStep<PageContent>, Reason>;

export interface ExportPagesOptions {
  readonly exporting: ExportRun;
  /** Pages of all files. */
  readonly limit: number | undefined;
  /** The pages of one file; `before` are those of the files before it. */
  readonly filePages: (request: JobRequest, before: number) => Pages;
  /** Told when there is no file. */
  readonly onEmpty: (reason: Reason) => void;
}

/** Nobody reads why pages ended that are given up. */
const GIVEN_UP: Reason = { code: 'other', text: 'the export was given up' };

/** Ends that are no end of an export: pages were left out. */
const CUTS: ReadonlySet<Reason['code']> = new Set([
  'limit',
  'rowLimit',
  'forcePages',
  'forceTime',
  'forceVolume',
]);

/** Waits for an export, then gives the pages of its files, one file behind the other. */
export async function* exportPages({ exporting, limit, filePages, onEmpty }: ExportPagesOptions): Pages {
  let files = await exporting.files();
  let before = 0;
  let reason: Reason | undefined;
  let isAgain = false;
  for (let file = 0; file < files.requests.length; file++) {
    if (limit !== undefined && before >= limit) return { code: 'limit', pages: limit };
    const request = files.requests[file];
    if (request === undefined) break;
    const pages = filePages(request, before);
    let step: IteratorResult<PageStep<PageContent>, Reason>;
    try {
      step = await pages.next();
    } catch (error) {
      // an address of a run that was stopped may have expired since: it is asked for once more
      if (isAgain || !files.isRecorded || !isExpired(error)) throw error;
      isAgain = true;
      files = await exporting.again();
      file--;
      continue;
    }
    let last = 0;
    try {
      for (; step.done !== true; step = await pages.next()) {
        last = step.value.page;
        yield { ...step.value, page: before + last };
      }
    } finally {
      await pages.return(GIVEN_UP);
    }
    before += last;
    reason = step.value;
    if (CUTS.has(reason.code)) return reason;
  }
  const count = files.requests.length;
  // a file in pages of its own says itself how it ended
  if (count === 1 && reason !== undefined && reason.code !== 'noPagination') return reason;
  const ended: Reason = { code: 'export', files: count };
  if (count === 0) onEmpty(ended);
  return ended;
}

/** Returns a source whose pages are counted on from those before it. */
export function countedBehind<T>(source: PageSource<T>, before: number): PageSource<T> {
  if (before === 0) return source;
  return { ...source, fetch: (request, page, signal) => source.fetch(request, page + before, signal) };
}
