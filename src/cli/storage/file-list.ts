import type { File } from '../../storage/client/index.ts';
import { formatTable } from '../format.ts';
import { short, size, time } from './facts.ts';

export function describeFiles(files: readonly File[]): string {
  return formatTable(
    ['file', 'name', 'size', 'created', 'tags'],
    files.map((file) => [
      String(file.id),
      short(file.name),
      size(file.sizeBytes),
      time(file.created),
      short(file.tags.join(', ')),
    ]),
    ['size'],
  );
}
