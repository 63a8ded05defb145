import { createDuckDbEngine } from '../../../../../src/storage/server/tables/duckdb/engine.ts';
import { testTableEngine } from '../contract.ts';

testTableEngine('DuckDB', (folder) => createDuckDbEngine({ folder }));
