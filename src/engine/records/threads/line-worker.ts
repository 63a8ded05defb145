// A thread that makes lines: see `line-threads.ts`.
import { parentPort } from 'node:worker_threads';
import { LinesHere } from './lines-here.ts';
import type { LinesAsked, WorkerMessage } from './messages.ts';

/** Bytes of rows after which what makes lines is compiled. */
const PRACTICE_BYTES = 1 << 20;

const lines = new LinesHere();
const send = (message: WorkerMessage, buffers: readonly ArrayBufferLike[] = []): void =>
  parentPort?.postMessage(message, buffers as ArrayBuffer[]); // they were made here, and are shared with nobody

parentPort?.on('message', (asked: LinesAsked) => {
  if (asked.isPractice === true) {
    practise(asked);
    return;
  }
  const made = lines.make(asked);
  const arrays =
    made === undefined ? [] : [made.seen.rows, made.seen.values, ...made.batches.map(({ bytes }) => bytes)];
  send(
    made,
    arrays.map(({ buffer }) => buffer),
  );
});
send('started');

function practise(asked: LinesAsked): void {
  lines.make(asked);
  for (let done = asked.bytes.length; done < PRACTICE_BYTES; done += asked.bytes.length)
    lines.make({ ...asked, data: undefined });
  send('practised');
}
