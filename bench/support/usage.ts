// Loaded into a measured process: writes down what it took, when it ends.
import { readFileSync, writeFileSync } from 'node:fs';

const { BENCH_USAGE: file } = process.env;
if (file !== undefined) {
  process.on('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    const usage = { peakKb: peakOfThisProgram() ?? maxRSS, cpuMs: (userCPUTime + systemCPUTime) / 1000 };
    writeFileSync(file, JSON.stringify(usage));
  });
}

/** `maxRSS` remembers what the parent had before it started this program; Linux knows better. */
function peakOfThisProgram(): number | undefined {
  try {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return peak === undefined ? undefined : Number(peak);
  } catch {
    return undefined;
  }
}
