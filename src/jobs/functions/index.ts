import { LIBRARY } from './library.ts';

export { formatDate } from './date.ts';
export { createEvaluator, type EvaluatorOptions } from './evaluate.ts';
export { flattenContext } from './flatten.ts';
export { strtotime } from './strtotime.ts';
export { urlencode } from './urlencode.ts';

/** Name → how it is called and what it gives, in one line; for documentation. */
export const FUNCTION_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LIBRARY).map(([name, { usage, description }]) => [name, `\`${usage}\`: ${description}`]),
);
