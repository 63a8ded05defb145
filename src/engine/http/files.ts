import type { SendWrapper } from '../shared/message.ts';
import { DEFAULT_BOTTOM } from './send/bottom.ts';
import { looksPacked, receiveWhole } from './send/receive.ts';
import { targetOf } from './send/target.ts';

/**
 * Unpacks files that came as whole bodies: from the bottom for proxies and tunnels, or one of a user of the library.
 * The usual bottom unpacks them as they come. Inside of retries, so that a file that was cut is asked for again.
 */
export function files(maxBytes: number = DEFAULT_BOTTOM.maxBodyBytes): SendWrapper {
  return (next) => async (request, options) => {
    const response = await next(request, options);
    const { file: rule } = options;
    const { body, headers, status, large, unpacked } = response;
    if (rule === undefined || large !== undefined || unpacked !== undefined || status >= 300) return response;
    if (!rule.takes(headers) || (rule.compression === 'auto' && !looksPacked(body))) return response;
    if (rule.compression === 'none' || body.length === 0) return response;
    const attempt = { origin: targetOf(request.url).origin, answered: true };
    return { ...response, ...(await receiveWhole(body, { rule, maxBytes, isLimited: true, attempt })) };
  };
}
