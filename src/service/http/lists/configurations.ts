import type { Meta } from '../../stores/metadata/database.ts';
import { inOrder } from '../../domain/configurations/read-configuration.ts';
import {
  configurationTexts,
  rowTexts,
  type ConfigurationListing,
  type ConfigurationParts,
  type ConfigurationText,
  type RowText,
} from './configuration-texts.ts';

/** Configurations that are read at once; the length of their contents is not known before. */
const CONFIGURATIONS_AT_ONCE = 100;

/** Lists configurations by id with the parts that are asked for, each as JSON, some at a time. */
export async function* listConfigurationTexts(
  meta: Meta,
  of: ConfigurationListing,
  parts: ConfigurationParts,
): AsyncGenerator<readonly string[]> {
  const page = { limit: CONFIGURATIONS_AT_ONCE };
  let found = await configurationTexts(meta, of, page, parts);
  for (;;) {
    const first = found[0]?.configuration_id;
    const last = found.at(-1)?.configuration_id;
    if (first === undefined || last === undefined) return;
    // In parallel: with a remote database, most of the time is spent in waiting for it.
    const [rows, next] = await Promise.all([
      parts.rows ? rowTexts(meta, of, [first, last], parts) : undefined,
      found.length < CONFIGURATIONS_AT_ONCE
        ? []
        : configurationTexts(meta, of, { ...page, after: last }, parts),
    ]);
    const byId = rows && Map.groupBy(rows, ({ configuration_id }) => configuration_id);
    yield found.map((one) => textOf(one, byId && (byId.get(one.configuration_id) ?? [])));
    found = next;
  }
}

function textOf(
  { before, after, rows_sort_order }: ConfigurationText,
  rows: readonly RowText[] | undefined,
): string {
  if (rows === undefined) return before + after;
  // A list of ids, written by this service.
  const order = JSON.parse(rows_sort_order) as string[];
  const texts = inOrder(rows, ({ row_id }) => row_id, order).map(({ text }) => text);
  return `${before},"rows":[${texts.join(',')}]${after}`;
}
