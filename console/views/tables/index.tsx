import type { ViewProps } from '../../app/views.ts';
import { BucketPage } from './bucket.tsx';
import { TableList } from './list.tsx';
import { NewTable } from './new-table.tsx';
import { TablePage } from './table.tsx';
import './tables.css';

/**
 * Shows `/tables`, `/tables/new`, `/tables/in.c-main` and `/tables/in.c-main.users`: the name of a bucket has one dot.
 */
export default function Tables({ parts: [id] }: ViewProps) {
  if (id === undefined) return <TableList />;
  if (id === 'new') return <NewTable />;
  if (id.split('.').length === 2) return <BucketPage key={id} id={id} />;
  return <TablePage key={id} id={id} />;
}
