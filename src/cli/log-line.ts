import { plainLine, terminalLine } from '../lib/logging/lines.ts';
import { LEVELS, type Level } from '../lib/logging/log.ts';
import { encodeExact, type Json } from '../lib/json/index.ts';
import type { RunLogLine } from '../storage/client/index.ts';
import type { Args, Io } from './command.ts';

export type ShowLine = (line: RunLogLine) => void;

/** Shows lines of a log that was written elsewhere as those of this process are shown, with their own times. */
export function openLogLines(args: Args, io: Io): ShowLine {
  const lowest = LEVELS.indexOf(levelOf(args.text('log-level') ?? 'info'));
  const isJson = args.text('log-format') === 'json';
  return (line) => {
    const { level: given, time, message, ...fields } = line;
    const level = levelOf(given);
    if (LEVELS.indexOf(level) < lowest) return;
    // As it was parsed.
    if (isJson) io.note(encodeExact(line as unknown as Json));
    else if (io.isTerminal) io.note(terminalLine(level, message, fields));
    else io.note(plainLine(Date.parse(time), level, message, fields));
  };
}

function levelOf(text: string): Level {
  return LEVELS.find((level) => level === text) ?? 'info';
}
