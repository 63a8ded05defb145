import { ActionError } from '../../../lib/errors.ts';
import { isHttpUrl, resolveUrl } from '../../../engine/http/url.ts';

/** An address taken apart, byte for byte. */
export interface CurlAddress {
  /** Without user, password, query and fragment. */
  readonly place: string;
  /** Undefined when there is no `?`. */
  readonly query: string | undefined;
  readonly hasUser: boolean;
}

/**
 * Takes the address of a command apart. Without a scheme it is http, as with curl, or the scheme of the base URL
 * where that has the same host.
 *
 * @throws {ActionError} when it is no http or https address
 */
export function readAddress(text: string, baseUrl: string | undefined): CurlAddress {
  const bare = text.trim();
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(bare) ? bare : `${schemeFor(bare, baseUrl)}://${bare}`;
  const [, scheme = '', user, rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*@)?([^#]*)/i.exec(whole) ?? [];
  const mark = rest.indexOf('?');
  const place = `${scheme}${mark < 0 ? rest : rest.slice(0, mark)}`;
  if (!isHttpUrl(place.replaceAll(' ', '%20')))
    throw new ActionError('action.invalid', 'The address of the command is no http or https URL.', {
      hint: 'Write it in quotes, with https:// in front; variables of the shell need their values.',
    });
  return { place, query: mark < 0 ? undefined : rest.slice(mark + 1), hasUser: user !== undefined };
}

/** Returns the endpoint of a job: relative to the base URL if the address is below it, else the whole address. */
export function endpointFor(address: string, baseUrl: string | undefined): string {
  const whole = resolveUrl(address, '');
  if (baseUrl === undefined) return whole;
  const folder = resolveUrl(baseUrl, '.');
  if (!whole.startsWith(folder)) return whole;
  const rest = whole.slice(folder.length);
  const path = rest.split('?', 1)[0] ?? '';
  return path !== '' && resolveUrl(baseUrl, rest) === whole ? rest : whole;
}

function schemeFor(bare: string, baseUrl: string | undefined): string {
  const [, scheme, host] = /^(https?):\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(baseUrl ?? '') ?? [];
  const own = bare.split(/[/?#]/, 1)[0]?.replace(/^.*@/, '');
  return scheme !== undefined && own?.toLowerCase() === host?.toLowerCase() ? scheme : 'http';
}
