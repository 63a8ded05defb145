import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { expect, test } from 'vitest';

const configFile = fileURLToPath(new URL('../../console/vite.config.ts', import.meta.url));

/** Builds the console, with a line more in its first module, and writes nothing. */
async function builtWith(line: string): Promise<unknown> {
  const added: Plugin = {
    name: 'added',
    transform: (code, id) => (id.endsWith('/console/app/main.tsx') ? `${line}\n${code}` : null),
  };
  return await build({ configFile, logLevel: 'silent', build: { write: false }, plugins: [added] });
}

test('the console is built of what a browser has', async () => {
  await builtWith('');
});

test('a module of Node ends the build, which names who needs it', async () => {
  await expect(builtWith("import { hash } from 'node:crypto'; hash('md5', '');")).rejects.toThrow(
    /console\/app\/main\.tsx needs node:crypto, which no browser has/,
  );
});
