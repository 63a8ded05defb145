import type { Said, ToldError } from '../../service/domain/builder/builder-types.ts';

/** Error that another process has told. */
export class ToldFailure extends Error {
  readonly told: ToldError;

  constructor(told: ToldError) {
    super(told.message);
    this.told = told;
  }
}

/** Returns the result of a task. @throws {ToldFailure} where it failed */
export function resultOf<K extends string>(said: Said, kind: K): Extract<Said, Record<K, unknown>> {
  if ('error' in said) throw new ToldFailure(said.error);
  // told by the process that was started for this task
  if (kind in said) return said as Extract<Said, Record<K, unknown>>;
  throw new Error(`A process of gex mcp gave another answer than “${kind}”.`);
}
