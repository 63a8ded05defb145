#!/usr/bin/env node
// The entrypoint of a container: see the contract in dist/cli/container.js.
import module from 'node:module';

module.enableCompileCache?.();
const { main } = await import('../dist/cli/container.js');
await main();
