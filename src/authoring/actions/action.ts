import type { ProbeOptions } from '../../engine/extract/probe.ts';
import type { Json } from '../../lib/json/index.ts';

/** What an action may use: what a look at a job takes. */
export type ActionContext = Omit<ProbeOptions, 'job' | 'maxCalls'>;

/** A helper of user interfaces: short, without output files. */
export interface Action {
  /** The value of `action` in the configuration. */
  readonly name: string;
  /** @throws {ExtractorError} what went wrong, where, and what to do */
  readonly run: (context: ActionContext) => Promise<Json>;
}
