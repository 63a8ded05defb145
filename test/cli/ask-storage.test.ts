import { expect, test } from 'vitest';
import { askStorage } from '../../src/cli/ask-storage.ts';
import { Secrets } from '../../src/lib/secrets.ts';

async function asked(...answers: string[]): Promise<{ option: string; said: string }> {
  const secrets = new Secrets();
  const lines: string[] = [];
  const io = { secrets, note: (line: string) => void lines.push(secrets.redact(line)) };
  const option = await askStorage(io, async () => await Promise.resolve(answers.shift() ?? ''));
  return { option, said: lines.slice(1).join('\n') };
}

test('the answer is the option of a run', async () => {
  expect((await asked('')).option).toBe('');
  expect((await asked('none')).option).toBe(' --storage none');
  expect((await asked('lake:my tables')).option).toBe(" --storage 'lake:my tables'");
  expect((await asked('https://storage.example.com')).option).toBe(' --storage https://storage.example.com');
});

test('a password is not shown again', async () => {
  const { option, said } = await asked('postgres://me:geh%40eim@db/tables?sslmode=require');
  expect(option).toBe(" --storage 'postgres://me@db/tables?sslmode=require'");
  expect(said).not.toMatch(/geh/);
});

test('what is no storage is asked for again, three times at most', async () => {
  const { option, said } = await asked('mysql://me@db/tables', 'postgres://me@db/tables');
  expect(option).toBe(' --storage postgres://me@db/tables');
  expect(said).toMatch(/is no folder/);
  expect((await asked('mysql://a', 'mysql://b', 'mysql://c', 'none')).option).toBe('');
});
