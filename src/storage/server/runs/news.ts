/** Tells the runner of this process that a run waits; those of other processes see it when they look. */
export interface RunNews {
  tell(): void;
  /** @returns ends the listening */
  listen(listener: () => void): () => void;
}

export function createRunNews(): RunNews {
  const listeners = new Set<() => void>();
  return {
    tell() {
      for (const listener of listeners) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
