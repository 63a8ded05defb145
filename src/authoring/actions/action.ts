import type { ProbeOptions } from '../../engine/extract/probe.ts';
import type { Json } from '../../lib/json/index.ts';

/** Dependencies of an action: those of a probe, without the choice of a job. */
export type ActionContext = Omit<ProbeOptions, 'job' | 'maxCalls'>;

/** A helper of user interfaces: short, without output files. */
export interface Action {
  /** The value of `action` in the configuration. */
  readonly name: string;
  /** @throws {ExtractorError} what went wrong, where, and what to do */
  readonly run: (context: ActionContext) => Promise<Json>;
}
