import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemEnv } from '../../src/lib/env.ts';
import { findBranch } from '../../src/service/stores/metadata/branches.ts';
import { transactionsOf } from '../../src/service/stores/metadata/transaction.ts';
import { orderAt } from '../../src/service/domain/configurations/history.ts';
import type { Change } from '../../src/service/domain/configurations/model.ts';
import {
  contentOf,
  listRows,
  listRowsOf,
  requireConfiguration,
  requireVersion,
} from '../../src/service/domain/configurations/read-configuration.ts';
import { rollbackConfiguration } from '../../src/service/domain/configurations/rollback.ts';
import { createRow, deleteRow, updateRow } from '../../src/service/domain/configurations/rows.ts';
import { createConfiguration, updateConfiguration } from '../../src/service/domain/configurations/write.ts';
import { openMeta } from '../../src/service/stores/metadata/database.ts';
import { openProject } from '../../src/service/stores/metadata/projects.ts';
import { times } from '../support/sample.ts';

type Step =
  | { kind: 'update'; content: number }
  | { kind: 'put'; row: string; content: number }
  | { kind: 'delete'; row: string }
  | { kind: 'order'; isReversed: boolean }
  | { kind: 'rollback'; to: number };

/** Content of a version: the root, the rows by id, and the order that was set. */
interface Snapshot {
  readonly root: string;
  readonly rows: ReadonlyMap<string, string>;
  readonly order: readonly string[];
}

const content = (n: number): string => `{"n":${n}}`;
const rowIds = fc.constantFrom('a', 'b', 'c', 'd');
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('update' as const), content: fc.nat(3) }),
    fc.record({ kind: fc.constant('put' as const), row: rowIds, content: fc.nat(3) }),
    fc.record({ kind: fc.constant('delete' as const), row: rowIds }),
    fc.record({ kind: fc.constant('order' as const), isReversed: fc.boolean() }),
    fc.record({ kind: fc.constant('rollback' as const), to: fc.nat(30) }),
  ),
  { minLength: 1, maxLength: 25 },
);

test('any sequence of updates, rows, orders and rollbacks gives the versions of a small model', async () => {
  const meta = await openMeta(':memory:');
  await openProject(meta, systemEnv, { name: 'p', region: 'r' });
  const branch = await findBranch(meta, 'default');
  const change: Change = {
    author: { creator_id: 1, creator_description: 't' },
    env: systemEnv,
    text: undefined,
  };
  let number = 0;

  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const key = { branch_id: branch?.id ?? 0, component_id: 'c', configuration_id: `c${++number}` };
      const history: Snapshot[] = [{ root: '{}', rows: new Map(), order: [] }];
      await createConfiguration(transactionsOf(meta), key, { name: 'n' }, change);
      for (const step of sequence) {
        const before = history[history.length - 1] ?? history[0];
        if (before === undefined) throw new Error('The history is never empty.');
        const after = apply(before, step, history);
        await run(step, before, history.length);
        if (after !== undefined) history.push(after);
      }

      const current = await requireConfiguration(meta, key);
      expect(current.head.version).toBe(history.length);
      const live = await listRows(meta, current);
      expect(live.map(({ head, version }) => [head.row_id, version.configuration])).toEqual(
        shown(history.at(-1)),
      );
      for (const [index, snapshot] of history.entries()) {
        const version = await requireVersion(meta, key, index + 1);
        expect(await contentOf(meta, version)).toBe(snapshot.root);
        const rows = await listRowsOf(meta, version);
        expect(rows.map((row) => [row.row_id, row.configuration])).toEqual(shown(snapshot));
        expect(await orderAt(meta, version)).toEqual(snapshot.order);
      }

      async function run(step: Step, before: Snapshot, versions: number): Promise<void> {
        if (step.kind === 'update')
          await updateConfiguration(
            { meta, transact: transactionsOf(meta) },
            key,
            { configuration: content(step.content) },
            change,
          );
        else if (step.kind === 'order') {
          await updateConfiguration(
            { meta, transact: transactionsOf(meta) },
            key,
            { rowsSortOrder: orderOf(before, step.isReversed) },
            change,
          );
        } else if (step.kind === 'rollback')
          await rollbackConfiguration(transactionsOf(meta), key, (step.to % versions) + 1, change);
        else if (step.kind === 'delete') {
          const deleted = deleteRow(transactionsOf(meta), key, step.row, change);
          await (before.rows.has(step.row)
            ? deleted
            : expect(deleted).rejects.toMatchObject({ status: 404 }));
        } else {
          const save = before.rows.has(step.row) ? updateRow : createRow;
          await save(transactionsOf(meta), key, step.row, { configuration: content(step.content) }, change);
        }
      }
    }),
    { numRuns: times(40) },
  );
  await meta.destroy();
});

/** The next snapshot; undefined when the step changes nothing. */
function apply(before: Snapshot, step: Step, history: readonly Snapshot[]): Snapshot | undefined {
  switch (step.kind) {
    case 'update':
      return before.root === content(step.content) ? undefined : { ...before, root: content(step.content) };
    case 'order': {
      const order = orderOf(before, step.isReversed);
      return JSON.stringify(order) === JSON.stringify(before.order) ? undefined : { ...before, order };
    }
    case 'rollback':
      return history[step.to % history.length];
    case 'delete': {
      if (!before.rows.has(step.row)) return undefined;
      const rows = new Map(before.rows);
      rows.delete(step.row);
      return { ...before, rows, order: before.order.filter((row) => row !== step.row) };
    }
    case 'put':
      if (before.rows.get(step.row) === content(step.content)) return undefined;
  }
  const order =
    before.rows.has(step.row) || before.order.length === 0 ? before.order : [...before.order, step.row];
  return { ...before, rows: new Map([...before.rows, [step.row, content(step.content)]]), order };
}

function orderOf(snapshot: Snapshot, isReversed: boolean): string[] {
  const ids = [...snapshot.rows.keys()].sort();
  return isReversed ? ids.reverse() : ids;
}

/** Rows as an answer shows them: in the order that was set, else by id. */
function shown(snapshot: Snapshot | undefined): (readonly [string, string])[] {
  const rows = snapshot?.rows ?? new Map<string, string>();
  const ids =
    snapshot === undefined || snapshot.order.length === 0 ? [...rows.keys()].sort() : snapshot.order;
  return ids.map((id) => [id, rows.get(id) ?? 'missing'] as const);
}
