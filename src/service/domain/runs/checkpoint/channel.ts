/** Message of a run to its checkpointer: everything written so far is to be stored. */
export interface KeepMessage {
  readonly gex: 'keep';
  /** Number of the question. */
  readonly number: number;
}

/** Answer of the checkpointer. */
export interface KeptMessage {
  readonly gex: 'kept';
  readonly number: number;
  /** Reason why it is not stored, and will not be. */
  readonly refusal?: string;
}

/** Environment variable with the id of the run, for a process that has a checkpointer. */
export const RUN_VARIABLE = 'GEX_KEPT_RUN';

export function isKeepMessage(message: unknown): message is KeepMessage {
  return isOf(message, 'keep');
}

export function isKeptMessage(message: unknown): message is KeptMessage {
  return isOf(message, 'kept');
}

function isOf(message: unknown, gex: string): boolean {
  return typeof message === 'object' && message !== null && 'gex' in message && message.gex === gex;
}
