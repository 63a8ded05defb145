import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens, and gives the address that this machine reaches it under. */
export async function listenOn(server: Server, options: { host: string; port: number }): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return addressOf(server, options.host);
}

/** `http://127.0.0.1:8080`, also for a server that listens everywhere. */
export function addressOf(server: Server, host: string): string {
  // It listens on a port, so it has one.
  const { port } = server.address() as AddressInfo;
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${port}`;
}

/** Takes no more requests and lets those that run end; after that time they are cut. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // A kept connection whose request ends only now would stay open for as long as its client likes.
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(timer);
}
