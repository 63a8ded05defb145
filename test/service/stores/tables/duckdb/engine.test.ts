import { createDuckDbEngine } from '../../../../../src/service/stores/tables/duckdb/engine.ts';
import { testTableEngine } from '../contract.ts';
import { testTypedTables } from '../typed-tables.ts';

testTableEngine('DuckDB', (folder) => createDuckDbEngine({ folder }));
testTypedTables('DuckDB', (folder) => createDuckDbEngine({ folder }));
