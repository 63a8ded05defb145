// A thread that makes lines: see `line-threads.ts`.
import { parentPort } from 'node:worker_threads';
import { LinesHere } from './lines-here.ts';
import type { LinesAsked, WorkerMessage } from './messages.ts';

/** Bytes of rows after which what makes lines is compiled. */
const PRACTICE_BYTES = 1 << 20;

const lines = new LinesHere();
const send = (message: WorkerMessage, arrays: readonly (Uint8Array | Int32Array)[] = []): void =>
  parentPort?.postMessage(
    message,
    arrays.map(({ buffer }) => buffer as ArrayBuffer), // they were made here or given, and are shared with nobody
  );

parentPort?.on('message', (asked: LinesAsked) => {
  if (asked.isPractice === true) {
    practise(asked);
    return;
  }
  const made = lines.make(asked);
  const { bytes } = asked;
  const arrays =
    made === undefined ? [] : [made.seen.rows, made.seen.values, ...made.batches.map((batch) => batch.bytes)];
  send({ made, bytes }, [bytes, ...arrays]);
});
send('started');

function practise(asked: LinesAsked): void {
  lines.make(asked);
  for (let done = asked.bytes.length; done < PRACTICE_BYTES; done += asked.bytes.length)
    lines.make({ ...asked, data: undefined });
  send('practised');
}
