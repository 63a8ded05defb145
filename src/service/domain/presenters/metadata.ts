import type { Reply } from '../reply.ts';
import type { MetadataRow } from '../../stores/metadata/tables.ts';
import { apiTime } from './time.ts';

/** One metadata of anything. */
export function metadataReply(
  row: Pick<MetadataRow, 'id' | 'key' | 'provider' | 'timestamp' | 'value'>,
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
