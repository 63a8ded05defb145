import { describe, expect, test } from 'vitest';
import {
  attributesOf,
  extraColumns,
  ROOT_RUN,
  type Job,
  type JobInvocation,
  type JobWarning,
} from '../../../src/engine/jobs/index.ts';
import { entriesOf, type Json } from '../../../src/lib/json/index.ts';
import { child, evaluate, failure, job } from './support.ts';

function extra(
  node: Job,
  userData?: Json,
  run: JobInvocation = ROOT_RUN,
): { columns: [string, Json][]; warnings: JobWarning[] } {
  const warnings: JobWarning[] = [];
  const columns = extraColumns(node, run, {
    userData,
    userDataAt: 'config.userData',
    evaluate,
    contexts: { attr: { region: 'EU' }, time: { currentStart: 1000 } },
    warn: (warning) => warnings.push(warning),
  });
  return { columns: entriesOf(columns), warnings };
}

/** A run that a row started. */
const run = (parameters: JobInvocation['parameters']): JobInvocation => ({
  parameters,
  rows: [{ name: 'Ann' }],
});

describe('the extra columns of a job', () => {
  test('are none without user data', () => {
    expect(extra(job({ endpoint: 'a' })).columns).toEqual([]);
    expect(extra(job({ endpoint: 'a', userData: [] }), []).columns).toEqual([]);
  });

  test('are those of the configuration, then those of the job, which win', () => {
    const node = job({ endpoint: 'a', userData: { b: 'job', c: 'job' } });
    expect(extra(node, { a: 'config', b: 'config' }).columns).toEqual([
      ['a', 'config'],
      ['b', 'job'],
      ['c', 'job'],
    ]);
  });

  test('have fixed names for single values', () => {
    expect(extra(job({ endpoint: 'a', userData: 'x' }), 'y').columns).toEqual([
      ['userData', 'y'],
      ['job_parent_id', 'x'],
    ]);
  });

  test('have their functions evaluated', () => {
    const node = job({ endpoint: 'a', userData: { at: { time: 'currentStart' }, on: false } });
    expect(extra(node, { region: { attr: 'region' } }).columns).toEqual([
      ['region', 'EU'],
      ['at', 1000],
      ['on', false],
    ]);
  });

  test('hold an object as JSON text, with a warning', () => {
    const { columns, warnings } = extra(job({ endpoint: 'a', userData: { o: { 'a/b': 'č' } } }));
    expect(columns).toEqual([['o', '{"a\\/b":"\\u010d"}']]);
    expect(warnings).toEqual([
      {
        path: 'config.jobs[0].userData.o',
        message: 'The user data “o” is an object: the column holds it as JSON text',
      },
    ]);
  });

  test('cannot be a list', () => {
    const inJob = failure(() => extra(job({ endpoint: 'a', userData: { list: [1] } })));
    expect(inJob.path).toBe('config.jobs[0].userData.list');
    expect(inJob.message).toBe('The user data “list” is a list, and a column holds one value');
    expect(failure(() => extra(job({ endpoint: 'a' }), { list: [] })).path).toBe('config.userData.list');
  });
});

describe('the extra columns of a child', () => {
  test('are its own user data and the values of its placeholders, named after their paths', () => {
    const node = child({ endpoint: 'a', userData: { own: 1, parent_id: 'overridden' } });
    const parameters = [
      { name: 'user-id', path: 'id', value: 7 },
      { name: 'x', path: 'parent_key', value: null },
      { name: 'y', path: 'user.id', value: 'u' },
    ];
    expect(extra(node, { config: 1 }, run(parameters)).columns).toEqual([
      ['own', 1],
      ['parent_id', 7],
      ['parent_key', null],
      ['parent_user.id', 'u'],
    ]);
  });

  test('are one for each path: the later placeholder wins', () => {
    const parameters = [
      { name: '2:user', path: 'id', value: 1 },
      { name: 'order', path: 'no', value: 2 },
      { name: '1:item', path: 'id', value: 3 },
    ];
    expect(extra(child({ endpoint: 'a' }), undefined, run(parameters)).columns).toEqual([
      ['parent_id', 3],
      ['parent_no', 2],
    ]);
  });

  test('may refer to the parent row and the placeholders', () => {
    const node = child({
      endpoint: 'a',
      userData: { name: { parent: 'name' }, id: { placeholder: 'user-id' } },
    });
    expect(extra(node, undefined, run([{ name: 'user-id', path: 'id', value: 7 }])).columns).toEqual([
      ['name', 'Ann'],
      ['id', 7],
      ['parent_id', 7],
    ]);
  });
});

test('the attributes are the flattened configuration without its jobs', () => {
  const config = {
    server: { port: 80, empty: [] },
    jobs: [{ endpoint: 'a' }],
    list: ['x', { y: 1 }],
    '#token': 't',
  };
  expect(entriesOf(attributesOf(config))).toEqual([
    ['server.port', 80],
    ['list.0', 'x'],
    ['list.1.y', 1],
    ['#token', 't'],
  ]);
});
