import { describe, expect, test } from 'vitest';
import { parseExtractorConfig, type ExtractorConfig } from '../../../src/engine/config/extractor-config.ts';
import { ConfigError } from '../../../src/lib/errors.ts';
import { parseExact, toJsonText, type AnyObject, type Json } from '../../../src/lib/json/index.ts';

const jobs = [{ endpoint: 'users' }];
const baseUrl = 'https://api.example.com/v1/';

interface Parts {
  readonly api?: object;
  readonly config?: object;
  readonly parameters?: object;
  readonly root?: object;
}

function read({ api, config, parameters, root }: Parts): ExtractorConfig {
  const whole = {
    parameters: { api: { baseUrl, ...api }, config: { jobs, ...config }, ...parameters },
    ...root,
  };
  return parseExtractorConfig(parseExact(JSON.stringify(whole)) as AnyObject);
}

interface Failure {
  readonly message: string;
  readonly path: string | undefined;
  readonly hint: string | undefined;
}

function failureOf(run: () => unknown): Failure {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { message: error.message, path: error.where.path, hint: error.hint };
  }
  throw new Error('There was no error.');
}

function failure(parts: Parts): Failure {
  return failureOf(() => read(parts));
}

function whole(configuration: AnyObject): Failure {
  return failureOf(() => parseExtractorConfig(configuration));
}

describe('the smallest configuration', () => {
  test('has all defaults', () => {
    const { api, configs, action, sshProxy, aws, cache, oauthCredentials, allowedHosts, warnings } = read({});
    expect(api).toMatchObject({
      baseUrl,
      name: 'generic',
      connectTimeoutMs: 30_000,
      requestTimeoutMs: 300_000,
      retry: {},
      ignoreErrors: [],
    });
    expect([api.pagination, api.authentication, api.caCertificate, api.clientCertificate]).toEqual(
      Array(4).fill(undefined),
    );
    expect([sshProxy, aws, cache, oauthCredentials]).toEqual(Array(4).fill(undefined));
    expect(allowedHosts).toEqual([]);
    expect([action, warnings]).toEqual(['run', []]);
    expect(configs).toHaveLength(1);
    expect(configs[0]).toMatchObject({
      jobs,
      jobsAt: 'parameters.config.jobs',
      incrementalOutput: false,
      debug: false,
      compatLevel: 3,
      iteration: undefined,
      outputBucket: undefined,
      mappings: undefined,
    });
  });

  test('is the same with empty lists for objects', () => {
    const { api, configs } = read({
      api: { http: [], pagination: [], authentication: [], retryConfig: [] },
      config: { http: [], mappings: [], userData: [] },
    });
    expect([api.pagination, api.authentication, configs[0]?.mappings]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(configs[0]?.userData).toEqual({});
  });
});

describe('what is missing', () => {
  test.each<[string, AnyObject, string]>([
    ['parameters', {}, 'parameters.config'],
    ['config', { parameters: { api: { baseUrl } } }, 'parameters.config'],
    ['config that is empty', { parameters: { api: { baseUrl }, config: {} } }, 'parameters.config'],
    ['config that is a list', { parameters: { api: { baseUrl }, config: ['x'] } }, 'parameters.config'],
    ['api', { parameters: { config: { jobs } } }, 'parameters.api'],
    ['api that is a text', { parameters: { api: 'x', config: { jobs } } }, 'parameters.api'],
    ['baseUrl', { parameters: { api: {}, config: { jobs } } }, 'parameters.api.baseUrl'],
    ['parameters that are a text', { parameters: 'x' }, 'parameters'],
  ])('%s is named by its path', (_name, configuration, path) => {
    expect(whole(configuration).path).toBe(path);
  });

  test('because it is wrapped twice is said', () => {
    expect(whole({ configuration: { parameters: { api: { baseUrl }, config: { jobs } } } }).hint).toContain(
      'one level up',
    );
  });
});

describe('baseUrl', () => {
  test.each([
    'http://mock-server:80/x',
    'https://a_b/',
    'http://127.0.0.1:8080',
    'http://[::1]/',
    'https://u:p@h.example/',
  ])('%s is fine', (url) => {
    expect(read({ api: { baseUrl: url } }).api.baseUrl).toBe(url);
  });

  test('may be a function, which is kept', () => {
    const fn = { function: 'concat', args: ['https://', { attr: 'host' }] };
    expect(read({ api: { baseUrl: fn } }).api.baseUrl).toEqual(fn);
  });

  test('may be JSON text of a function, with a warning', () => {
    const { api, warnings } = read({ api: { baseUrl: '{"attr":"url"}' } });
    expect(api.baseUrl).toEqual({ attr: 'url' });
    expect(warnings).toMatchObject([{ path: 'parameters.api.baseUrl' }]);
  });

  test.each(['example.com', 'ftp://x/', 'http://', '{"a":', '[1]'])('%s is a mistake', (url) => {
    expect(failure({ api: { baseUrl: url } })).toMatchObject({
      path: 'parameters.api.baseUrl',
      message: `\`baseUrl\` is not a valid URL: “${url}”.`,
    });
  });
});

describe('api', () => {
  test('timeouts are seconds; 0 and what is no number keep the default', () => {
    expect(timeouts(5, '1.5')).toEqual([5000, 1500]);
    expect(timeouts(0, 'x')).toEqual([30_000, 300_000]);
  });

  test('retries read the present keys and the older flat ones', () => {
    expect(
      retry({ maxRetries: '3', http: { codes: [500, '503'], retryHeader: 'X-Wait' }, curl: { codes: [6] } }),
    ).toEqual({
      maxRetries: 3,
      codes: [500, 503],
      retryHeader: 'X-Wait',
      curlCodes: [6],
    });
    expect(retry({ headerName: 'X-Old', curlCodes: [7], http: { codes: [500] } })).toEqual({
      retryHeader: 'X-Old',
      curlCodes: [7],
    });
    expect(failure({ api: { retryConfig: { http: { codes: ['x'] } } } }).path).toBe(
      'parameters.api.retryConfig.http.codes[0]',
    );
  });

  test('pagination that is no object is ignored', () => {
    expect(read({ api: { pagination: 'x' } }).api.pagination).toBeUndefined();
    expect(read({ api: { pagination: { method: 'offset', pages: '3' } } }).api.pagination).toEqual({
      method: 'offset',
      pages: '3',
    });
  });

  test.each<[string, object, string]>([
    ['caCertificate', { caCertificate: 5 }, 'parameters.api.caCertificate'],
    ['an empty caCertificate', { caCertificate: '' }, 'parameters.api.caCertificate'],
    ['defaultOptions', { http: { defaultOptions: 'x' } }, 'parameters.api.http.defaultOptions'],
    ['ignoreErrors', { http: { ignoreErrors: [404, true] } }, 'parameters.api.http.ignoreErrors[1]'],
    ['requiredHeaders', { http: { requiredHeaders: 'X' } }, 'parameters.api.http.requiredHeaders'],
    ['concurrency', { http: { concurrency: 0 } }, 'parameters.api.http.concurrency'],
  ])('%s of a wrong type is named', (_name, api, path) => {
    expect(failure({ api }).path).toBe(path);
  });
});

describe('headers', () => {
  test('of config win over those of api, by exact name', () => {
    const [config] = read({
      api: { http: { headers: { A: '1', B: '2' } } },
      config: { http: { headers: { B: '3', a: '4' } } },
    }).configs;
    expect(toJsonText(config?.headers ?? null)).toBe('{"A":"1","B":"3","a":"4"}');
  });

  test('that are required must be in config, in the same case, and not empty', () => {
    const api = { http: { requiredHeaders: ['X-Key'], headers: { 'X-Key': 'default' } } };
    expect(failure({ api }).message).toContain('“X-Key”');
    expect(failure({ api, config: { http: { headers: { 'x-key': 'a' } } } }).path).toBe(
      'parameters.config.http.headers.X-Key',
    );
    expect(failure({ api, config: { http: { headers: { 'X-Key': '' } } } }).message).toContain('required');
    expect(read({ api, config: { http: { headers: { 'X-Key': 'a' } } } }).configs).toHaveLength(1);
  });
});

describe('config', () => {
  test('the bucket is the one given, else made of name and id, else none', () => {
    expect(bucket({ outputBucket: 'mine', id: 'x' })).toBe('mine');
    expect(bucket({ id: 12 }, { name: 'shop' })).toBe('ex-api-shop-12');
    expect(bucket({ id: 'x' })).toBe('ex-api-generic-x');
    expect(bucket({ outputBucket: '', id: '0' })).toBeUndefined();
    expect(failure({ config: { outputBucket: 'a/b' } }).path).toBe('parameters.config.outputBucket');
    expect(failure({ config: { id: 'a/b' } }).path).toBe('parameters.config.id');
  });

  test('userData may be one value', () => {
    expect(read({ config: { userData: 'x' } }).configs[0]?.userData).toEqual({ userData: 'x' });
    expect(read({ config: { userData: { a: 1 } } }).configs[0]?.userData).toEqual({ a: 1 });
  });

  test('compatLevel is 1, 2 or 3; empty is 3', () => {
    expect([level(1), level('2'), level(3), level(null), level(0), level('')]).toEqual([1, 2, 3, 3, 3, 3]);
    expect(failure({ config: { compatLevel: 4 } }).path).toBe('parameters.config.compatLevel');
  });

  test('incrementalOutput must be true or false', () => {
    expect(read({ config: { incrementalOutput: true } }).configs[0]?.incrementalOutput).toBe(true);
    expect(failure({ config: { incrementalOutput: 1 } }).path).toBe('parameters.config.incrementalOutput');
  });

  test('jobs may be an object of jobs', () => {
    expect(read({ config: { jobs: { a: { endpoint: 'x' } } } }).configs[0]?.jobs).toEqual({
      a: { endpoint: 'x' },
    });
  });
});

describe('iterations', () => {
  test('replace keys of config whole, one run each, without the base', () => {
    const { configs } = read({
      config: { http: { headers: { A: '1' } }, userData: { x: 1 }, account: 0 },
      parameters: {
        iterations: [
          { account: 1, http: {} },
          { jobs: [{ endpoint: 'b' }], outputBucket: 'other' },
        ],
      },
    });
    expect(configs.map(({ iteration }) => iteration)).toEqual([0, 1]);
    expect(configs.map(({ headers }) => headers)).toEqual([{}, { A: '1' }]);
    expect(configs.map(({ jobsAt }) => jobsAt)).toEqual([
      'parameters.config.jobs',
      'parameters.iterations[1].jobs',
    ]);
    expect(configs.map(({ outputBucket }) => outputBucket)).toEqual([undefined, 'other']);
    expect(toJsonText(configs[0]?.node ?? null)).toBe(
      '{"jobs":[{"endpoint":"users"}],"http":[],"userData":{"x":1},"account":1}',
    );
  });

  test('that are empty leave the base', () => {
    expect(read({ parameters: { iterations: [] } }).configs).toHaveLength(1);
  });

  test('must be a list of objects', () => {
    expect(failure({ parameters: { iterations: 'x' } }).path).toBe('parameters.iterations');
    expect(failure({ parameters: { iterations: [{}, 'x'] } }).path).toBe('parameters.iterations[1]');
    expect(failure({ parameters: { iterations: [{ compatLevel: 9 }] } }).path).toBe(
      'parameters.iterations[0].compatLevel',
    );
  });
});

describe('the rest of the parameters', () => {
  const credentials = { accessKeyId: 'a', '#secretKey': 'b', serviceName: 'c', regionName: 'd' };

  test('an SSH proxy needs all its keys, and those missing are listed', () => {
    const sshProxy = { user: 'u', host: 'h', port: '22', '#privateKey': 'k' };
    expect(read({ parameters: { sshProxy } }).sshProxy).toEqual({
      user: 'u',
      host: 'h',
      port: 22,
      privateKey: 'k',
    });
    expect(failure({ parameters: { sshProxy: { user: 'u', host: 'h' } } }).message).toBe(
      'The SSH proxy lacks `port`, `#privateKey`.',
    );
    expect(failure({ parameters: { sshProxy: { ...sshProxy, port: 0.5 } } }).path).toBe(
      'parameters.sshProxy.port',
    );
  });

  test('an AWS signature needs all its keys, and the missing one is named', () => {
    expect(read({ parameters: { aws: { signature: { credentials } } } }).aws).toEqual({
      accessKeyId: 'a',
      secretKey: 'b',
      serviceName: 'c',
      regionName: 'd',
    });
    expect(read({ parameters: { aws: {} } }).aws).toBeUndefined();
    expect(
      failure({ parameters: { aws: { signature: { credentials: { ...credentials, regionName: '' } } } } })
        .path,
    ).toBe('parameters.aws.signature.credentials.regionName');
  });

  test('the cache is on by anything that is not empty', () => {
    expect(read({ parameters: { cache: true } }).cache).toEqual({ ttlSeconds: 604_800 });
    expect(read({ parameters: { cache: { ttl: 60 } } }).cache).toEqual({ ttlSeconds: 60 });
    expect(read({ parameters: { cache: false } }).cache).toBeUndefined();
    expect(failure({ parameters: { cache: { ttl: 'x' } } }).path).toBe('parameters.cache.ttl');
  });

  test('credentials, allowed hosts and the action are handed on', () => {
    const root = {
      authorization: { oauth_api: { credentials: { appKey: 1 } } },
      image_parameters: { allowed_hosts: [{ host: 'a' }] },
      action: 'test_request',
    };
    expect(read({ root })).toMatchObject({
      oauthCredentials: { appKey: 1 },
      allowedHosts: [{ host: 'a' }],
      action: 'test_request',
    });
    expect(failure({ root: { image_parameters: { allowed_hosts: [{}] } } }).path).toContain(
      'image_parameters.allowed_hosts',
    );
  });
});

function timeouts(connectTimeout: Json, requestTimeout: Json): number[] {
  const { api } = read({ api: { http: { connectTimeout, requestTimeout } } });
  return [api.connectTimeoutMs, api.requestTimeoutMs];
}

function retry(retryConfig: object): object {
  return read({ api: { retryConfig } }).api.retry;
}

function bucket(config: object, api: object = {}): string | undefined {
  return read({ config, api }).configs[0]?.outputBucket;
}

function level(compatLevel: Json): number | undefined {
  return read({ config: { compatLevel } }).configs[0]?.compatLevel;
}
