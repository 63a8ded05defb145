const SOURCE = '/sources/ex-generic-v2/source-000';
const FAILING = '/sources/ex-generic-v2/source-120';
const TABLE = '/tables/in.c-bucket-00.table_0000';

/** Views of {@link fillLarge} that grow with what is in the service: the name, the address, and what shows that it is ready. */
export const VIEWS: readonly (readonly [name: string, at: string, ready: string])[] = [
  ['start', '/', 'Tables changed lately'],
  ['tables', '/tables', 'table_0000'],
  ['tables-by-bucket', '/tables?by=bucket', 'in.c-bucket-05'],
  ['bucket', '/tables/in.c-bucket-00', 'table_0040'],
  ['table-columns', `${TABLE}?tab=columns`, 'Where it comes from'],
  ['table-origin', `${TABLE}?tab=origin`, 'Rows in the table after each load'],
  ['sql', '/sql', 'Ask your tables'],
  ['sources', '/sources', 'Source 000 of the shop'],
  ['source', SOURCE, 'Last runs'],
  ['source-settings', `${SOURCE}?tab=settings`, 'Base address'],
  ['source-versions', `${SOURCE}?tab=versions`, 'Configuration created'],
  ['source-failing', FAILING, 'Last runs'],
  ['runs', '/runs', '100199'],
  ['runs-failed', '/runs?status=error', 'Source 154 of the shop'],
  ['problems', '/runs/problems', 'runs failed'],
  ['charts', '/runs/charts', 'How runs ended'],
  ['schedules', '/runs/schedules', 'On the hour, every 2 hours'],
  ['run', '/runs/100000', 'Source 000 of the shop'],
  ['run-failed', '/runs/100120', 'It is for whoever looks after this source'],
  ['run-log', '/runs/100120?tab=log', 'The run has logged nothing'],
  ['jobs', '/jobs', 'What the storage does'],
  ['alerts-sources', '/alerts?tab=sources', 'of the shop'],
  ['tokens', '/tokens', 'yours'],
];

/** Views that a token without sources is told of in words. */
export const NARROW: readonly (readonly [name: string, at: string, ready: string])[] = [
  ['start', '/', 'Tables changed lately'],
  ['tables', '/tables', 'table_0000'],
  ['bucket', '/tables/in.c-bucket-00', 'table_0040'],
  ['table-origin', `${TABLE}?tab=origin`, 'Rows in the table after each load'],
  ['sql', '/sql', 'Ask your tables'],
  ['sources', '/sources', 'Your token'],
  ['runs', '/runs', 'Your token'],
  ['jobs', '/jobs', 'What the storage does'],
  ['alerts-sources', '/alerts?tab=sources', 'Alerts'],
  ['tokens', '/tokens', 'yours'],
];
