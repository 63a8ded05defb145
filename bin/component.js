#!/usr/bin/env node
// The entrypoint of a container: see the contract in dist/component.js.
import module from 'node:module';

module.enableCompileCache?.();
const { main } = await import('../dist/component.js');
await main();
