import { exitCodeOf } from '../errors.ts';
import { painted } from '../logging/lines.ts';
import { listenForInterruption } from '../process.ts';
import { Secrets } from '../secrets.ts';
import { describe, runCommandLine } from './cli.ts';
import { processIo } from './io.ts';

const interruption = listenForInterruption();
const io = processIo(new Secrets(), interruption.signal);
try {
  process.exitCode = await runCommandLine(process.argv.slice(2), io);
} catch (error) {
  io.note(`${painted('red', 'error')}: ${describe(error)}`);
  process.exitCode = interruption.exitCode() ?? exitCodeOf(error);
} finally {
  interruption.dispose();
}
