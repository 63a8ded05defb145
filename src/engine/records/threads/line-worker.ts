// A thread that makes lines: see `line-threads.ts`.
import { parentPort } from 'node:worker_threads';
import { LinesHere } from './lines-here.ts';
import type { LinesAsked } from './messages.ts';

const lines = new LinesHere();
parentPort?.on('message', (asked: LinesAsked) => {
  const made = lines.make(asked);
  const buffers =
    made === undefined ? [] : [made.seen.rows, made.seen.values, ...made.batches.map(({ bytes }) => bytes)];
  parentPort?.postMessage(
    made,
    buffers.map(({ buffer }) => buffer as ArrayBuffer), // they were made here, and are shared with nobody
  );
});
parentPort?.postMessage('ready', []);
