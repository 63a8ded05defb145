/** Callbacks by the signals of controllers that are used again. */
const callbacks = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Creates a controller whose signal many use one after the other, by {@link onAbort}: to make one for each, and to add a
 * listener of the platform and take it away again, costs more than all else that a small request needs of it.
 */
export function reusedController(): AbortController {
  const controller = new AbortController();
  const known = new Set<() => void>();
  callbacks.set(controller.signal, known);
  controller.signal.addEventListener('abort', () => {
    for (const each of known) each();
  });
  return controller;
}

/** Calls back when a signal is aborted, until the function that it returns is called. */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const known = callbacks.get(signal);
  if (known === undefined) {
    signal.addEventListener('abort', call);
    return () => signal.removeEventListener('abort', call);
  }
  known.add(call);
  return () => known.delete(call);
}
