/** Work that is repeated on request, once at a time. */
export interface Repeated {
  /** Does it now, or once more when it is at work: a request meanwhile may concern a part that is done already. */
  readonly ask: () => void;
  /** Stops it. @returns a promise that resolves when it is not at work */
  readonly stop: () => Promise<void>;
}

/** @param work must not reject */
export function repeated(work: () => Promise<void>): Repeated {
  const state = { isAsked: false, isStopped: false };
  let working: Promise<void> | undefined;
  return {
    ask() {
      state.isAsked = true;
      working ??= workOn().finally(() => {
        working = undefined;
      });
    },
    async stop() {
      state.isStopped = true;
      await working;
    },
  };

  async function workOn(): Promise<void> {
    while (state.isAsked && !state.isStopped) {
      state.isAsked = false;
      await work();
    }
  }
}
