import { RunError } from '../lib/errors.ts';
import type { Args } from './command.ts';

/** Returns a port from 0; 0 when the option is not given and has no default. */
export function portArg(args: Args, name: string): number {
  const text = args.text(name) ?? '0';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new RunError('command.invalid', `--${name} is a port from 0 to 65535, and not “${text}”.`, {
    hint: `Write for example --${name} 8080.`,
  });
}

/** Explains why a server cannot listen; any other error stays as it is. */
export function portError(error: unknown, host: string | undefined, hint: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return error;
  if (error.syscall === 'getaddrinfo')
    return new RunError('command.invalid', `There is no address for the host “${host}”.`, {
      hint: 'Give --host an address or a name of this machine: 127.0.0.1, or 0.0.0.0 for all of them.',
      cause: error,
    });
  // what the file system refuses has the same codes
  if (error.syscall !== 'listen') return error;
  const port = 'port' in error ? String(error.port) : '';
  if (error.code === 'EADDRINUSE')
    return new RunError('run.locked', `Port ${port} is in use by another program.`, {
      hint,
      cause: error,
    });
  if (error.code !== 'EACCES' && error.code !== 'EADDRNOTAVAIL') return error;
  return new RunError(
    'command.invalid',
    `This machine does not let the service listen there: ${error.message}.`,
    {
      hint: 'Choose another --host, or ports above 1023.',
      cause: error,
    },
  );
}
