// Peak memory (resident set) and time of a run over one large CSV: directly, through an HTTP proxy in absolute form, by
// CONNECT, and in an SSH tunnel. The servers are on loopback, in a process of their own.
//
//   node bench/routes.ts [--mb 250] [--turns 3] [--routes direct,https,proxy,connect,ssh]
import { execFileSync, fork } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as forward, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ssh2 from 'ssh2';
import { median, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { measure, runArgs, type Finished } from './support/processes.ts';

const { values: given } = parseArgs({
  options: {
    mb: { type: 'string', default: '250' },
    turns: { type: 'string', default: '3' },
    routes: { type: 'string', default: 'direct,https,proxy,connect,ssh' },
    serve: { type: 'string' },
  },
});

/** Ports of the servers, and what a client needs for them. */
interface Servers {
  readonly plain: number;
  readonly secure: number;
  readonly proxy: number;
  readonly ssh: number;
  readonly privateKey: string;
  readonly caCertificate: string;
}

async function compare(folder: string): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ['--serve', folder, '--mb', given.mb]);
  const servers = await new Promise<Servers>(
    (resolve) => child.once('message', (message) => resolve(message as Servers)), // as `serve` sends it
  );
  const found = new Map<string, Finished[]>(given.routes.split(',').map((route) => [route, []]));
  try {
    for (let turn = 0; turn < Number(given.turns); turn++)
      for (const [route, runs] of found) runs.push(await takeBy(route, servers, folder));
  } finally {
    child.kill();
  }
  printTable(
    `One CSV of ${given.mb} MB, medians of ${given.turns}`,
    ['', 'peak', 'wall', 'CPU'],
    [...found].map(([route, runs]) => [
      route,
      `${median(runs.map(({ peakMb }) => peakMb)).toFixed(0)} MB`,
      seconds(median(runs.map(({ wallMs }) => wallMs))),
      seconds(median(runs.map(({ cpuMs }) => cpuMs))),
    ]),
  );
}

async function takeBy(route: string, servers: Servers, folder: string): Promise<Finished> {
  const data = path.join(folder, 'data');
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data);
  const isSecure = route === 'https' || route === 'connect';
  const host = `localhost:${isSecure ? servers.secure : servers.plain}`;
  const { privateKey, caCertificate } = servers;
  const sshProxy = { user: 'bench', host: '127.0.0.1', port: servers.ssh, '#privateKey': privateKey };
  const api = {
    baseUrl: `${isSecure ? 'https' : 'http'}://${host}/`,
    ...(isSecure ? { caCertificate } : {}),
  };
  const config = { jobs: [{ endpoint: 'export', dataType: 'rows' }] };
  const parameters = { api, config, ...(route === 'ssh' ? { sshProxy } : {}) };
  writeFileSync(path.join(data, 'config.json'), JSON.stringify({ parameters }));
  const isProxied = route === 'proxy' || route === 'connect';
  process.env['ALL_PROXY'] = isProxied ? `http://127.0.0.1:${servers.proxy}` : '';
  return await measure(runArgs(data), folder);
}

async function serve(folder: string): Promise<void> {
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const self = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', [...self, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], {
    stdio: 'pipe',
  });
  const tls = { key: readFileSync(key), cert: readFileSync(cert) };
  const proxy = createServer((asked, response) => {
    const { hostname, port, pathname } = new URL(asked.url ?? '');
    forward({ hostname, port, path: pathname }, (came) => {
      response.writeHead(came.statusCode ?? 0, came.headers);
      came.pipe(response);
    }).end();
  });
  proxy.on('connect', (asked, socket: Socket) => {
    const far = connect(Number(asked.url?.split(':')[1]), 'localhost', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket
        .on('error', () => {})
        .pipe(far)
        .on('error', () => {})
        .pipe(socket);
    });
  });
  const keys = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
  const ssh = new ssh2.Server({ hostKeys: [keys.private] }, (client) => {
    client.on('error', () => {});
    client.on('authentication', (context) => context.accept());
    client.on('tcpip', (accept, _, { destPort }) => {
      const channel = accept();
      channel
        .on('error', () => {})
        .pipe(connect(destPort, 'localhost').on('error', () => {}))
        .pipe(channel);
    });
  });
  const ports: Servers = {
    plain: await listening(createServer(answer)),
    secure: await listening(createSecureServer(tls, answer)),
    proxy: await listening(proxy),
    ssh: await new Promise((resolve) => ssh.listen(0, () => resolve((ssh.address() as AddressInfo).port))),
    privateKey: keys.private,
    caCertificate: String(tls.cert),
  };
  process.send?.(ports);
}

const answer: RequestListener = (_, response) => {
  response.setHeader('Content-Type', 'text/csv');
  Readable.from(csv(Number(given.mb) * 1e6)).pipe(response);
};

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return (server.address() as AddressInfo).port; // a TCP server has one
}

function* csv(bytes: number): Generator<string> {
  yield 'id,name,email,amount,created,note\n';
  for (let id = 1, sent = 0; sent < bytes;) {
    let block = '';
    for (const end = id + 2000; id < end; id++)
      block += `${id},Reader ${id % 9973},reader${id}@library.test,${(id % 100_000) / 100},2026-01-01T10:00:00Z,"note ${id % 77}, with ""quotes"""\n`;
    sent += block.length;
    yield block;
  }
}

if (given.serve !== undefined) await serve(given.serve);
else await withFolder(compare);
