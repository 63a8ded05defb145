import { createDuckDbEngine } from '../../../../../src/service/stores/tables/duckdb/engine.ts';
import { testTableEngine } from '../contract.ts';

testTableEngine('DuckDB', (folder) => createDuckDbEngine({ folder }));
