/**
 * Writes what is derived from the option schemas: `schemas/*.json` for editors, the compiled validator, and
 * `docs/configuration.md`; and `docs/api.md` from the declarations. Run it with `node scripts/generate.ts`; a test compares the files with the code.
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import wabt from 'wabt';
import { componentSchema, configSchema } from '../src/engine/config/schema.ts';
import { fixtureSchema } from '../src/engine/config/schemas/fixture.ts';
import { manifestSchema } from '../src/engine/config/schemas/manifest.ts';
import { stateSchema } from '../src/engine/config/schemas/state.ts';
import { closedSchema } from './closed-schema.ts';
import { apiReference } from './api-reference.ts';
import { compileValidator } from './compile-validator.ts';
import { referenceOf } from './reference.ts';

const assembler = await wabt();
const root = fileURLToPath(new URL('..', import.meta.url));

/** Path from the root of the repository to the text of the file. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['schemas/config.schema.json', jsonText(closedSchema(configSchema))],
    ['schemas/state.schema.json', jsonText(stateSchema)],
    ['schemas/manifest.schema.json', jsonText(manifestSchema)],
    ['schemas/fixture.schema.json', jsonText(fixtureSchema)],
    ['src/engine/config/validator.generated.ts', compileValidator(componentSchema)],
    ['src/lib/wasm/rows.generated.ts', assembled('src/lib/wasm/rows.wat')],
    ['docs/configuration.md', referenceOf(componentSchema, configSchema)],
    ['docs/api.md', apiReference()],
  ]);
}

function assembled(path: string): string {
  const module = assembler.parseWat(path, readFileSync(join(root, path), 'latin1'), {
    simd: true,
    bulk_memory: true,
  });
  const bytes = Buffer.from(module.toBinary({}).buffer);
  return `/** ${path}, assembled by scripts/generate.ts. */\nexport const ROWS =\n  '${bytes.toString('base64')}';\n`;
}

function jsonText(schema: unknown): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

if (import.meta.main) {
  for (const [path, text] of generatedFiles()) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
    process.stdout.write(`${path}\n`);
  }
}
