import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { HttpError } from '../../../lib/errors.ts';
import { percentDecoded } from '../../../lib/percent.ts';

/** Destination of a request, in the form that `node:http` needs. */
export interface Target extends Authority {
  /** The exact request target: path and query. */
  readonly path: string;
}

interface Authority {
  readonly secure: boolean;
  /** Without brackets, in ASCII. */
  readonly hostname: string;
  readonly port: number;
  /** `scheme://host[:port]`, without the user. */
  readonly origin: string;
  /** Name for TLS; empty for an address in numbers. */
  readonly servername: string;
  /** Value of the `Host` header. */
  readonly host: string;
  /** Value of `Authorization` when the address names a user. */
  readonly authorization: string | undefined;
}

const authorities = new Map<string, Authority>();

/** The last address: all who look at a request take it apart. */
let last: { readonly url: string; readonly target: Target } | undefined;

/**
 * Takes an absolute http or https URL apart without changing a byte of path and query, except what cannot stand in
 * a request line: spaces, control characters and what is not ASCII are percent-encoded as UTF-8.
 */
export function targetOf(url: string): Target {
  if (last?.url !== url) last = { url, target: parseTarget(url) };
  return last.target;
}

function parseTarget(url: string): Target {
  const start = url.indexOf('://') + 3;
  const found = url.slice(start).search(/[/?#]/);
  const end = found === -1 ? url.length : start + found;
  const fragment = url.indexOf('#', end);
  const rest = fragment === -1 ? url.slice(end) : url.slice(end, fragment);
  return { ...authorityOf(url.slice(0, end)), path: sendable(rest.startsWith('/') ? rest : `/${rest}`) };
}

function authorityOf(prefix: string): Authority {
  const known = authorities.get(prefix);
  if (known !== undefined) return known;
  const authority = parseAuthority(prefix);
  if (authorities.size > 1000) authorities.clear();
  authorities.set(prefix, authority);
  return authority;
}

function parseAuthority(prefix: string): Authority {
  const [, scheme = '', user, name = '', portText = ''] =
    /^(https?):\/\/(?:([^]*)@)?(\[[0-9a-f:.%]+\]|[^:[\]@]+)(?::(\d*))?$/i.exec(prefix) ?? [];
  const hostname = name.startsWith('[') ? name.slice(1, -1) : asciiHost(name);
  const secure = scheme.toLowerCase() === 'https';
  const usual = secure ? 443 : 80;
  const port = portText === '' ? usual : Number(portText);
  if (hostname === '' || port > 65_535)
    throw new HttpError('job.invalid', `“${withoutUser(prefix)}” is no http or https address.`, {
      hint: 'Check api.baseUrl and the endpoint of the job.',
    });
  const shown = name.startsWith('[') ? name : hostname;
  const host = port === usual ? shown : `${shown}:${port}`;
  const authorization =
    user === undefined ? undefined : `Basic ${Buffer.from(readable(user)).toString('base64')}`;
  const servername = isIP(hostname) === 0 ? hostname : '';
  return {
    secure,
    hostname,
    port,
    servername,
    host,
    origin: `${secure ? 'https' : 'http'}://${host}`,
    authorization,
  };
}

/** Converts a host name to ASCII; names of one label or with underscores stay as they are, as in `URL`. */
function asciiHost(name: string): string {
  const isAscii = Buffer.byteLength(name) === name.length;
  return isAscii ? name.toLowerCase() : domainToASCII(name);
}

function sendable(path: string): string {
  return /[^!-~]/.test(path)
    ? path.replace(/[^!-~]+/g, (text) => encodeURIComponent(text.toWellFormed()))
    : path;
}

function readable(user: string): string {
  const [name = '', ...password] = user.split(':');
  return [name, password.join(':')].map(percentDecoded).join(':');
}

function withoutUser(prefix: string): string {
  const [from, at] = [prefix.indexOf('//'), prefix.lastIndexOf('@')];
  return from < 0 || at < from ? prefix : prefix.slice(0, from + 2) + prefix.slice(at + 1);
}
