import { RunError } from '../lib/errors.ts';
import { isNetwork } from '../service/http/limits/clients.ts';
import type { ServiceOptions } from '../service/start/service.ts';
import { valued, type Args, type Option } from './command.ts';
import { portArg } from './port.ts';

/** The options of `gex serve` for whoever looks after it. */
export const careOptions = {
  'keep-days': valued('N', 'Days that finished jobs, runs and events are kept', { default: '90' }),
  'health-port': valued(
    'N',
    'Port of /health, /ready and /metrics alone, which need no token there; 0 takes a free one',
  ),
  'health-host': valued('HOST', 'Address to listen on for these; 127.0.0.1 by default'),
  'requests-per-minute': valued(
    'N',
    'Requests a minute that a token may send, by default GEX_REQUESTS_PER_MINUTE, else any number',
  ),
  'max-requests': valued('N', 'Requests that are answered at the same time; more are told to come again', {
    default: '500',
  }),
  'trust-proxy': valued(
    'ADDRESSES',
    'Addresses and networks of proxies, with commas: the addresses of clients come from their X-Forwarded-For',
  ),
  'drain-seconds': valued(
    'N',
    'How long to go on with /ready at 503 before stopping, so that a proxy sends nothing more',
    { default: '0' },
  ),
} as const satisfies Record<string, Option>;

type CareOptions = Pick<
  ServiceOptions,
  'healthHost' | 'healthPort' | 'keepDays' | 'maxRequests' | 'requestsPerMinute' | 'trustedProxies'
> & { readonly drainMs: number };

/** @throws {RunError} `command.invalid` */
export function careArgs(args: Args, environment: Readonly<Record<string, string | undefined>>): CareOptions {
  const healthHost = args.text('health-host');
  const hasPort = args.text('health-port') !== undefined;
  if (healthHost !== undefined && !hasPort)
    throw new RunError('command.invalid', '--health-host needs --health-port as well.', {
      hint: 'Write for example --health-port 9090.',
    });
  const perMinute = args.text('requests-per-minute') ?? environment['GEX_REQUESTS_PER_MINUTE'] ?? '';
  return {
    keepDays: number('--keep-days', args.text('keep-days') ?? '90', 'a number of days', 30),
    maxRequests: number('--max-requests', args.text('max-requests') ?? '500', 'a number of requests', 500),
    drainMs: drainMs(args.text('drain-seconds') ?? '0'),
    trustedProxies: trustedProxies(args, environment),
    ...(hasPort ? { healthPort: portArg(args, 'health-port') } : {}),
    ...(healthHost === undefined ? {} : { healthHost }),
    ...(perMinute === ''
      ? {}
      : {
          requestsPerMinute: number(
            args.text('requests-per-minute') === undefined
              ? 'GEX_REQUESTS_PER_MINUTE'
              : '--requests-per-minute',
            perMinute,
            'a number of requests',
            600,
          ),
        }),
  };
}

/** @throws {RunError} `command.invalid` */
export function trustedProxies(
  args: Args,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const text = args.text('trust-proxy') ?? environment['GEX_TRUST_PROXY'] ?? '';
  const networks = text.split(/[\s,]+/).filter((network) => network !== '');
  const wrong = networks.find((network) => !isNetwork(network));
  if (wrong === undefined) return networks;
  throw new RunError('command.invalid', `--trust-proxy takes addresses and networks, and not “${wrong}”.`, {
    hint: 'Write for example --trust-proxy 127.0.0.1,10.0.0.0/8.',
  });
}

function number(name: string, text: string, what: string, example: number): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new RunError('command.invalid', `${name} is ${what} from 1, and not “${text}”.`, {
    hint: `Write for example ${name}${name.startsWith('-') ? ' ' : '='}${example}.`,
  });
}

function drainMs(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text) * 1000;
  throw new RunError('command.invalid', `--drain-seconds is a number of seconds, and not “${text}”.`, {
    hint: 'Write for example --drain-seconds 5.',
  });
}
