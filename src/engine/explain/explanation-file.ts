import { CompressedFile } from '../recording/compressed-file.ts';
import type { RecordingCopy } from '../recording/copy.ts';
import type { RecordFile } from '../recording/record-file.ts';
import type { RecordingScan } from '../recording/scan.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { readStory, type PartOfStory } from './trace.ts';
import { storyLines } from './trace-json.ts';

/** Limits for each configuration row, since its trace is in memory while it is written. */
const PART: PartOfStory = { requests: 5000, bodyLength: 4096 };

/** Limit for all configuration rows together, so that the file can be read as a whole each time. */
const MAX_REQUESTS = 200_000;

/**
 * Traces of the recordings of a run, as a compressed file of JSON lines (`storyLines`): some hundred bytes for each
 * request, whatever the size of the answers. Secrets that an API repeats are masked.
 */
export class ExplanationFile implements RecordingCopy {
  readonly #file: CompressedFile;
  readonly #secrets: Secrets;
  #requests = 0;

  constructor(path: string, secrets: Secrets) {
    this.#file = new CompressedFile(path);
    this.#secrets = secrets;
  }

  async add(file: RecordFile, scanned: RecordingScan): Promise<void> {
    const left = Math.floor((MAX_REQUESTS - this.#requests) / 2);
    const part = { ...PART, requests: Math.min(PART.requests, left) };
    this.#requests += Math.min(scanned.exchanges, 2 * part.requests);
    const damagedBytes = file.end - scanned.end;
    const story = readStory(file, scanned, part);
    for (const line of storyLines({ row: scanned.head.row, scanned, damagedBytes, story }))
      if (!(await this.#file.write(this.#secrets.mask(Buffer.from(`${line}\n`))))) return;
  }

  async end(): Promise<void> {
    await this.#file.end();
  }
}
