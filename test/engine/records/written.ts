import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import type { PageRows, RecordParser } from '../../../src/engine/records/parser.ts';
import type { LineThreads } from '../../../src/engine/records/threads/line-threads.ts';
import { Sink } from '../../../src/engine/sink/sink.ts';

/** Tables as a parser writes them through a real sink, by name. */
export async function writtenBy(
  parser: RecordParser,
  pages: readonly PageRows[],
  threads?: LineThreads,
): Promise<Map<string, string>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-records-'));
  try {
    const sink = new Sink(path.join(folder, 'work'));
    for (const page of pages) {
      const ahead = threads === undefined ? undefined : parser.takeAhead?.(page, sink, threads);
      if (ahead === undefined) parser.take(page, sink);
      for (let isLeft = ahead !== undefined; isLeft;) isLeft = threads?.help() === true;
      await ahead;
    }
    await sink.settle(true);
    parser.finish(() => pages, sink);
    const tables = await sink.close();
    const files = new Map(tables.map(({ name, file }) => [name, readFileSync(file, 'utf8')]));
    for (const { name, rows } of tables) expect(rows, `rows of ${name}`).toBe(linesOf(files.get(name)) - 1);
    return files;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Counts the lines of a file whose cells may have line ends in them. */
function linesOf(csv = ''): number {
  return csv.replaceAll(/"[^"]*"/g, '').split('\n').length - 1;
}
