import { valued, flag, type Args, type Option } from './command.ts';
import { storedArg } from './stored-arg.ts';
import { refused } from './parse.ts';

/** The options of `gex run` for runs that the service does. */
export const remoteOptions = {
  remote: flag(
    'Let the storage service run the stored configuration, and follow it; Ctrl-C leaves it running',
  ),
  follow: valued('ID', 'With --remote: follow this run, and start none'),
  cancel: valued('ID', 'With --remote: ask this run to end, and follow it'),
} as const satisfies Record<string, Option>;

/** Options that the service supports. */
const KNOWN = new Set([
  ...Object.keys(remoteOptions),
  'storage',
  'branch',
  'component',
  'config',
  'row',
  'from',
  'to',
  'restart',
  'json',
  'log-format',
  'log-level',
]);

/** @throws {RunError} `command.invalid` for options that do not go together */
export function isRemote(args: Args, options: Readonly<Record<string, Option>>): boolean {
  const given = (name: string): boolean =>
    options[name]?.type === 'boolean'
      ? args.isSet(name)
      : args.list(name).length > 0 && options[name]?.default !== args.text(name);
  const stray = ['follow', 'cancel'].find(given);
  if (!args.isSet('remote')) {
    if (stray === undefined) return false;
    throw refused(`--${stray} is for runs of the service.`, `Write --remote --${stray} ${args.text(stray)}.`);
  }
  const local = Object.keys(options).find((name) => !KNOWN.has(name) && given(name));
  if (local !== undefined)
    throw refused(`--${local} does not go with --remote.`, 'The service runs what it keeps, as it is.');
  const known = args.text('follow') ?? args.text('cancel');
  if (args.text('follow') !== undefined && args.text('cancel') !== undefined)
    throw refused('--follow and --cancel are for one run each.', 'Leave one of the two out.');
  const isNew = ['component', 'config', 'row', 'from', 'to', 'restart'].find(given);
  if (known !== undefined && isNew !== undefined)
    throw refused(`--${isNew} is for a run that is started.`, 'Leave it out: the run is known by its id.');
  if (known === undefined && storedArg(args) === undefined)
    throw refused(
      '--remote runs a configuration that the storage keeps.',
      'Name it with --component and --config.',
    );
  return true;
}
