import type { Advice } from '../../storage/protocol/advice.ts';
import { type ExtractorError, HttpError, RecordError } from '../../lib/errors.ts';
import type { ApiResponse } from '../../engine/shared/message.ts';
import { shownText } from '../../lib/shown-text.ts';
import { challengeIn } from './challenge.ts';
import type { FoundRequest } from './target.ts';

/** Describes why the first request failed, with advice: there is no configuration yet to correct. */
export function firstFailure(
  failure: ExtractorError,
  target: FoundRequest,
  answer: ApiResponse | undefined,
): ExtractorError {
  const { status } = failure.details;
  const withAdvice = (advice: Advice) => ({
    details: { ...failure.details, advice },
    cause: failure,
    where: {},
  });
  if (failure.code === 'http.status' && typeof status === 'number')
    return new HttpError('http.status', failure.message, withAdvice(adviceFor(status, target, answer)));
  if (failure.code === 'response.notJson')
    return new RecordError('response.notJson', failure.message, withAdvice(notJsonAdvice(target, answer)));
  const { details, hint } = failure;
  return new HttpError(failure.code, failure.message, { details, cause: failure, where: {}, hint });
}

function adviceFor(
  status: number,
  { authentication }: FoundRequest,
  answer: ApiResponse | undefined,
): Advice {
  const given = answer?.headers['www-authenticate'];
  const challenge = given === undefined ? undefined : shownText(given).slice(0, 200);
  if (status === 401 || (status === 403 && authentication === undefined)) {
    const asked = challengeIn(given);
    const header = asked.kind === undefined ? headerIn(answer) : undefined;
    const isRefused = authentication !== undefined;
    return { code: 'login', isRefused, ...asked, challenge, ...(header === undefined ? {} : { header }) };
  }
  if (status === 403) return { code: 'rights', challenge };
  if (status === 404 || status === 410) return { code: 'address' };
  if (status === 405) return { code: 'method' };
  if (status === 400 || status === 422) return { code: 'request' };
  return { code: status === 429 ? 'limit' : 'fault' };
}

/** Finds the name of a header for a key, in the challenge or the words of a refusal: “X-Api-Key is missing”. */
function headerIn(answer: ApiResponse | undefined): string | undefined {
  const words = Buffer.from(answer?.body ?? [])
    .subarray(0, 2000)
    .toString('utf8');
  const given = `${answer?.headers['www-authenticate'] ?? ''} ${words}`;
  return /(?<![\w-])x-[a-z-]{0,40}(?:key|token|auth)[a-z-]{0,20}(?![\w-])/i.exec(given)?.[0];
}

function notJsonAdvice({ baseUrl, endpoint }: FoundRequest, answer: ApiResponse | undefined): Advice {
  const type = (answer?.headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  if (!/html/i.test(type)) return { code: 'format', type: shownText(type) };
  const isElsewhere =
    answer !== undefined && !answer.url.startsWith(`${baseUrl}${endpoint === '/' ? '' : endpoint}`);
  return { code: 'page', ...(isElsewhere ? { ledTo: shownText(answer.url.split('?', 1)[0] ?? '') } : {}) };
}
