import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { silentLog, type Log } from '../../../../../src/lib/log.ts';
import { RecordFile } from '../../../../../src/engine/recording/record-file.ts';
import { recordingOf } from '../../../../../src/storage/protocol/recordings.ts';
import {
  openKeeper,
  removeKept,
  pruneCheckpoint,
  type Keeper,
  type KeeperOptions,
} from '../../../../../src/service/domain/runs/checkpointer.ts';
import { keptRun, type KeptRun } from '../../../../../src/service/domain/runs/checkpoint/kept-run.ts';
import { filesOf, put } from '../../../../cli/support.ts';
import { channelPair, memoryStore, type MemoryStore } from './support.ts';

const root = mkdtempSync(path.join(tmpdir(), 'gex-keeper-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const RUN = '7';
const RECORDING = '.gex/unfinished.recording';
const never = new AbortController().signal;

interface Attempt {
  readonly keeper: Keeper;
  readonly folder: string;
  /** The process of the run. */
  readonly run: KeptRun;
  readonly keep: () => Promise<void>;
  /** Ends the channel between the two. */
  readonly cut: () => void;
  /** Sends a message as the process of the run does to its runner. */
  readonly tell: (message: unknown) => void;
}

let count = 0;

async function attempt(
  store: MemoryStore,
  number: number,
  options: Partial<KeeperOptions> = {},
): Promise<Attempt> {
  const folder = path.join(root, String(++count));
  const keeper = openKeeper({ store, run: RUN, attempt: number, folder, log: silentLog, ...options });
  await keeper.restore();
  const { child, channel, cut } = channelPair();
  keeper.start(child);
  const run = keptRun(channel, keeper.environment);
  if (run === undefined) throw new Error('The run is not kept.');
  return {
    keeper,
    folder,
    run,
    keep: async () => await run.keep(never),
    cut,
    tell: (message) => child.emit('message', message),
  };
}

/** A recording of as many records, each with a body of these bytes. */
function record(folder: string, bodies: readonly string[], name = RECORDING): RecordFile {
  put(folder, name, '');
  const file = RecordFile.create(path.join(folder, name));
  for (const body of bodies) file.write('exchange', '{}', Buffer.from(body));
  return file;
}

const bytesIn = (folder: string, name = RECORDING): string => readFileSync(path.join(folder, name), 'latin1');

describe('a recording', () => {
  test('is brought back whole, but for a record that is not', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1, { segmentBytes: 100 });
    const file = record(first.folder, ['a'.repeat(30), 'b'.repeat(500)]);
    await first.keep();
    file.write('exchange', '{}', Buffer.from('c'));
    const whole = bytesIn(first.folder);
    appendFileSync(path.join(first.folder, RECORDING), 'GXR and no more');
    await first.keep();
    const second = await attempt(store, 2);
    expect(bytesIn(second.folder)).toBe(whole);
    expect(statSync(path.join(second.folder, RECORDING)).mode & 0o777).toBe(0o600);
  });

  test('is sent once, whoever has it', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    record(first.folder, ['x'.repeat(5000)]);
    await first.keep();
    const second = await attempt(store, 2);
    const before = store.objects.size;
    await second.keep();
    expect(store.objects.size).toBe(before);
    RecordFile.open(path.join(second.folder, RECORDING), 'r+').write('session', '{}');
    await second.keep();
    // one segment and the index
    expect(store.objects.size).toBe(before + 2);
    const third = await attempt(store, 3);
    expect(bytesIn(third.folder)).toBe(bytesIn(second.folder));
  });

  test('may get shorter, and longer again, as often as it likes', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1, { segmentBytes: 64 });
    const file = record(first.folder, ['a'.repeat(50), 'b'.repeat(50)]);
    const copied = async (): Promise<string> =>
      bytesIn((await attempt(memoryStore(new Map(store.objects)), 2)).folder);
    for (const letter of ['c', 'd', 'e']) {
      await first.keep();
      const before = bytesIn(first.folder);
      const { end } = file;
      // of a download that is given up
      file.write('part', '', Buffer.from('p'.repeat(300)));
      file.write('part', '', Buffer.from(letter));
      await first.keep();
      expect(await copied()).toBe(before);
      file.cut(end);
      file.write('part', '', Buffer.from(letter.repeat(300)));
      file.write('part', '', Buffer.from(letter));
      file.write('exchange', '{}');
      await first.keep();
      expect(await copied()).toBe(bytesIn(first.folder));
    }
    // a run that goes on cuts what it cannot read
    file.cut(100);
    file.write('session', '{"at":1}');
    await first.keep();
    expect(await copied()).toBe(bytesIn(first.folder).slice(0, 72));
    // what is not used any more is removed
    const objects = [...store.objects.keys()].filter((key) => /\/000001\/\d{6}$/.test(key));
    expect(objects.length).toBeLessThan(4);
  });

  test('that begins anew in the same file takes the place of the old one', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    record(first.folder, ['old'.repeat(100), 'more']);
    await first.keep();
    record(first.folder, ['new'.repeat(100), 'more']);
    await first.keep();
    expect(bytesIn((await attempt(store, 2)).folder)).toBe(bytesIn(first.folder));
  });

  test('is used up to a damaged part, and kept anew from there', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1, { segmentBytes: 200 });
    const file = record(first.folder, ['a'.repeat(100)]);
    await first.keep();
    const { end } = file;
    for (const letter of ['b', 'c', 'd']) {
      file.write('exchange', '{}', Buffer.from(letter.repeat(100)));
      await first.keep();
    }
    const [, harmed = ''] = [...store.objects.keys()].filter((key) => /\/000001\/\d{6}$/.test(key));
    const harms: readonly ((objects: Map<string, Buffer>) => void)[] = [
      (objects) => void objects.delete(harmed),
      (objects) => void objects.get(harmed)?.fill(7),
      (objects) => void objects.set(harmed, objects.get(harmed)?.subarray(0, 20) ?? Buffer.alloc(0)),
    ];
    for (const harm of harms) {
      const copy = memoryStore(
        new Map(Array.from(store.objects, ([key, bytes]) => [key, Buffer.from(bytes)])),
      );
      harm(copy.objects);
      const said: string[] = [];
      const log: Log = { ...silentLog, warn: (message) => void said.push(message) };
      const second = await attempt(copy, 2, { log });
      expect(bytesIn(second.folder)).toBe(bytesIn(first.folder).slice(0, end));
      expect(said.join()).toContain('What was recorded is used up to a damaged part');
      const recording = path.join(second.folder, RECORDING);
      RecordFile.open(recording, 'r+').write('exchange', '{}', Buffer.from('again'));
      await second.keep();
      expect(bytesIn((await attempt(copy, 3)).folder)).toBe(bytesIn(second.folder));
    }
  });

  test('of a row that has ended is found under its new name', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    record(first.folder, ['row'.repeat(2000)], 'rows/a/.gex/unfinished.recording');
    await first.keep();
    const before = store.objects.size;
    const inRow = path.join(first.folder, 'rows/a/.gex');
    renameSync(path.join(inRow, 'unfinished.recording'), path.join(inRow, 'last.recording'));
    await first.keep();
    expect(store.objects.size).toBe(before);
    const { folder } = await attempt(store, 2);
    expect(bytesIn(folder, 'rows/a/.gex/last.recording')).toContain('rowrow');
    expect(existsSync(path.join(folder, 'rows/a/.gex/unfinished.recording'))).toBe(false);
  });

  test('that is kept often has few segments', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    const file = record(first.folder, ['0'.repeat(1000)]);
    for (let i = 0; i < 100; i++) {
      file.write('exchange', '{}', Buffer.from(String(i).repeat(500)));
      await first.keep();
    }
    const segments = [...store.objects.keys()].filter((key) => /\/000001\/\d{6}$/.test(key));
    expect(segments.length).toBeLessThan(12);
    expect(bytesIn((await attempt(store, 2)).folder)).toBe(bytesIn(first.folder));
  });

  test('is kept after so many pages, long before the time is over', { tags: 'thorough' }, async () => {
    const store = memoryStore();
    const { folder, keeper, tell } = await attempt(store, 1, { everyMs: 3_600_000, everyPages: 50 });
    record(folder, ['x'.repeat(20)]);
    tell(progress(49));
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(store.objects.has('recordings/7/000001/index')).toBe(false);
    tell(progress(50));
    await expect.poll(() => store.objects.has('recordings/7/000001/index')).toBe(true);
    await keeper.stop('ended');
  });

  test('is kept without being asked for, after a time or so many bytes', { tags: 'thorough' }, async () => {
    for (const options of [{ everyMs: 5 }, { segmentBytes: 1000, everyMs: 3_600_000 }]) {
      const store = memoryStore();
      const { folder, keeper } = await attempt(store, 1, options);
      record(folder, ['x'.repeat(2000)]);
      await expect.poll(() => store.objects.has('recordings/7/000001/index')).toBe(true);
      await keeper.stop('ended');
    }
  });
});

const progress = (pages: number): object => ({ gex: 'progress', progress: { pages } });

const PENDING = JSON.stringify({ version: 1, status: 'pending' });
const DONE = JSON.stringify({ version: 1, status: 'done' });

function output(folder: string, journal: string): void {
  put(folder, 'rows/a/out/tables/t.csv', '1,2\n'.repeat(10_000));
  put(folder, 'rows/a/out/tables/empty.csv', '');
  put(folder, 'rows/a/out/tables/sliced/1', 'slice\n');
  put(folder, 'rows/a/out/state.json', '{}');
  put(folder, 'rows/a/.gex/ended.json', JSON.stringify({ run: '7', keys: 'x'.repeat(5000) }));
  put(folder, '.gex/rows.json', '{"id":"7"}');
  put(folder, 'rows/a/out/push.json', journal);
}

describe('an output', () => {
  test('is brought back as it was, with its times and its journal', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1, { segmentBytes: 1000 });
    output(first.folder, PENDING);
    await first.keep();
    put(first.folder, 'rows/a/out/push.json', `${PENDING} `);
    const before = store.objects.size;
    await first.keep();
    expect(store.objects.size).toBe(before);
    const { folder } = await attempt(store, 2);
    expect(filesOf(folder)).toEqual(filesOf(first.folder));
    for (const name of ['tables/t.csv', 'tables/empty.csv', 'state.json']) {
      const [was, is] = [first.folder, folder].map(
        (each) => statSync(path.join(each, 'rows/a/out', name)).mtime,
      );
      expect(is?.toISOString()).toBe(was?.toISOString());
    }
  });

  test('that was pushed is let go of, but for its state', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    output(first.folder, PENDING);
    await first.keep();
    put(first.folder, 'rows/a/out/push.json', DONE);
    await first.keep();
    const second = await attempt(store, 2);
    expect(Object.keys(filesOf(second.folder))).toEqual([
      '.gex/rows.json',
      'rows/a/.gex/ended.json',
      'rows/a/out/push.json',
      'rows/a/out/state.json',
    ]);
    await second.keep();
    expect(filesOf((await attempt(store, 3)).folder)).toEqual(filesOf(second.folder));
  });

  test('that takes the place of another one is kept anew', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    output(first.folder, DONE);
    await first.keep();
    rmSync(path.join(first.folder, 'rows/a/out'), { recursive: true });
    await first.keep();
    put(first.folder, 'rows/a/out/tables/new.csv', 'new\n');
    put(first.folder, 'rows/a/out/push.json', PENDING);
    await first.keep();
    expect(filesOf((await attempt(store, 2)).folder)).toEqual(filesOf(first.folder));
  });

  test('that is damaged is not pushed again', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    output(first.folder, PENDING);
    await first.keep();
    const [piece = ''] = [...store.objects.keys()].filter((key) => key.endsWith('000001/000001'));
    store.objects.get(piece)?.fill(0, 8);
    await expect(attempt(store, 2)).rejects.toThrow('What is kept of this run is damaged');
    store.objects.get('recordings/7/000001/index')?.fill(0, 8);
    await expect(attempt(store, 3)).rejects.toThrow('damaged');
  });
});

describe('an attempt', () => {
  test('that has a successor keeps nothing that counts, and lets nothing pass', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    put(first.folder, '.gex/rows.json', '1');
    await first.keep();
    const second = await attempt(store, 2);
    put(first.folder, '.gex/rows.json', 'late');
    await expect(first.keep()).rejects.toMatchObject({ code: 'run.lost' });
    expect(first.keeper.lost.aborted).toBe(true);
    expect(first.run.gone.aborted).toBe(true);
    await expect(first.keep()).rejects.toMatchObject({ code: 'run.lost' });
    await first.keeper.stop('ended');
    put(second.folder, '.gex/rows.json', '2');
    await second.keep();
    expect(filesOf((await attempt(store, 3)).folder)).toEqual({ '.gex/rows.json': '2' });
  });

  test('that comes back when its successor has succeeded writes nothing', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    put(first.folder, '.gex/rows.json', 'kept');
    await first.keep();
    const second = await attempt(store, 2);
    put(second.folder, '.gex/rows.json', 'more');
    put(second.folder, '.gex/run.gexr', 'whole');
    await second.keep();
    await second.keeper.stop('ended');
    await pruneCheckpoint(store, RUN);
    const left = new Map(store.objects);
    put(first.folder, '.gex/rows.json', 'late'.repeat(1000)); // one that has an object of its own
    put(first.folder, '.gex/run.gexr', 'part');
    await first.keeper.stop('ended');
    expect([...store.objects.keys()]).toEqual([...left.keys()]);
    expect(store.objects).toEqual(left);
    expect(first.keeper.lost.aborted).toBe(true);
    expect(await text(await store.read(recordingOf(RUN)))).toBe('whole');
  });

  test('that has nothing new to keep does not replace the recording of its successor', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    put(first.folder, '.gex/run.gexr', 'part');
    await first.keep();
    const second = await attempt(store, 2);
    put(second.folder, '.gex/run.gexr', 'whole');
    await second.keeper.stop('ended');
    await first.keeper.stop('ended');
    expect(await text(await store.read(recordingOf(RUN)))).toBe('whole');
  });

  test('that has lost its run keeps nothing more', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    put(first.folder, '.gex/rows.json', 'kept');
    await first.keep();
    const left = new Map(store.objects);
    put(first.folder, '.gex/rows.json', 'late');
    put(first.folder, '.gex/run.gexr', 'part');
    await first.keeper.stop('lost');
    expect(store.objects).toEqual(left);
  });

  test('is not let in behind its successor', async () => {
    const store = memoryStore();
    await attempt(store, 2);
    await expect(attempt(store, 1)).rejects.toMatchObject({ code: 'run.lost' });
    await expect(attempt(store, 2)).rejects.toMatchObject({ code: 'run.lost' });
  });

  test('that has kept nothing hides nothing of the one before', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    put(first.folder, '.gex/rows.json', '1');
    await first.keep();
    await attempt(store, 2);
    expect(filesOf((await attempt(store, 3)).folder)).toEqual({ '.gex/rows.json': '1' });
  });

  test('waits until the store is there again', async () => {
    const store = memoryStore();
    const said: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => void said.push(message) };
    const { folder, keep } = await attempt(store, 1, { log });
    put(folder, '.gex/rows.json', '1');
    let isUnavailable = true;
    store.before = () => {
      if (isUnavailable) throw new Error('the store is away');
    };
    const kept = keep();
    await expect.poll(() => said).toEqual([expect.stringContaining('the store is away')]);
    isUnavailable = false;
    await kept;
    expect(store.objects.has('recordings/7/000001/index')).toBe(true);
  });

  test('ends without the store, when it is to end', async () => {
    const store = memoryStore();
    const said: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => void said.push(message) };
    const { folder, keeper, keep } = await attempt(store, 1, { log });
    put(folder, '.gex/rows.json', '1');
    store.before = () => {
      throw new Error('the store is away');
    };
    const refused = expect(keep()).rejects.toMatchObject({ code: 'run.lost' });
    await expect.poll(() => said).toHaveLength(1);
    await keeper.stop('handedOn');
    await refused;
    expect(said.join()).toContain('The last of run 7 could not be kept: the store is away');
  });

  test('ends the process when it is gone itself', async () => {
    const { run, keep, cut } = await attempt(memoryStore(), 1);
    const waiting = keep();
    cut();
    await expect(waiting).rejects.toMatchObject({ code: 'run.lost' });
    expect(run.gone.aborted).toBe(true);
  });
});

describe('a run that failed', () => {
  test('is gone on with by one other run', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    record(first.folder, ['a']);
    output(first.folder, PENDING);
    await first.keep();
    await first.keeper.stop('ended');
    const next = await attempt(store, 1, { run: '8', continues: '7' });
    expect(filesOf(next.folder)).toEqual(filesOf(first.folder));
    // it has not kept anything yet
    const again = await attempt(store, 2, { run: '8', continues: '7' });
    expect(bytesIn(again.folder)).toBe(bytesIn(first.folder));
    await again.keep();
    await removeKept(store, '7');
    expect(filesOf((await attempt(store, 3, { run: '8', continues: '7' })).folder)).toEqual(
      filesOf(first.folder),
    );
  });

  test('is not gone on with twice, nor by itself any more', async () => {
    const store = memoryStore();
    const first = await attempt(store, 1);
    record(first.folder, ['a']);
    await first.keep();
    await attempt(store, 1, { run: '8', continues: '7' });
    expect(filesOf((await attempt(store, 1, { run: '9', continues: '7' })).folder)).toEqual({});
    await expect(attempt(store, 2)).rejects.toMatchObject({ code: 'run.lost' });
    put(first.folder, '.gex/rows.json', '1');
    await expect(first.keep()).rejects.toMatchObject({ code: 'run.lost' });
  });

  test('needs an id that can be part of a key', () => {
    expect(() =>
      openKeeper({ store: memoryStore(), run: '../1', attempt: 1, folder: root, log: silentLog }),
    ).toThrow('is no id of a run');
  });
});

test('a file that is cut while it is looked at is kept as far as it goes', async () => {
  const store = memoryStore();
  const { folder, keep } = await attempt(store, 1);
  record(folder, ['a'.repeat(100), 'b'.repeat(100)]);
  truncateSync(path.join(folder, RECORDING), 150);
  await keep();
  expect(bytesIn((await attempt(store, 2)).folder)).toBe(bytesIn(folder).slice(0, 122));
});
