import { LIBRARY } from './library.ts';

export { formatDate } from './date.ts';
export { createCaller, createEvaluator } from './evaluate.ts';
export { strtotime } from './strtotime.ts';

/** Name → how it is called and what it gives, in one line; for documentation. */
export const FUNCTION_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LIBRARY).map(([name, { usage, description }]) => [name, `\`${usage}\`: ${description}`]),
);
