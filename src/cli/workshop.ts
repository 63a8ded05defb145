import { WORKSHOP_COMMAND } from '../service/domain/builder/child.ts';
import { silentLog } from '../lib/log.ts';
import type { Command } from './command.ts';

/**
 * Command that a service starts to probe an API, or to try a configuration out. It is hidden from the help: it has no
 * other use.
 */
export const workshopCommand: Command = {
  name: WORKSHOP_COMMAND,
  describe: 'Do what a service asks for on stdin',
  options: {},
  examples: [],
  async run(_args, io) {
    const { serveOnce } = await import('../service/domain/builder/process/main.ts');
    const orphaned = new AbortController();
    const parent = process.ppid;
    // whoever has started it was killed: nobody reads what comes
    const watch = setInterval(() => {
      if (process.ppid !== parent) orphaned.abort();
    }, 1000).unref();
    await serveOnce({
      // As it is: the configuration goes to the service with its secrets, which encrypts them.
      print: (line) => process.stdout.write(`${line}\n`),
      secrets: io.secrets,
      signal: AbortSignal.any([io.signal, orphaned.signal]),
      log: (tell) => ({ ...silentLog, info: tell, warn: (text) => tell(`Warning: ${text}`) }),
    });
    clearInterval(watch);
    return 0;
  },
};
