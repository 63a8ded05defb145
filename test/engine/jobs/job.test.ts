import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../../src/lib/errors.ts';
import { parseJobs, type JobWarning } from '../../../src/engine/jobs/index.ts';
import { entriesOf, type Json } from '../../../src/lib/json/index.ts';
import { AT, child, failure, first, job, jobs, json } from './support.ts';

function warningsOf(node: Json): JobWarning[] {
  const warnings: JobWarning[] = [];
  parseJobs([node], AT, warnings);
  return warnings;
}

function keysOfField(dataField: Json): readonly string[] | undefined {
  return job({ endpoint: 'a', dataField }).dataField?.keys;
}

describe('a job with its endpoint alone', () => {
  test('gets the defaults', () => {
    const { id, ...rest } = job({ endpoint: 'users?active=1' });
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(rest).toEqual({
      name: 'users?active=1',
      at: 'config.jobs[0]',
      level: 0,
      endpoint: 'users?active=1',
      method: 'GET',
      params: {},
      headers: {},
      dataType: 'users?active=1',
      responseFilter: [],
      responseFilterDelimiter: '.',
      rowSettings: {},
      placeholders: [],
      computed: [],
      children: [],
    });
  });

  test('gets the method of the default options, as its children do', () => {
    const node = [{ endpoint: 'a', children: [{ endpoint: 'b' }, { endpoint: 'c', method: 'GET' }] }];
    const [parsed] = parseJobs(node, AT, [], { method: 'post' });
    expect(parsed?.method).toBe('POST');
    expect(parsed?.children.map(({ method }) => method)).toEqual(['POST', 'GET']);
    expect(() => parseJobs(node, AT, [], { method: 'SEND' })).toThrow(/“SEND” is no value of `method`/);
  });

  test('is frozen', () => {
    expect(Object.isFrozen(job({ endpoint: 'users' }))).toBe(true);
    expect(Object.isFrozen(jobs([{ endpoint: 'users' }]))).toBe(true);
  });

  test('takes null, an empty text and an empty list as "not set"', () => {
    for (const nothing of [null, '', [], false]) {
      const empty: Record<string, Json> = { endpoint: 'users' };
      for (const key of [
        'params',
        'headers',
        'dataField',
        'dataType',
        'responseFilter',
        'children',
        'method',
        'id',
      ]) {
        empty[key] = nothing;
      }
      const { id: _id, ...read } = job(empty);
      const { id: _other, ...plain } = job({ endpoint: 'users' });
      expect(read).toEqual(plain);
    }
  });
});

describe('the settings of a job', () => {
  test('method is read in any case', () => {
    expect(
      ['get', 'Post', 'FORM', 'put', 'patch', 'DELETE'].map(
        (method) => job({ endpoint: 'a', method }).method,
      ),
    ).toEqual(['GET', 'POST', 'FORM', 'PUT', 'PATCH', 'DELETE']);
  });

  test('dataField is a path, or a path with its delimiter', () => {
    expect(keysOfField('x.y')).toEqual(['x', 'y']);
    expect(keysOfField('.')).toEqual([]);
    expect(keysOfField({ path: 'x/y.z', delimiter: '/' })).toEqual(['x', 'y.z']);
    expect(keysOfField({ path: 'x.y' })).toEqual(['x', 'y']);
    expect(keysOfField('$.x[0]')).toEqual(['x', '0']);
    expect(job({ endpoint: 'a', dataField: '0' }).dataField).toBeUndefined();
  });

  test('responseFilter is one path or a list', () => {
    expect(job({ endpoint: 'a', responseFilter: 'x' }).responseFilter).toEqual(['x']);
    expect(
      job({ endpoint: 'a', responseFilter: ['x', 'y[].z'], responseFilterDelimiter: '&' }),
    ).toMatchObject({
      responseFilter: ['x', 'y[].z'],
      responseFilterDelimiter: '&',
    });
  });

  test('params that are a list are a map of indexes', () => {
    expect(entriesOf(job({ endpoint: 'a', params: ['x', 'y'] }).params)).toEqual([
      ['0', 'x'],
      ['1', 'y'],
    ]);
  });

  test('params keep the order of keys that look like numbers', () => {
    expect(entriesOf(job(json('{"endpoint":"a","params":{"b":1,"7":2}}')).params)).toEqual([
      ['b', 1],
      ['7', 2],
    ]);
  });

  test('userData that is a single value becomes job_parent_id; 0 and false are values', () => {
    expect(job({ endpoint: 'a', userData: 'UK' }).userData).toEqual({ job_parent_id: 'UK' });
    expect(job({ endpoint: 'a', userData: 0 }).userData).toEqual({ job_parent_id: 0 });
    expect(job({ endpoint: 'a', userData: { a: 1 } }).userData).toEqual({ a: 1 });
    expect(job({ endpoint: 'a', userData: [] }).userData).toBeUndefined();
    expect(job({ endpoint: 'a', userData: '' }).userData).toBeUndefined();
  });

  test('paramsIn, queryParamIn and scroller are passed on', () => {
    expect(job({ endpoint: 'a', paramsIn: 'query', queryParamIn: 'Query', scroller: 'fast' })).toMatchObject({
      paramsIn: 'query',
      queryParamIn: 'query',
      scroller: 'fast',
    });
  });

  test('the log calls a job by its id, else by its data type', () => {
    expect(job({ endpoint: 'a', id: 'one', dataType: 't' }).name).toBe('one');
    expect(job({ endpoint: 'a', dataType: 't' }).name).toBe('t');
  });

  test('the endpoint "0" is an endpoint', () => {
    expect(job({ endpoint: '0' }).endpoint).toBe('0');
    expect(job({ endpoint: 0 }).endpoint).toBe('0');
  });
});

describe('a list of jobs', () => {
  test('may be an object, and keeps its order', () => {
    const read = jobs({ z: { endpoint: 'one' }, a: { endpoint: 'two' } });
    expect(read.map(({ endpoint, at }) => [endpoint, at])).toEqual([
      ['one', 'config.jobs.z'],
      ['two', 'config.jobs.a'],
    ]);
  });

  test('runs jobs of one id once: at the place of the first, as the last one says', () => {
    const warnings: JobWarning[] = [];
    const read = parseJobs(
      [{ id: 'x', endpoint: 'first' }, { endpoint: 'other' }, { id: 'x', endpoint: 'last' }],
      AT,
      warnings,
    );
    expect(read.map(({ endpoint }) => endpoint)).toEqual(['last', 'other']);
    expect(warnings).toEqual([
      {
        path: 'config.jobs[2]',
        message:
          '“x” has the same id or definition as the job at config.jobs[0]: only this one runs, at the place of the other',
        hint: 'Give each job its own “id” to run both.',
      },
    ]);
  });

  test('runs two jobs of the same definition once, and both when an id tells them apart', () => {
    const warnings: JobWarning[] = [];
    expect(parseJobs([{ endpoint: 'a' }, { endpoint: 'a' }], AT, warnings)).toHaveLength(1);
    expect(warnings).toHaveLength(1);
    expect(jobs([{ endpoint: 'a' }, { endpoint: 'a', id: 'second' }])).toHaveLength(2);
  });

  test('collapses children of one list, not children of different jobs', () => {
    const node = { endpoint: 'c/{id}', placeholders: { id: 'id' } };
    const read = jobs([
      { endpoint: 'a', children: [node, node] },
      { endpoint: 'b', children: [node] },
    ]);
    expect(read.map(({ children }) => children.length)).toEqual([1, 1]);
  });
});

describe('children', () => {
  test('know their level, their placeholders and their filter', () => {
    const node = {
      endpoint: 'users/{user-id}/orders/{2:org}',
      placeholders: { 'user-id': 'id', '2:org': 'org.id' },
      recursionFilter: 'id>1',
    };
    const outer = child({ endpoint: 'x/{id}', placeholders: { id: 'id' }, children: { inner: node } });
    expect(outer.level).toBe(1);
    expect(first(outer.children)).toMatchObject({
      level: 2,
      at: 'config.jobs[0].children[0].children.inner',
      recursionFilter: 'id>1',
      placeholders: [
        { name: 'user-id', level: 1, path: { text: 'id' } },
        { name: '2:org', level: 2, path: { text: 'org.id' } },
      ],
    });
  });

  test('a placeholder may have a function, a reference or only a path', () => {
    const { placeholders } = child({
      endpoint: '{a}{b}{c}',
      placeholders: {
        a: { path: 'x', function: 'urlencode', args: [{ placeholder: 'value' }] },
        b: { path: 'x', placeholder: 'value' },
        c: { path: 'x' },
      },
    });
    expect(placeholders.map(({ path, call }) => [path.text, call])).toEqual([
      ['x', { function: 'urlencode', args: [{ placeholder: 'value' }] }],
      ['x', { placeholder: 'value' }],
      ['x', undefined],
    ]);
  });
});

describe('a mistake is named with its path', () => {
  const cases: readonly (readonly [string, Json, string, RegExp])[] = [
    ['no jobs', [], 'config.jobs', /no jobs/],
    ['jobs that are a text', 'users', 'config.jobs', /not a text/],
    ['a job that is a text', ['users'], 'config.jobs[0]', /must be an object, not a text/],
    ['a job that is a list', [['users']], 'config.jobs[0]', /not a list/],
    ['no endpoint', [{ dataType: 'a' }], 'config.jobs[0].endpoint', /missing/],
    ['an empty job', [[]], 'config.jobs[0].endpoint', /missing/],
    ['an empty endpoint', [{ endpoint: '' }], 'config.jobs[0].endpoint', /missing/],
    [
      'an endpoint that is a function, without a name for its table',
      [{ endpoint: { attr: 'x' } }],
      'config.jobs[0].dataType',
      /needs a name/,
    ],
    ['an endpoint that is a list', [{ endpoint: ['x'] }], 'config.jobs[0].endpoint', /not a list/],
    [
      'windows without a beginning',
      [{ endpoint: 'a', params: { a: { window: 'from' } }, windows: { step: '1 day' } }],
      'config.jobs[0].windows.from',
      /no beginning/,
    ],
    [
      'windows that are in no request',
      [{ endpoint: 'a', userData: { a: { window: 'from' } }, windows: { from: '2026-01-01' } }],
      'config.jobs[0].windows',
      /No request of this job has its window/,
    ],
    [
      'a step that is no length of time',
      [{ endpoint: 'a', params: { a: { window: 'from' } }, windows: { from: '2026-01-01', step: '30' } }],
      'config.jobs[0].windows.step',
      /“30” is no length of time/,
    ],
    [
      'a step that the format cannot say',
      [
        {
          endpoint: 'a',
          params: { a: { window: 'from' } },
          windows: { from: '2026-01-01', step: '6 hours', format: 'Y-m-d' },
        },
      ],
      'config.jobs[0].windows.step',
      /do not begin on whole steps of 1 day/,
    ],
    [
      'a format without a time',
      [{ endpoint: 'a', params: { a: { window: 'to' } }, windows: { from: '2026-01-01', format: '–' } }],
      'config.jobs[0].windows.format',
      /has no letter of a time/,
    ],
    [
      'a beginning that is no source',
      [{ endpoint: 'a', params: { a: { window: 'from' } }, windows: { from: { header: 'x' } } }],
      'config.jobs[0].windows.from.header',
      /There is no “header” here/,
    ],
    ['params that are a text', [{ endpoint: 'a', params: 'b=1' }], 'config.jobs[0].params', /it is a text/],
    [
      'headers that are a number',
      [{ endpoint: 'a', headers: 1 }],
      'config.jobs[0].headers',
      /it is a number/,
    ],
    ['an unknown method', [{ endpoint: 'a', method: 'POTS' }], 'config.jobs[0].method', /“POTS” is no value/],
    ['an id that is a number', [{ endpoint: 'a', id: 7 }], 'config.jobs[0].id', /not a number/],
    [
      'a data type that is true',
      [{ endpoint: 'a', dataType: true }],
      'config.jobs[0].dataType',
      /it is true/,
    ],
    [
      'a data field that is a list of lists',
      [{ endpoint: 'a', dataField: [['b']] }],
      'config.jobs[0].dataField[0]',
      /not a list/,
    ],
    [
      'a data field without path',
      [{ endpoint: 'a', dataField: { delimiter: '/' } }],
      'config.jobs[0].dataField.path',
      /missing/,
    ],
    [
      'a filter that is no text',
      [{ endpoint: 'a', responseFilter: [{}] }],
      'config.jobs[0].responseFilter',
      /an empty object/,
    ],
    ['children that are a text', [{ endpoint: 'a', children: 'b' }], 'config.jobs[0].children', /not a text/],
    [
      'a child that is a text',
      [{ endpoint: 'a', children: ['b'] }],
      'config.jobs[0].children[0]',
      /not a text/,
    ],
    [
      'a wrong place',
      [{ endpoint: 'a', paramsIn: 'header' }],
      'config.jobs[0].paramsIn',
      /“header” is no value/,
    ],
  ];
  test.each(cases)('%s', (_name, node, path, message) => {
    const error = failure(() => jobs(node));
    expect(error.path).toBe(path);
    expect(error.message).toMatch(message);
  });

  const inChild: readonly (readonly [string, Record<string, Json>, string, RegExp])[] = [
    ['placeholders that are a text', { placeholders: 'id' }, 'placeholders', /not a text/],
    ['a placeholder without path', { placeholders: { id: '' } }, 'placeholders.id', /missing/],
    [
      'an object form without path that is no source',
      { placeholders: { id: { pth: 'id' } } },
      'placeholders.id',
      /does not say where its value comes from/,
    ],
    [
      'a path that is a list',
      { placeholders: { id: { path: ['a'] } } },
      'placeholders.id.path',
      /not a list/,
    ],
    ['a name with braces', { placeholders: { '{id}': 'id' } }, 'placeholders.{id}', /cannot name/],
    [
      'a level without a row',
      { placeholders: { '2:id': 'id' } },
      'placeholders.2:id',
      /maximum level here is 1/,
    ],
    ['level 0', { placeholders: { '0:id': 'id' } }, 'placeholders.0:id', /level 0/],
    ['a filter without operator', { recursionFilter: 'id' }, 'recursionFilter', /no operator/],
    [
      'a filter that is a list',
      { recursionFilter: ['a==1'] },
      'recursionFilter[0]',
      /A condition is an object/,
    ],
  ];
  test.each(inChild)('in a child: %s', (_name, node, path, message) => {
    const error = failure(() => child({ endpoint: 'a/{id}', ...node }));
    expect(error.path).toBe(`config.jobs[0].children[0].${path}`);
    expect(error.message).toMatch(message);
  });

  test.each([
    ['completeness', {}, 'here', ['mode', 'because', 'total', 'pages', 'next', 'more', 'end', 'notSigns']],
    ['export', {}, 'here', ['create', 'poll', 'address', 'download']],
    ['group', { placeholders: { id: 'id' } }, 'in “group”', ['size', 'join', 'by']],
  ])('a key that is not known in “%s” is told, with what it may mean', (key, more, where, known) => {
    const [name = ''] = known;
    const parsed = (odd: string) => () => child({ endpoint: 'a/{id}', ...more, [key]: { [odd]: 'x' } });
    expect(parsed(`${name}s`)).toThrow(
      expect.objectContaining({
        where: { path: `config.jobs[0].children[0].${key}.${name}s` },
        message: `“${name}s” is not known ${where}.`,
        hint: `Did you mean “${name}”?`,
      }),
    );
    expect(parsed('nothingLikeIt')).toThrow(
      expect.objectContaining({ hint: `Known are ${known.join(', ')}.` }),
    );
  });

  test('the nearest method is suggested', () => {
    expect(failure(() => job({ endpoint: 'a', method: 'PSOT' })).hint).toBe(
      'Did you mean POST? Possible values: GET, POST, FORM, PUT, PATCH, DELETE.',
    );
  });

  test('it is the mistake of the user', () => {
    let code = 0;
    try {
      jobs([{}]);
    } catch (error) {
      code = exitCodeOf(error);
    }
    expect(code).toBe(1);
  });
});

describe('what works, but hardly as meant, is warned of', () => {
  test('placeholders and filters of a job that is no child', () => {
    const warnings = warningsOf({ endpoint: 'a', placeholders: { id: 'id' }, recursionFilter: 'x' });
    expect(warnings.map(({ path }) => path)).toEqual([
      'config.jobs[0].placeholders',
      'config.jobs[0].recursionFilter',
    ]);
  });

  test('a child without placeholders', () => {
    const warnings = warningsOf({ endpoint: 'a', children: [{ endpoint: 'b' }] });
    expect(warnings).toEqual([
      {
        path: 'config.jobs[0].children[0]',
        message: 'The child “b” has no placeholders: it asks for the same thing once for each parent row',
        hint: 'Give it “placeholders”, or make it a job of its own.',
      },
    ]);
  });

  test('not a child whose request takes something of the parent row', () => {
    const params = { of: { function: 'concat', args: ['p', { parent: 'name' }] } };
    expect(warningsOf({ endpoint: 'a', children: [{ endpoint: 'b', params }] })).toEqual([]);
  });

  test('not a deeper child that inherits some', () => {
    const inner = { endpoint: 'c/{id}' };
    expect(
      warningsOf({
        endpoint: 'a',
        children: [{ endpoint: 'b/{id}', placeholders: { id: 'id' }, children: [inner] }],
      }),
    ).toEqual([]);
  });

  test('a name in the endpoint that no placeholder has', () => {
    const warnings = warningsOf({
      endpoint: 'a',
      children: [{ endpoint: 'b/{user-id}', placeholders: { 'user-di': 'id' } }],
    });
    expect(warnings).toEqual([
      {
        path: 'config.jobs[0].children[0].endpoint',
        message: 'There is no placeholder “user-id” for the endpoint: it is sent as written',
        hint: 'Did you mean {user-di}?',
      },
    ]);
  });
});

test('a scroller beside a pagination of its own has no effect', () => {
  const job = { endpoint: 'a', scroller: 'x' };
  expect(warningsOf({ ...job, pagination: { method: 'pagenum' } })).toEqual([
    expect.objectContaining({ path: `${AT}[0].scroller` }),
  ]);
  expect(warningsOf({ ...job, pagination: { method: 'multiple', scrollers: {} } })).toEqual([]);
  expect(warningsOf(job)).toEqual([]);
});

const messagesOf = (node: Json): string[] => warningsOf(node).map(({ message }) => message);

describe('references that a job has no values for', () => {
  test('are warned of', () => {
    const params = { from: { window: 'from' }, since: { state: 'cursor' } };
    expect(messagesOf({ endpoint: 'a', params })).toEqual([
      expect.stringContaining('The job refers to its window, and has none'),
      expect.stringContaining('The job refers to its state, and has none'),
    ]);
  });

  test('are those of the job above, and other objects are no references', () => {
    const windows = { from: '2026-01-01', step: '1 month' };
    const child = { endpoint: 'b/{id}', placeholders: { id: 'id' }, params: { to: { window: 'to' } } };
    const parent = { endpoint: 'a', params: { from: { window: 'from' } }, windows, children: [child] };
    expect(messagesOf(parent)).toEqual([]);
    expect(messagesOf({ endpoint: 'a', params: { filter: { state: 'open', window: 7 } } })).toEqual([]);
  });
});
