import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { serveCommand } from '../../src/cli/serve.ts';
import { createClients } from '../../src/service/http/limits/clients.ts';

// Tests of the documentation for several processes: it describes what exists. Tests with processes, and bench/ with a
// proxy, show that the processes work together.

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly networks?: Readonly<Record<string, { readonly ipv4_address: string }>>;
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<
    Record<
      string,
      { readonly ipam: { readonly config: readonly Readonly<Record<'ip_range' | 'subnet', string>>[] } }
    >
  >;
}

const compose = parse(read('docker/several-machines.yaml'), { merge: true }) as Compose; // our own file
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image === 'generic-extractor');
const nginx = read('docker/nginx.conf');

/** `--port=8080` as `port` and `8080`. */
function optionsOf(command: readonly string[] = []): Map<string, string | undefined> {
  expect(command[0]).toBe('serve');
  return new Map(
    command.slice(1).map((word) => {
      const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/.exec(word) ?? [];
      return [name, value] as const;
    }),
  );
}

function checkOptions(command: readonly string[] | undefined): Map<string, string | undefined> {
  const options = optionsOf(command);
  for (const [name, value] of options) {
    const known = serveCommand.options[name];
    expect(known, `--${name}`).toBeDefined();
    expect(value === undefined, `--${name}`).toBe(known?.type === 'boolean');
  }
  return options;
}

/** Variables that the command or the entrypoint reads. */
const known = (() => {
  const sources = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(path.join('src', name)));
  const written = sources.flatMap((text) => text.match(/\bGEX_[A-Z0-9_]+/g) ?? []);
  const ofOptions = Object.keys(serveCommand.options)
    .filter((name) => name.startsWith('s3'))
    .map((name) => `GEX_${name.toUpperCase().replaceAll('-', '_')}`);
  const list = /^for name in (.*); do$/m.exec(read('docker/entrypoint.sh'))?.[1] ?? '';
  return new Set([...written, ...ofOptions, ...list.split(' ').map((name) => `${name}_FILE`)]);
})();

describe('docker/several-machines.yaml', () => {
  test('has a process of each role, several with the API, and options and variables that there are', () => {
    const roles = ours.map(([, { command }]) => checkOptions(command).get('role') ?? 'all');
    expect(roles.toSorted()).toEqual(['api', 'api', 'runner', 'worker']);
    for (const [name, { environment = {} }] of ours)
      for (const variable of Object.keys(environment)) expect([...known], name).toContain(variable);
  });

  test('a health check asks an address that the process listens at', () => {
    for (const [name, { command, healthcheck }] of ours) {
      const options = optionsOf(command);
      const [, script = '', address = ''] = healthcheck?.test ?? [];
      expect(existsSync(path.join(root, script.replace(/^\/app\//, ''))), script).toBe(true);
      const { port, pathname } = new URL(address);
      expect([options.get('port'), options.get('health-port')], name).toContain(port);
      expect(['/health', '/ready'], name).toContain(pathname);
    }
  });

  test('the proxy passes on to all processes with the API, and is reached where answers say', () => {
    const apis = ours.filter(([, { command }]) => optionsOf(command).get('role') === 'api');
    const servers = Array.from(nginx.matchAll(/^ +server (\S+:\d+)/gm), ([, server]) => server);
    expect(servers).toEqual(apis.map(([name, { command }]) => `${name}:${optionsOf(command).get('port')}`));
    const listens = /^ +listen (\d+);/m.exec(nginx)?.[1];
    const { proxy } = compose.services;
    expect(proxy?.ports).toEqual([`8080:${listens}`]);
    expect(proxy?.volumes).toEqual(['./nginx.conf:/etc/nginx/nginx.conf:ro']);
    for (const [, { command }] of apis) expect(optionsOf(command).get('host')).toBe('0.0.0.0');
    // A runner asks the API as clients do.
    const askers = ours.filter(([, { command }]) => optionsOf(command).get('role') === 'runner');
    for (const [name, { command }] of [...apis, ...askers])
      expect(optionsOf(command).get('public-url'), name).toBe('http://${PUBLIC_HOST}:8080');
  });

  test('limits count the clients of the proxy: its address is its own, and believed by processes with the API alone', () => {
    const address = compose.services['proxy']?.networks?.['default']?.ipv4_address ?? '';
    const [network] = compose.networks['default']?.ipam.config ?? [];
    const isIn = (range = ''): boolean => createClients([range]).isTrusted(address);
    expect([isIn(network?.subnet), isIn(network?.ip_range)]).toEqual([true, false]);
    expect(nginx).toMatch(/^ +proxy_set_header X-Forwarded-For \$proxy_add_x_forwarded_for;$/m);
    for (const [name, { command }] of ours) {
      const options = optionsOf(command);
      const trusted = options.get('trust-proxy');
      if (options.get('role') !== 'api') expect(trusted, name).toBeUndefined();
      else {
        const clients = createClients([trusted ?? '']);
        const from = (remoteAddress: string, told: string) =>
          clients.addressOf({
            headers: { 'x-forwarded-for': told },
            socket: { remoteAddress } as Socket, // all that is looked at
          });
        // Addresses that a client adds itself are before the one that the proxy adds.
        expect(from(address, '1.1.1.1, 203.0.113.7'), name).toBe('203.0.113.7');
        expect(from(address, '1.1.1.1, 172.30.200.1'), name).toBe('172.30.200.1');
        expect(from('172.30.200.130', '1.1.1.1'), name).toBe('172.30.200.130');
      }
    }
  });

  test('the object store is published where signed addresses lead, and reached by the name of its service', () => {
    const { s3 } = compose.services;
    for (const [, { environment = {} }] of ours) {
      const inside = new URL(environment['GEX_S3'] ?? '');
      expect(inside.hostname).toBe('s3');
      const outside = /^http:\/\/\$\{PUBLIC_HOST:\?[^}]+\}:(\d+)$/.exec(
        environment['GEX_S3_PUBLIC_URL'] ?? '',
      );
      expect(s3?.ports).toEqual([`${outside?.[1]}:${inside.port}`]);
    }
  });

  test('secrets are files, named once, and none stands in the file itself', () => {
    const used = new Set(services.flatMap(([, { secrets = [] }]) => secrets));
    expect([...used].toSorted()).toEqual(Object.keys(compose.secrets).toSorted());
    for (const [name, { environment = {}, secrets = [] }] of services) {
      for (const [variable, value] of Object.entries(environment)) {
        if (variable.endsWith('_FILE')) expect(secrets, name).toContain(value.replace('/run/secrets/', ''));
        else expect(variable, name).not.toMatch(/PASSWORD|SECRET|ACCESS_KEY|ENCRYPTION_KEY|DATABASE_URL/);
      }
    }
    const guide = read('docs/several-machines.md');
    for (const name of Object.keys(compose.secrets)) expect(guide).toMatch(new RegExp(`>${name}$`, 'm'));
    for (const file of ['.gitignore', '.dockerignore'])
      expect(read(file)).toMatch(/^\/?docker\/secrets\/?$/m);
  });

  test('what is waited for has a health check, or ends; volumes are those that are used', () => {
    for (const [name, { depends_on = {} }] of services)
      for (const [on, { condition }] of Object.entries(depends_on)) {
        const other = compose.services[on];
        expect(other, `${name} waits for ${on}`).toBeDefined();
        expect(condition === 'service_healthy', `${name} waits for ${on}`).toBe(
          other?.healthcheck !== undefined,
        );
      }
    const used = services.flatMap(([, { volumes = [] }]) =>
      volumes.map((volume) => volume.replace(/:.*/, '')),
    );
    expect(used.filter((name) => !name.startsWith('.')).toSorted()).toEqual(
      Object.keys(compose.volumes).toSorted(),
    );
  });

  test('nobody is killed before he can have stopped', () => {
    for (const [name, { command, stop_grace_period = '' }] of ours) {
      const drain = Number(optionsOf(command).get('drain-seconds') ?? 0);
      expect(Number(stop_grace_period.replace('s', '')), name).toBeGreaterThanOrEqual(20 + drain);
    }
  });
});

describe('docs/several-machines.md', () => {
  const guide = read('docs/several-machines.md');

  test('has manifests with options that there are, probes of ports that are opened, and enough time to stop', () => {
    const manifests = Array.from(
      guide.matchAll(/^```yaml\n(.*?)^```/gms),
      ([, text = '']) => parseAllDocuments(text).map((document) => document.toJS() as Manifest), // our own text
    ).flat();
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
    expect(deployments).toHaveLength(2);
    for (const { metadata, spec } of deployments) {
      const { containers = [], terminationGracePeriodSeconds = 0 } = spec.template?.spec ?? {};
      for (const { args, ports, ...container } of containers) {
        const options = checkOptions(args);
        expect(metadata.name).toBe(`gex-${options.get('role')}`);
        expect(options.get('health-host')).toBe('0.0.0.0');
        const opened = ports.map(({ containerPort }) => String(containerPort));
        const listens = [options.get('port'), options.get('health-port')].filter(
          (port) => port !== undefined,
        );
        expect(opened).toEqual(listens);
        for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
          if (probe === undefined) continue;
          expect(probe.httpGet.port).toBe('health');
          expect(['/health', '/ready']).toContain(probe.httpGet.path);
        }
        expect(container.livenessProbe?.httpGet.path).toBe('/health');
        expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
          20 + Number(options.get('drain-seconds') ?? 0),
        );
      }
    }
  });

  test('names variables that there are, and settings of the proxy that stand in its file', () => {
    for (const variable of guide.match(/\bGEX_[A-Z0-9_]+/g) ?? []) expect([...known]).toContain(variable);
    const settings = Array.from(
      guide.matchAll(/`((?:client|proxy|keepalive)_\w+ [^`…]+)`/g),
      ([, text = '']) => text,
    );
    expect(settings.length).toBeGreaterThan(4);
    for (const setting of settings) expect(nginx).toContain(`${setting};`);
  });
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template?: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly Container[];
      };
    };
  };
}

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
