import { quoteCell } from '../../../lib/csv/write.ts';
import { isEmpty, isList, md5, serialize, type Json } from '../../../lib/json/index.ts';
import type { TableLines } from '../lines.ts';
import type { TableLayout } from '../parser.ts';
import { compileCell, compilePick, compileText, type CellTexts, type Pick } from './cells.ts';
import { hasLinkColumn, layoutOf } from './columns.ts';
import type { Mapping } from './mapping.ts';
import type { CellText, MappedPage } from './mapped-page.ts';
import { isTyped, leavesOut } from './typed-cells.ts';

/** Writes the rows of one mapping, and of its child tables, as lines. */
export interface RowWriter {
  /** Makes sure that the table exists, also when no row follows. */
  open(page: MappedPage): void;
  /**
   * Writes a value: a list is as many rows, anything else is one row.
   *
   * @param parentKey what the parent-link column says, where the table has one
   */
  write(value: Json, parentKey: string, page: MappedPage): void;
}

type Step =
  | { readonly kind: 'cell'; readonly text: CellText }
  | { readonly kind: 'self'; readonly pick: Pick }
  | { readonly kind: 'child'; readonly children: readonly Child[]; readonly hasCell: boolean };

interface Child {
  readonly pick: Pick;
  readonly writer: RowWriter;
  readonly needsKey: boolean;
}

/** Compiles a mapping once, to a list of steps that are taken for every row. */
export function createRowWriter(mapping: Mapping, texts: CellTexts): RowWriter {
  const layout = layoutOf(mapping);
  const steps = compileSteps(mapping, texts);
  const keyTexts = keyCells(mapping, texts);
  const hasKey = layout.primaryKey !== undefined;
  const hasParentLink = mapping.parentLink !== undefined;
  const linkIsKey = mapping.parentLink?.primaryKey === true;
  const opened = openedOnce(layout);
  const conditions = mapping.entries.flatMap((entry) =>
    entry.kind !== 'self' && entry.kind !== 'table' && isTyped(entry) && entry.misfit === 'skip'
      ? [leavesOut(entry, compileText(entry, mapping.table, texts))]
      : [],
  );

  const keyOf = (row: Json, parentKey: string, page: MappedPage): string => {
    if (!hasKey) return md5(serialize(row) + page.extraText() + page.salt());
    const values = keyTexts.map((text) => text(row, page));
    return (linkIsKey ? [...values, parentKey] : values).join(',');
  };

  const writeRow = (row: Json, parentKey: string, page: MappedPage): void => {
    if (conditions.some((isLeftOut) => isLeftOut(row, page))) return;
    let line = '';
    let key: string | undefined;
    for (const step of steps) {
      if (step.kind === 'cell') line += `,${quoteCell(step.text(row, page))}`;
      else if (step.kind === 'self') {
        const value = step.pick(row);
        if (value !== undefined && !isEmpty(value, 'response')) write(value, parentKey, page);
      } else {
        let linked = false;
        for (const { pick, writer, needsKey } of step.children) {
          const value = pick(row);
          if (!hasKey && isEmpty(value, 'response')) continue;
          if (needsKey) key ??= keyOf(row, parentKey, page);
          linked = true;
          writer.open(page);
          // the rows stay findable by their key, so a list that is not there needs no blank child row
          if (value !== undefined && value !== null) writer.write(value, key ?? '', page);
        }
        if (step.hasCell) line += linked ? `,${quoteCell(key ?? '')}` : ',""';
      }
    }
    if (hasParentLink) line += `,${quoteCell(parentKey)}`;
    opened(page)?.add(`${line.slice(1)}\n`);
  };

  const write = (value: Json, parentKey: string, page: MappedPage): void => {
    if (isList(value)) for (const row of value) writeRow(row, parentKey, page);
    else writeRow(value, parentKey, page);
  };

  return { open: (page) => void opened(page), write };
}

/** Entries of one child table stand together where the first of them stands, and share a link cell. */
function compileSteps(mapping: Mapping, texts: CellTexts): readonly Step[] {
  const steps: Step[] = [];
  const byTable = new Map<string, Child[]>();
  for (const entry of mapping.entries) {
    if (entry.kind === 'self') steps.push({ kind: 'self', pick: compilePick(entry) });
    else if (entry.kind !== 'table')
      steps.push({ kind: 'cell', text: compileCell(entry, mapping.table, texts) });
    else {
      const pick = compilePick(entry);
      const child = {
        pick,
        writer: createRowWriter(entry.mapping, texts),
        needsKey: entry.mapping.parentLink !== undefined,
      };
      const siblings = byTable.get(entry.mapping.table);
      if (siblings !== undefined) siblings.push(child);
      else {
        const children = [child];
        byTable.set(entry.mapping.table, children);
        steps.push({ kind: 'child', children, hasCell: hasLinkColumn(mapping, entry.mapping) });
      }
    }
  }
  return steps;
}

function keyCells(mapping: Mapping, texts: CellTexts): readonly CellText[] {
  return mapping.entries.flatMap((entry) =>
    entry.kind !== 'self' && entry.kind !== 'table' && entry.primaryKey
      ? [compileCell(entry, mapping.table, texts)]
      : [],
  );
}

/** Opens the lines of the table on a page once; a table without any column is not written. */
function openedOnce(layout: TableLayout): (page: MappedPage) => TableLines | undefined {
  let last: MappedPage | undefined;
  let lines: TableLines | undefined;
  return (page) => {
    if (page !== last && layout.columns.length > 0) lines = page.tables.open(layout);
    last = page;
    return lines;
  };
}
