import type { ToldPage } from '../explain/story.ts';
import { toText } from '../json/index.ts';
import { reasonText } from '../reason.ts';
import type { Told } from './explain-text.ts';

/** All of it, for programs. */
export function storyJson({ recording, story }: Told): object {
  const { row, source, scanned, damagedBytes } = recording;
  const { head, isFinished } = scanned;
  return {
    recording: source,
    version: head.version,
    startedAt: new Date(head.startedAt).toISOString(),
    ...(row === undefined ? {} : { row }),
    finished: isFinished,
    ...(damagedBytes === 0 ? {} : { damagedBytes }),
    jobs: story.jobs.map(({ name, level, runs, report }) => ({
      job: name,
      level,
      ...(report === undefined
        ? {}
        : { verdict: report.verdict, pages: report.pages, rows: report.rows, doubtful: report.doubtful }),
      runs: runs.map(({ above, row: parentRow, iteration, window, pages }) => ({
        ...(above.length === 0
          ? { iteration }
          : { above: above.map(({ job, page }) => ({ job, page })), row: (parentRow ?? 0) + 1 }),
        ...(window === undefined ? {} : { window }),
        pages: pages.map(pageJson),
      })),
    })),
  };
}

function pageJson({ page, exchange, body, note, fate, from }: ToldPage): object {
  const { request, status, url, ms, attempts, at } = exchange;
  const { stop, judgement, values } = note;
  return {
    page,
    request: {
      method: request.method,
      url: request.url,
      ...(request.body === undefined ? {} : { body: request.body }),
    },
    status,
    ...(url === undefined ? {} : { answeredBy: url }),
    at: new Date(at).toISOString(),
    ms,
    retries: (attempts ?? 1) - 1,
    bytes: exchange.large?.bytes ?? body.bytes,
    ...(note.rows === undefined ? {} : { rows: note.rows }),
    fate,
    from,
    ...(values === undefined
      ? {}
      : {
          looked: Object.fromEntries(
            [...values].map(([path, value]) => [path, value === null ? null : toText(value)]),
          ),
        }),
    ...(stop === undefined ? {} : { end: { ...stop, text: reasonText(stop) } }),
    ...(judgement === undefined ? {} : { judgement }),
  };
}
