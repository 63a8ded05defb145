import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Exchange } from './replay.ts';

export interface TheirRun {
  /** Milliseconds since 1970; absent where nothing was read. */
  readonly now?: number;
  readonly exchanges: readonly Exchange[];
  readonly records: readonly unknown[];
  /** For each record, its objects and lists as JSON text. */
  readonly texts?: readonly Readonly<Record<string, string>>[];
  readonly error: string | null;
  readonly notes?: readonly string[];
}

/** The other tool at work on a connector: it tells its settings, and reads the streams that it is told. */
export class TheirReader {
  readonly #child;
  readonly #lines;
  readonly #out: string;
  /** End of what it said of errors. */
  stderr = '';

  constructor(
    manifest: string,
    out: string,
    { base, odd, rare, runs, python }: Readonly<Record<'base' | 'odd' | 'rare' | 'runs' | 'python', string>>,
  ) {
    this.#out = out;
    const script = path.join(import.meta.dirname, 'read_manifest.py');
    this.#child = spawn(python, ['-B', script, manifest, out, base, odd, rare, runs], { stdio: 'pipe' });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#child.stderr.on(
      'data',
      (chunk: Buffer) => (this.stderr = `${this.stderr}${chunk.toString()}`.slice(-3000)),
    );
    this.#child.stdin.on('error', () => {});
  }

  async settings(): Promise<Record<string, unknown>> {
    await this.#line();
    return JSON.parse(readFileSync(path.join(this.#out, 'settings.json'), 'utf8')) as Record<string, unknown>;
  }

  async read(stream: string): Promise<readonly TheirRun[]> {
    this.#child.stdin.write(`${JSON.stringify(stream)}\n`);
    await this.#line();
    return JSON.parse(readFileSync(path.join(this.#out, 'runs.json'), 'utf8')) as readonly TheirRun[];
  }

  end(): void {
    this.#child.stdin.end();
    this.#child.kill();
  }

  async #line(): Promise<void> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) throw new Error(`The other tool ended: ${this.stderr.trim().slice(-1500)}`);
      if (value === 'ready') return;
    }
  }
}
