import { RunError } from '../lib/errors.ts';
import { KNOWN_COMPONENT, type BranchPlace } from '../service/open/open-target.ts';
import type { Args } from './command.ts';

/** Returns the configuration that the options name; undefined for a run over a data folder. */
export function storedArg(args: Args): BranchPlace | undefined {
  const [component, configuration] = [args.text('component'), args.text('config')];
  const branch = args.text('branch');
  if (component !== undefined && configuration !== undefined) return { component, configuration, branch };
  if (component === undefined && configuration === undefined && branch === undefined) return undefined;
  throw new RunError('command.invalid', 'A stored configuration is named by its component and its id.', {
    hint: `Write both, such as --component ${KNOWN_COMPONENT} --config 42.`,
  });
}
