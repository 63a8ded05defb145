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
  await import('../dist/cli/main.js');
}
