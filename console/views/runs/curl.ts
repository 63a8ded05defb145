import { shellWord } from '../../../src/lib/shell-word.ts';
import type { RunRequest } from '../../data/client.ts';

/** Returns a command that sends a request of a run again; its headers and secrets are to be added. */
export function curlOf({ request, body }: Pick<RunRequest, 'body' | 'request'>): string {
  const space = request.indexOf(' ');
  const [method, url] = [request.slice(0, space), request.slice(space + 1)];
  return [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    shellWord(url),
    ...(body === undefined ? [] : ['-d', shellWord(body)]),
  ].join(' ');
}
