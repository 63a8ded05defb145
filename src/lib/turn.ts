/** Yields to the event loop: signals and answers of others come through, and what was just asked for reaches its socket. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
