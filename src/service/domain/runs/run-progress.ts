import type { ChildProcess } from 'node:child_process';
import type { RunRequest } from '../../../storage/protocol/run-requests.ts';
import type { RunProgress } from '../../../storage/protocol/run.ts';

/** Message about progress from the process of a run to its runner. */
interface ProgressMessage {
  readonly gex: 'progress';
  readonly progress: RunProgress;
  /** Requests that were answered since the last message. */
  readonly requests?: readonly RunRequest[];
}

/** To the runner that started this process, if there is one; what cannot be sent is not missed. */
export function tellRunner(progress: RunProgress, requests: readonly RunRequest[]): void {
  const message: ProgressMessage = { gex: 'progress', progress, requests };
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** Longer is nothing that this program has sent. */
const MAX_TEXT = 256 * 1024;

/** Takes what the process of a run tells: how far it is, also as JSON text, and each request as such a text. */
export function listenToProgress(
  child: ChildProcess,
  take: (progress: RunProgress, text: string, requests: readonly string[]) => void,
): void {
  child.on('message', (message: unknown) => {
    if (!isProgress(message)) return;
    const text = JSON.stringify(message.progress);
    const requests = Array.isArray(message.requests)
      ? message.requests.map((each) => JSON.stringify(each))
      : [];
    if (text.length <= MAX_TEXT)
      take(
        message.progress,
        text,
        requests.filter(({ length }) => length <= MAX_TEXT),
      );
  });
}

function isProgress(message: unknown): message is ProgressMessage {
  return (
    typeof message === 'object' &&
    message !== null &&
    'gex' in message &&
    message.gex === 'progress' &&
    'progress' in message &&
    typeof message.progress === 'object'
  );
}
