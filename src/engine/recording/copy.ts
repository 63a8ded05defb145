import type { RecordFile } from './record-file.ts';
import type { RecordingScan } from './scan.ts';

/** Something that is made of the recordings of a run, one behind the other. */
export interface RecordingCopy {
  add(file: RecordFile, scanned: RecordingScan): Promise<void>;
  /** Ends the copy, once, also when the run failed. @throws {SinkError} when it could not be written */
  end(): Promise<void>;
}
