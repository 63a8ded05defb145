import { eventOf } from '../events/of-configurations.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { insertionOf, type NewEvent } from '../../stores/metadata/events.ts';
import type { ConfigurationKey, ConfigurationVersion } from '../../stores/metadata/tables.ts';
import { writeTogether, type Write } from '../../stores/metadata/write-together.ts';
import { insertOrders, isSameOrder, nextOrder, orderRow, type OrderRow } from './history.ts';
import {
  contentRow,
  insertContents,
  insertVersions,
  nextVersion,
  orderOf,
  updateHead,
  type Change,
  type ContentRow,
  type Whole,
} from './model.ts';
import { findWhole } from './read-configuration.ts';

/**
 * A configuration in a transaction that several requests share: each adds its change to those before it, and all of them
 * are written at the end, by as many statements as one of them would need.
 */
export interface Unwritten {
  /** As the transaction found it. */
  readonly stored: Whole;
  /** With the changes so far. */
  readonly now: Whole;
  readonly versions: readonly ConfigurationVersion[];
  readonly contents: readonly ContentRow[];
  readonly orders: readonly OrderRow[];
  readonly events: readonly NewEvent[];
}

/** Undefined when there is none. */
export async function asStored(tx: Meta, key: ConfigurationKey): Promise<Unwritten | undefined> {
  const stored = await findWhole(tx, key);
  return stored && { stored, now: stored, versions: [], contents: [], orders: [], events: [] };
}

export interface Given {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly isDisabled?: boolean | undefined;
  /** JSON text. */
  readonly configuration?: string | undefined;
  /** JSON text. */
  readonly state?: string | undefined;
  readonly stateWriter?: string | null | undefined;
  readonly rowsSortOrder?: readonly string[] | undefined;
}

/** Adds a version with what is given, and the event that tells of it. */
export function withVersion(unwritten: Unwritten, given: Given, change: Change): Unwritten {
  const { now, versions, contents, orders, events } = unwritten;
  const before = orderOf(now);
  const wanted = given.rowsSortOrder;
  const number = now.head.version + 1;
  const order = isSameOrder(before, wanted) ? before : nextOrder(before, number, wanted);
  const loaded = nextVersion(now, given, order, change);
  const { configuration } = given;
  return {
    ...unwritten,
    now: { ...now, ...loaded, ...(configuration === undefined ? {} : { configuration }) },
    versions: [...versions, loaded.version],
    contents: configuration === undefined ? contents : [...contents, contentRow(loaded, configuration)],
    orders: order.version === number ? [...orders, orderRow(loaded.head, order)] : orders,
    events: [...events, eventOf('Changed', loaded, change)],
  };
}

/** Gives it another state, which makes no version. */
export function withState(unwritten: Unwritten, state: string, state_writer: string | null): Unwritten {
  const { now } = unwritten;
  return { ...unwritten, now: { ...now, head: { ...now.head, state, state_writer } } };
}

export async function writeAll(tx: Meta, unwritten: Unwritten): Promise<void> {
  const { stored, now, versions, contents, orders, events } = unwritten;
  const isSameState =
    now.head.state === stored.head.state && now.head.state_writer === stored.head.state_writer;
  if (versions.length === 0 && isSameState) return;
  for (const content of contents.filter(isLong)) await insertContents(tx, [content]).execute();
  const short = contents.filter((content) => !isLong(content));
  const writes: Write[] = [updateHead(tx, stored, now)];
  if (short.length > 0) writes.push(insertContents(tx, short));
  if (versions.length > 0) writes.push(insertVersions(tx, versions));
  if (orders.length > 0) writes.push(insertOrders(tx, orders));
  if (events.length > 0) writes.push(await insertionOf(tx, events));
  await writeTogether(tx, writes);
}

/** Contents that are longer are written one by one: a statement of all of them would be as long as they are together. */
const MAX_LENGTH = 100_000;

const isLong = ({ configuration }: ContentRow): boolean => configuration.length > MAX_LENGTH;
