import { createHash, createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeChunked } from '../../../../src/service/stores/objects/s3/chunked.ts';
import type { Signer } from '../../../../src/service/stores/objects/s3/authenticate.ts';
import { errorCode } from './support.ts';

const SIGNER: Signer = {
  identity: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret', scope: undefined },
  scope: { time: '20261121T100000Z', region: 'us-east-1' },
  signature: 'f'.repeat(64),
  payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
};

const bytes = fc.uint8Array({ maxLength: 300 });
const cuts = fc.array(fc.nat(400), { maxLength: 20 });

describe('aws-chunked', () => {
  test('any body in any chunks, arriving in any pieces, is decoded', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(bytes, { maxLength: 6 }),
        cuts,
        fc.boolean(),
        async (chunks, sizes, isSigned) => {
          const wire = encode(
            chunks.filter((chunk) => chunk.length > 0),
            isSigned,
            { 'x-amz-checksum-crc32': 'abc=' },
          );
          const trailers: string[] = [];
          const decoded = await collect(
            decodeChunked(pieces(wire, sizes), {
              signer: isSigned ? SIGNER : undefined,
              onTrailer: (name, value) => void trailers.push(`${name}=${value}`),
            }),
          );
          expect(decoded.equals(Buffer.concat(chunks))).toBe(true);
          expect(trailers).toEqual(['x-amz-checksum-crc32=abc=']);
        },
      ),
    );
  });

  test('a body cut anywhere before its end is refused', async () => {
    const wire = encode([Buffer.from('hello'), Buffer.from('world')], false, {});
    const lastChunk = wire.lastIndexOf('0\r\n');
    for (let end = 0; end <= lastChunk; end++)
      expect(['IncompleteBody', 'InvalidRequest']).toContain(
        await errorCode(collect(decodeChunked(pieces(wire.subarray(0, end), [])))),
      );
  });

  test('a changed byte of a signed body is refused, wherever it is', async () => {
    const wire = encode([Buffer.from('hello'), Buffer.from('world')], true, {
      'x-amz-checksum-crc32': 'abc=',
    });
    const untouched = await collect(decodeChunked(pieces(wire, []), { signer: SIGNER }));
    expect(untouched.toString()).toBe('helloworld');
    for (const text of ['hello', 'world', 'abc=']) {
      const changed = Buffer.from(wire);
      changed[changed.indexOf(text)] = 0x58;
      expect(await errorCode(collect(decodeChunked(pieces(changed, []), { signer: SIGNER })))).toBe(
        'SignatureDoesNotMatch',
      );
    }
  });

  test('trailers without a signature are refused when the body is signed', async () => {
    const wire = encode([Buffer.from('hello')], true, { 'x-amz-checksum-crc32': 'abc=' });
    const unsigned = Buffer.from(
      wire.toString('latin1').replace(/x-amz-trailer-signature.*\r\n/, ''),
      'latin1',
    );
    expect(await errorCode(collect(decodeChunked(pieces(unsigned, []), { signer: SIGNER })))).toBe(
      'SignatureDoesNotMatch',
    );
  });

  test.each(['', 'xyz\r\n', '5\r\nhello world\r\n', '-1\r\n', '1'.repeat(9000)])(
    '%j is refused',
    async (text) => {
      expect(['IncompleteBody', 'InvalidRequest']).toContain(
        await errorCode(collect(decodeChunked(pieces(Buffer.from(text), [])))),
      );
    },
  );
});

/** The wire form, written from the documentation of Signature Version 4 and not from the code under test. */
function encode(
  chunks: readonly Uint8Array[],
  isSigned: boolean,
  trailers: Readonly<Record<string, string>>,
): Buffer {
  const key = hmac(hmac(hmac(hmac('AWS4secret', '20261121'), 'us-east-1'), 's3'), 'aws4_request');
  let previous = SIGNER.signature;
  const next = (kind: string, ...hashes: string[]) => {
    const text = [
      `AWS4-HMAC-SHA256-${kind}`,
      '20261121T100000Z',
      '20261121/us-east-1/s3/aws4_request',
      previous,
      ...hashes,
    ];
    return (previous = hmac(key, text.join('\n')).toString('hex'));
  };
  const parts: Uint8Array[] = [];
  for (const chunk of [...chunks, new Uint8Array()]) {
    const extension = isSigned ? `;chunk-signature=${next('PAYLOAD', sha(''), sha(chunk))}` : '';
    parts.push(Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`), chunk);
    if (chunk.length > 0) parts.push(Buffer.from('\r\n'));
  }
  const lines = Object.entries(trailers).map(([name, value]) => `${name}:${value}`);
  parts.push(Buffer.from(lines.map((line) => `${line}\r\n`).join('')));
  if (isSigned && lines.length > 0)
    parts.push(
      Buffer.from(
        `x-amz-trailer-signature:${next('TRAILER', sha(lines.map((line) => `${line}\n`).join('')))}\r\n`,
      ),
    );
  parts.push(Buffer.from('\r\n'));
  return Buffer.concat(parts);
}

async function* pieces(wire: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield wire.subarray(at, at + size);
    at += size;
  }
  yield wire.subarray(at);
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const found: Uint8Array[] = [];
  for await (const piece of stream) found.push(Buffer.from(piece));
  return Buffer.concat(found);
}

function sha(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
