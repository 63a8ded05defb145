import { shellWord } from '../../../src/lib/shell-word.ts';

/** Returns a command that sends a request of a run again; its headers and secrets are to be added. */
export function curlOf({
  method,
  url,
  body,
}: {
  readonly method: string;
  readonly url: string;
  readonly body?: string | undefined;
}): string {
  return [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    shellWord(url),
    ...(body === undefined ? [] : ['-d', shellWord(body)]),
  ].join(' ');
}
