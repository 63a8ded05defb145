import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { AUTH_TYPES } from '../../../../src/engine/http/auth/index.ts';
import {
  allowedHostsOptions,
  authenticationOptions,
  authorizationOptions,
  awsOptions,
} from '../../../../src/engine/http/auth/auth-options.ts';
import { trustedHostsSchema } from '../../../../src/engine/http/trust/trusted-hosts.ts';
import type { OptionSchema } from '../../../../src/lib/option.ts';

/** As it stands in the schema of a configuration: an authentication may hold others. */
function whole(schema: OptionSchema): OptionSchema {
  return { ...schema, definitions: { authentication: schema } };
}

const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false });
const schemas: Record<string, OptionSchema> = {
  authentication: whole(authenticationOptions()),
  authorization: authorizationOptions,
  aws: awsOptions,
  allowedHosts: allowedHostsOptions,
  trustedHosts: trustedHostsSchema,
};

describe('the options', () => {
  const authentication = ajv.compile(whole(authenticationOptions()));

  test.each(Object.entries(schemas))('%s: the examples are valid', (_name, schema) => {
    const validate = ajv.compile(schema);
    for (const example of (schema['examples'] ?? []) as unknown[])
      expect([example, validate(example)]).toEqual([example, true]);
  });

  test.each(AUTH_TYPES.map((type) => [type.type, type] as const))(
    '%s: its own examples are valid',
    (_type, { options }) => {
      const examples = options['examples'] as unknown[];
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) expect([example, authentication(example)]).toEqual([example, true]);
    },
  );

  test.each<[unknown, boolean]>([
    [{}, true],
    [[], true],
    [{ type: '' }, true],
    [{ type: 'url.query', query: { a: 1 } }, true],
    [{ type: 'login', loginRequest: { endpoint: 'x', method: 'post', params: [] }, expires: '-1' }, true],
    [{ type: 'login', loginRequest: { endpoint: 'x' }, expires: 'soon' }, false],
    [{ type: 'login' }, false],
    [{ type: 'apiKey', name: 'k' }, false],
    [{ type: 'nothing' }, false],
  ])('%j is valid: %s', (node, isValid) => {
    expect(authentication(node)).toBe(isValid);
  });

  test('say for every key what it is', () => {
    const bare: string[] = [];
    const walk = (schema: unknown, path: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      for (const [key, value] of Object.entries(schema)) {
        if (key === 'properties') {
          for (const [name, option] of Object.entries(value as Record<string, Record<string, unknown>>)) {
            if (typeof option['title'] !== 'string' || typeof option['description'] !== 'string')
              bare.push(`${path}.${name}`);
            if (option['examples'] === undefined) bare.push(`${path}.${name}: no example`);
            walk(option, `${path}.${name}`);
          }
        } else if (key !== 'examples') walk(value, `${path}.${key}`);
      }
    };
    for (const [name, schema] of Object.entries(schemas)) walk(schema, name);
    expect(bare).toEqual([]);
  });
});
