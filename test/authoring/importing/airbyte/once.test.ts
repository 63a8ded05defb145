import { expect, test } from 'vitest';
import type { CodeClass } from '../../../../src/authoring/importing/airbyte/code/component-code.ts';
import { once } from '../../../../src/authoring/importing/airbyte/code/once.ts';
import { CodeRefused } from '../../../../src/authoring/importing/airbyte/code/refused.ts';
import { ManifestComponent } from '../../../../src/authoring/importing/airbyte/component.ts';
import { ParameterUses } from '../../../../src/authoring/importing/airbyte/parameter-uses.ts';

const NODE = { class_name: 'A', path: 'users', limit: 5, $parameters: { path: 'users', name: 'a' } };
/** A class: it does not matter here what it has, only which one it is. */
const classNamed = (name: string): CodeClass => ({ name }) as CodeClass;

test('a class is read once for each component, and what is read of it is noted each time', () => {
  const read: string[] = [];
  const pathOf = once((type, component) => {
    read.push(type.name);
    return component.text('path');
  });
  const [one, other] = [classNamed('A'), classNamed('B')];
  const uses = new ParameterUses({ path: 'users', name: 'a' }, undefined);
  expect([
    pathOf(one, new ManifestComponent(NODE, 'streams[0]')),
    pathOf(one, new ManifestComponent(NODE, 'streams[1]', undefined, uses)),
    pathOf(other, new ManifestComponent(NODE, 'streams[1]')),
    pathOf(one, new ManifestComponent({ ...NODE, path: 'groups' }, 'streams[2]')),
  ]).toEqual(['users', 'users', 'users', 'groups']);
  expect(read).toEqual(['A', 'B', 'A']);
  expect(uses.names).toEqual(['path']);
});

test('templates that know other names are read by themselves', () => {
  const stateOf = once((_, component) => component.expression('{{ stream_state }}'));
  const type = classNamed('A');
  const known = new ManifestComponent({ class_name: 'A', retriever: NODE }, '')
    .without('class_name', new Map([['stream_state', {}]]))
    .child('retriever');
  expect(known && stateOf(type, known)).toEqual({ kind: 'constant', value: {} });
  expect(stateOf(type, new ManifestComponent(NODE, ''))).toEqual({ kind: 'name', name: 'stream_state' });
});

test('code that is refused is refused each time', () => {
  let count = 0;
  const refuse = once(() => {
    count++;
    throw new CodeRefused('too long');
  });
  const type = classNamed('A');
  for (const at of ['streams[0]', 'streams[1]'])
    expect(() => refuse(type, new ManifestComponent(NODE, at))).toThrow('too long');
  expect(count).toBe(1);
});
