// Loaded into a process whose disk is to be full at a moment: from the write of the number BENCH_FULL_AT on, each ends
// with ENOSPC after a part of its bytes.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

let left = Number(process.env['BENCH_FULL_AT'] ?? Infinity);

function full(syscall: string): NodeJS.ErrnoException | undefined {
  if (left-- > 0) return undefined;
  return Object.assign(new Error(`ENOSPC: no space left on device, ${syscall}`), { code: 'ENOSPC', syscall });
}

const { writevSync, writeSync, write } = fs;

fs.writevSync = (fd, buffers, position) => {
  const error = full('writev');
  if (error === undefined) return writevSync(fd, buffers, position);
  const [first] = buffers;
  if (first !== undefined) writeSync(fd, first as Uint8Array, 0, Math.floor(first.byteLength / 2), position); // a part of it fits
  throw error;
};
fs.writeSync = ((...args: Parameters<typeof writeSync>) => {
  const [fd] = args;
  const error = fd > 2 ? full('write') : undefined;
  if (error !== undefined) throw error;
  return writeSync(...args);
}) as typeof writeSync; // overloads
fs.write = ((...args: Parameters<typeof write>) => {
  const error = full('write');
  const done = args.at(-1) as (error: Error) => void; // how the sink calls it
  if (error === undefined) write(...args);
  else setImmediate(() => done(error));
}) as unknown as typeof write; // overloads

syncBuiltinESMExports();
