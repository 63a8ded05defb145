import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Admission } from './limits/admission.ts';

/**
 * Limits the connections of a server, and those from one address. When an address has its share, a new connection
 * replaces the one that has been idle longest; when none is idle, the new one is closed.
 */
export function boundConnections(
  server: Server,
  {
    maxConnections,
    maxConnectionsOfAddress,
    clients,
  }: Pick<Admission, 'clients' | 'maxConnections' | 'maxConnectionsOfAddress'>,
): void {
  const open = new Map<string, Set<Socket>>();
  const answers = new Map<Socket, number>();
  server.maxConnections = maxConnections;
  server.on('connection', (socket: Socket) => {
    // A proxy has the connections of all clients, and limits them itself.
    if (clients.isTrusted(socket.remoteAddress)) return;
    const address = clients.addressOf({ headers: {}, socket });
    const own = open.get(address) ?? new Set<Socket>();
    if (own.size >= maxConnectionsOfAddress) {
      const idle = own.values().find((other) => !answers.has(other));
      (idle ?? socket).destroy();
      if (idle === undefined) return;
      own.delete(idle);
    }
    open.set(address, own.add(socket));
    socket.once('close', () => {
      own.delete(socket);
      if (own.size === 0 && open.get(address) === own) open.delete(address);
    });
  });
  server.prependListener('request', ({ socket }, response) => {
    answers.set(socket, (answers.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (answers.get(socket) ?? 1) - 1;
      if (left === 0) answers.delete(socket);
      else answers.set(socket, left);
    });
  });
}
