/** What a run sends to its keeper: everything that it has written so far is to be kept. */
export interface KeepMessage {
  readonly gex: 'keep';
  /** Which question this is. */
  readonly number: number;
}

/** The answer. */
export interface KeptMessage {
  readonly gex: 'kept';
  readonly number: number;
  /** Why it is not kept, and will not be. */
  readonly refusal?: string;
}

/** Names the run for its process, which asks its keeper. */
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
