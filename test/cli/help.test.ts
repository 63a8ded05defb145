import { describe, expect, test } from 'vitest';
import type { CommandEntry, CommandGroup } from '../../src/cli/command.ts';
import { helpOf as help } from '../../src/cli/help.ts';
import { isCommand, parseLine } from '../../src/cli/parse.ts';
import { serveCommand } from '../../src/cli/serve.ts';
import { storageGroup } from '../../src/cli/storage.ts';
import { runCommand } from '../../src/cli/run.ts';

const WIDTH = 80;

async function helpOf(
  script: string,
  entries: readonly CommandEntry[],
  ...argv: readonly string[]
): Promise<string> {
  return help({ script, describe: 'What it does.', entries, argv: [...argv, '--help'] }, WIDTH);
}

describe('help', () => {
  test('of a command with a word <version> is quiet, and its words are read', async () => {
    const warnings: Error[] = [];
    const hear = (warning: Error): number => warnings.push(warning);
    process.on('warning', hear);
    const { configCommands } = await import('../../src/cli/storage/configs.ts');
    expect(await helpOf('gex storage configs', configCommands, 'rollback')).toContain('<version>');
    const argv = ['rollback', 'c', '42', '3', '--note', '-1 day'];
    const place = { script: 'gex storage configs', describe: '', entries: configCommands, argv };
    expect(parseLine(place).args.word('version')).toBe('3');
    expect(parseLine(place).args.text('note')).toBe('-1 day');
    await new Promise(setImmediate);
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  });

  test('fits the terminal at every level, and names the values of options', async () => {
    const levels: [string, readonly CommandEntry[]][] = [['gex', [runCommand, serveCommand, storageGroup]]];
    for (const [script, entries] of levels) {
      for (const argv of [[], ...entries.filter(isCommand).map(({ name }) => [name])]) {
        const help = await helpOf(script, entries, ...argv);
        const [text = '', examples = ''] = help.split('\nExamples:\n');
        expect(text.split('\n').filter((line) => line.length > WIDTH)).toEqual([]);
        expect(examples).toMatch(/^ {2}# .+\n {2}gex /);
        expect(help).not.toMatch(/undefined|VALUE|\[(?:string|boolean|array|required|default)/);
      }
      for (const entry of entries)
        if (!isCommand(entry)) levels.push([`${script} ${entry.name}`, await entry.load()]);
    }
    expect(levels.length).toBeGreaterThan(5);
  });

  test('has an example of each group that is understood', async () => {
    const below = (await storageGroup.load()).filter((each): each is CommandGroup => !isCommand(each));
    for (const group of [storageGroup, ...below]) {
      const words = group.example[0].split(' ').slice(1);
      const path = group === storageGroup ? ['storage'] : ['storage', group.name];
      expect(words.slice(0, path.length)).toEqual(path);
      let entries: readonly CommandEntry[] = [storageGroup];
      for (const name of words.slice(0, 2)) {
        const next = entries.find((entry) => entry.name === name);
        if (next !== undefined && !isCommand(next)) entries = await next.load();
      }
      const place = { script: '', describe: '', entries, argv: words.slice(2) };
      expect(() => parseLine(place), group.example[0]).not.toThrow();
    }
  });
});
