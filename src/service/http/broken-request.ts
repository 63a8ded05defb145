import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import type { Env } from '../../lib/env.ts';
import { encodeReply } from '../domain/encode-reply.ts';
import { ApiError } from '../domain/api-error.ts';

/** Answers requests that the parser of HTTP refuses, in the shape of every error, and ends the connection. */
export function answerBroken(
  env: Pick<Env, 'randomBytes'>,
): (error: ConnectionError, socket: Socket) => void {
  return (error, socket) => {
    if (socket.writable && error.code !== 'ECONNRESET') {
      const refusal = refusalOf(error.code);
      const exceptionId = `exception-${Buffer.from(env.randomBytes(10)).toString('hex')}`;
      const body = encodeReply(refusal.toBody(exceptionId));
      socket.write(
        `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    }
    socket.destroy(error);
  };
}

function refusalOf(code: string): ApiError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ApiError(
      408,
      'malformedRequest',
      'The request did not come to its end in time, or came too slowly.',
    );
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ApiError(
      431,
      'malformedRequest',
      'The address and the headers of the request are longer than allowed. Send long fields in a body.',
    );
  return new ApiError(400, 'malformedRequest', 'The request is no HTTP.');
}
