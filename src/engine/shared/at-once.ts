/** Number of requests to begin ahead: a fixed one, or one that follows what the API takes. */
export type RequestsAtOnce = number | (() => number);

export function numberAtOnce(atOnce: RequestsAtOnce): number {
  return typeof atOnce === 'number' ? atOnce : atOnce();
}
