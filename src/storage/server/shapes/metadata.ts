import type { Reply } from '../http/answer.ts';
import type { ShownMetadata } from '../meta/metadata.ts';
import { apiTime } from './time.ts';

/** One metadata of anything (storage 1.6). */
export function metadataReply(
  row: Omit<ShownMetadata, 'owner'>,
  withProvider: boolean,
): Record<string, Reply> {
  return {
    id: String(row.id),
    key: row.key,
    value: row.value,
    ...(withProvider ? { provider: row.provider } : {}),
    timestamp: apiTime(row.timestamp),
  };
}
