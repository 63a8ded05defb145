/** Milliseconds that the processor spends on some work: what else the machine is busy with does not count. */
export function workMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
