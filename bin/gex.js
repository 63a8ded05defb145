#!/usr/bin/env node
// The only file that must parse under any Node: it says in one sentence when the Node is too old.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `generic-extractor needs Node 22.19 or newer, and this is Node ${process.versions.node}.\n`,
  );
  process.exitCode = 2;
} else {
  const module = await import('node:module');
  module.enableCompileCache?.();
  const main = new URL('../dist/cli/main.js', import.meta.url);
  await import(main.href).catch(async (error) => {
    const { existsSync } = await import('node:fs');
    if (existsSync(main)) throw error;
    process.stderr.write('generic-extractor is not built yet: run “npm run build” in its folder first.\n');
    process.exitCode = 2;
  });
}
