import { exitCodeOf } from '../lib/errors.ts';
import { listenForInterruption } from './process.ts';
import { Secrets } from '../lib/secrets.ts';
import { describe, runCommandLine } from './cli.ts';
import { processIo } from './io.ts';

const interruption = listenForInterruption();
const io = processIo(new Secrets(), interruption.signal);
try {
  process.exitCode = await runCommandLine(process.argv.slice(2), io);
} catch (error) {
  io.note([{ text: 'error', colour: 'red' }, { text: `: ${describe(error)}` }]);
  process.exitCode = interruption.exitCode() ?? exitCodeOf(error);
} finally {
  interruption.dispose();
}
