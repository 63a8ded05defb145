import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { chunkCode, circle, entryCode, isFacade } from '../../scripts/chunk-code.ts';
import { atEndOfFile } from '../support/cleanup.ts';

const none = new Map<string, string>();

function script(...lines: string[]): string {
  const code = chunkCode({ fileName: 'chunks/a.js', code: `${lines.join('\n')}\n` }, none);
  return code.split('\n').slice(1, -2).join('\n');
}

describe('a chunk as a script', () => {
  test('gets what it imports, and returns what it exports', () => {
    expect(
      script('import { b as own, c } from "./b.js";', 'import fs, { readFileSync } from "node:fs";'),
    ).toBe(
      [
        'const { b: own, c } = $chunk("b.js");',
        'const fs = globalThis.process.getBuiltinModule("node:fs"), { readFileSync } = globalThis.process.getBuiltinModule("node:fs");',
      ].join('\n'),
    );
    // what takes long to load is loaded by its first call
    expect(script('import { readFile as read } from "node:fs/promises";')).toBe(
      'const read = (...args) => globalThis.process.getBuiltinModule("node:fs/promises").readFile(...args);',
    );
    expect(script('import { constants } from "node:fs/promises";')).toBe(
      'const { constants } = globalThis.process.getBuiltinModule("node:fs/promises");',
    );
    expect(script('import "./b.js";', 'export { own as t, c };')).toBe(
      '$chunk("b.js");\nreturn { t: own, c: c };',
    );
    expect(script('export default made();')).toBe('return { default: made() };');
  });

  test('imports others later', () => {
    expect(
      script(
        'const a = await_(import("./b.js"), import("ssh2"), import("../storage/client/index.js"));',
        'const here = import.meta.url;',
      ),
    ).toBe(
      'const a = await_($later("b.js"), $import("ssh2"), $import("../dist/storage/client/index.js"));\nconst here = $url;',
    );
  });

  test('takes what another only passes on from where it is', () => {
    const facade = 'export { q as run, r as stop } from "./real.js";\n';
    expect(isFacade(facade)).toBe(true);
    expect(
      chunkCode(
        { fileName: 'chunks/a.js', code: 'const b = import("./b.js");\n' },
        new Map([['b.js', facade]]),
      ),
    ).toContain('const b = $later("real.js").then(($from) => ({ run: $from.q, stop: $from.r }));');
  });

  test.each([
    ['export * from "./b.js";', 'cannot be in a script'],
    ['import * as b from "./b.js";', 'cannot be in a script'],
    ['const b = await made();', 'cannot be in a script'],
    ['function load(name) {\n\treturn import(name);\n}', 'cannot be in a script'],
    ['let count = 0;\nfunction add() {\n\tcount += 1;\n}\nexport { count as t };', '“count” changes later'],
    [
      'let known;\nfunction find() {\n\treturn known ??= made();\n}\nexport { known };',
      '“known” changes later',
    ],
  ])('is refused where it would mean something else: %s', (code, message) => {
    expect(() => script(code)).toThrow(message);
  });

  test('is none that waits for one that waits for it', () => {
    expect(circle(new Map([['a', ['b']], ['b', ['c']], ['c', ['b']]]))).toEqual(['b', 'c', 'b']); // oxfmt-ignore
    expect(circle(new Map([['a', ['b', 'c']], ['b', ['c']], ['c', []]]))).toBeUndefined(); // oxfmt-ignore
  });

  test('is taken by a module that is an entry', () => {
    const entry = entryCode(
      {
        fileName: 'cli/main.js',
        code: 'import { a as run } from "../chunks/b.js";\nimport x from "y";\nexport { t as main } from "../chunks/c.js";\n',
      },
      none,
    );
    expect(entry).toBe(
      [
        'import { chunk as $chunk, later as $later } from "../../bin/chunks.js";',
        'const { a: run } = $chunk("b.js");',
        'import x from "y";',
        'const $main = $chunk("c.js").t;',
        'export { $main as main };',
        '',
      ].join('\n'),
    );
  });
});

function writeChunk(folder: string, name: string, code: string): void {
  writeFileSync(
    path.join(folder, 'dist/chunks', name),
    chunkCode({ fileName: `chunks/${name}`, code }, none),
  );
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name));
}

/** A package with two chunks. */
function made(): {
  folder: string;
  cache: string;
  run: (...flags: readonly string[]) => string;
  kept: () => string[];
} {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gex-chunks-'));
  atEndOfFile(() => rmSync(folder, { recursive: true }));
  const cache = path.join(folder, 'cache');
  mkdirSync(path.join(folder, 'bin'));
  mkdirSync(path.join(folder, 'dist/chunks'), { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  copyFileSync(
    fileURLToPath(new URL('../../bin/chunks.js', import.meta.url)),
    path.join(folder, 'bin/chunks.js'),
  );
  writeChunk(
    folder,
    'a.js',
    'import { n } from "./b.js";\nfunction say() {\n\treturn n + 1;\n}\nexport { say };\n',
  );
  writeChunk(folder, 'b.js', 'const n = 41;\nexport { n };\n');
  writeFileSync(
    path.join(folder, 'main.js'),
    `import module from 'node:module';
     module.enableCompileCache();
     const { chunk } = await import('./bin/chunks.js');
     const { Script } = process.getBuiltinModule('node:vm');
     console.log(chunk('a.js').say(), chunk('a.js') === chunk('a.js'));
     if (process.argv.includes('fail')) process.exitCode = 1;
     for (const flag of process.argv.slice(2)) if (flag.startsWith('--')) process.getBuiltinModule('node:v8').setFlagsFromString(flag);`,
  );
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: cache };
  return {
    folder,
    cache,
    run: (...flags) =>
      execFileSync(process.execPath, [path.join(folder, 'main.js'), ...flags], { env, encoding: 'utf8' }),
    kept: () => filesOf(cache).filter((name) => path.basename(name).startsWith('gex-')),
  };
}

describe('the loader of chunks', () => {
  const runtime = `${process.version}-${process.platform}-${process.arch}`;

  test('keeps what the runtime has compiled, for the next process', () => {
    const { run, kept, folder } = made();
    expect(run()).toBe('42 true\n');
    expect(kept().map((file) => path.basename(file).split('-')[1])).toEqual(['a.js', 'b.js']);
    const before = kept().map((file) => readFileSync(file));
    expect(run()).toBe('42 true\n');
    expect(kept().map((file) => readFileSync(file))).toEqual(before);
    // another build of the same name has its own
    writeChunk(folder, 'b.js', 'const n = 141;\nexport { n };\n');
    expect(run()).toBe('142 true\n');
    expect(kept()).toHaveLength(3);
  });

  test('keeps nothing that the next process would refuse, as flags were set meanwhile, nor of one that failed', () => {
    const { run, kept } = made();
    const changed = '--semi-space-growth-factor=1';
    expect(run(changed)).toBe('42 true\n');
    expect(kept()).toEqual([]);
    expect(() => run('fail')).toThrow();
    expect(kept()).toEqual([]);
    // as the command does
    expect(run(changed, '--semi-space-growth-factor=2')).toBe('42 true\n');
    expect(kept()).toHaveLength(2);
    const before = kept().map((file) => readFileSync(file));
    expect(run()).toBe('42 true\n');
    expect(kept().map((file) => readFileSync(file))).toEqual(before);
  });

  test('takes what lies beside a chunk, and keeps nothing then', () => {
    const { run, kept, folder } = made();
    run();
    const chunks = path.join(folder, 'dist/chunks');
    for (const file of kept()) {
      const name = path.basename(file).split('-')[1];
      copyFileSync(file, path.join(chunks, `${name}.${runtime}`));
      writeFileSync(file, 'nothing that it could read');
    }
    expect(run()).toBe('42 true\n');
    expect(kept().map((file) => readFileSync(file, 'utf8'))).toEqual(
      Array(2).fill('nothing that it could read'),
    );
  });

  test('keeps apart what an import has compiled beyond what lies there', () => {
    const { run, kept, folder } = made();
    run();
    for (const file of kept()) {
      const name = path.basename(file).split('-')[1];
      copyFileSync(file, path.join(folder, 'dist/chunks', `${name}.${runtime}`));
      rmSync(file);
    }
    expect(run('import')).toBe('42 true\n');
    expect(kept().map((file) => /^gex-import-(.\.js)-/.exec(path.basename(file))?.[1])).toEqual([
      'a.js',
      'b.js',
    ]);
    const before = kept().map((file) => readFileSync(file));
    expect(run('import')).toBe('42 true\n');
    expect(run()).toBe('42 true\n');
    expect(kept().map((file) => readFileSync(file))).toEqual(before);
  });

  test('does without what is damaged, cut off or of another program', () => {
    const { run, kept, folder } = made();
    run();
    const [a = '', b = ''] = kept();
    const whole = readFileSync(a);
    writeFileSync(a, whole.subarray(0, whole.length / 2));
    writeFileSync(b, whole);
    expect(run()).toBe('42 true\n');
    writeFileSync(path.join(folder, 'dist/chunks', `a.js.${runtime}`), '');
    expect(run()).toBe('42 true\n');
    expect(readFileSync(a).equals(whole.subarray(0, whole.length / 2))).toBe(false);
  });

  test.skipIf(process.platform === 'win32')('trusts no folder that others may write to', () => {
    const { run, kept } = made();
    run();
    const folder = path.dirname(kept()[0] ?? '');
    for (const file of kept()) writeFileSync(file, 'what another user has put there');
    chmodSync(folder, 0o777);
    expect(run()).toBe('42 true\n');
    expect(readFileSync(kept()[0] ?? '', 'utf8')).toBe('what another user has put there');
  });
});
