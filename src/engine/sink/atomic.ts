import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';
import { guard } from './file-error.ts';

/** Writes a file as {@link writeFileAtomic}. On return the new name is on the disk, too, with these permissions. */
export function writeFileDurably(file: string, text: string, mode: number): void {
  writeFileAtomic(file, text, mode);
  guard(file, () => {
    const folder = openSync(path.dirname(file), 'r');
    try {
      fsyncSync(folder);
    } catch {
      // some systems have no such call for folders
    } finally {
      closeSync(folder);
    }
  });
}

/** Writes a whole file: under a temporary name beside it, then renamed. */
export function writeFileAtomic(file: string, text: string, mode = 0o666): void {
  guard(file, () => {
    mkdirSync(path.dirname(file), { recursive: true });
    const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);
    const fd = openSync(temporary, 'w', mode);
    try {
      const bytes = Buffer.from(text, 'utf8');
      for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, file);
  });
}
