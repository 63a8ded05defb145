import type { SendWrapper } from '../shared/message.ts';
import { DEFAULT_LIMITS } from './send/limits.ts';
import { looksPacked, receiveWhole } from './send/receive.ts';
import { targetOf } from './send/target.ts';

/**
 * Unpacks files that came as whole bodies, from a `Send` in the place of the network: the transport unpacks them while
 * it receives them. Inside of retries, so that a file that was cut is requested again.
 */
export function files(maxBytes: number = DEFAULT_LIMITS.maxBodyBytes): SendWrapper {
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
