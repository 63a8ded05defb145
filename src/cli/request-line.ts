import type { RequestEvent } from '../engine/extract/progress.ts';
import { formatBytes } from './format.ts';

/** Bodies are longer than a line, and begin with what they are about. */
const LONGEST_BODY = 300;

/**
 * Formats a request as `→ 3 GET https://api.example.com/users?page=2`, and its answer as `← 3 200, 1.2 kB in 85 ms`.
 */
export function requestLine({ number, request, body, answer }: RequestEvent): string {
  if (answer === undefined) return `→ ${number} ${request}${body === undefined ? '' : ` ${short(body)}`}`;
  return 'status' in answer
    ? `← ${number} ${answer.status}, ${formatBytes(answer.bytes)} in ${answer.ms} ms`
    : `← ${number} failed in ${answer.ms} ms: ${answer.failure}`;
}

function short(text: string): string {
  return text.length > LONGEST_BODY ? `${text.slice(0, LONGEST_BODY)}…` : text;
}
