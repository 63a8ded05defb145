#!/usr/bin/env node
// The only file that must parse under any Node: where that is too old, it goes on with the pinned one of the folder it is
// in, and says in one sentence what is needed where there is none.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  const { existsSync } = await import('node:fs');
  const { fileURLToPath } = await import('node:url');
  const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  const found = [pinned, `${pinned}.exe`].find((file) => existsSync(file));
  if (found === undefined) {
    process.stderr.write(
      `generic-extractor needs Node 22.19 or newer, and this is Node ${process.versions.node}.\n`,
    );
    process.exitCode = 2;
  } else {
    await goOn(found, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
  }
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

/** Runs the same command with another Node, passes signals on, and ends as it ends. */
async function goOn(node, args) {
  const { spawn } = await import('node:child_process');
  const child = spawn(node, args, { stdio: 'inherit' });
  // Ctrl-C of a terminal reaches the command as well, and a second one would end it at once.
  const isTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  process.on('SIGINT', () => isTerminal || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (...end) => resolve(end));
  });
  if (signal === null) {
    process.exitCode = code;
  } else {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
}
