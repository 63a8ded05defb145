// One transfer by the built client, to be measured: `node transfer-work.mjs upload|download client|sdk URL TOKEN SOURCE TARGET`.
// An upload leaves the id of its file beside the source, for the downloads. No TypeScript: what makes it readable for Node
// takes memory of its own.
import { createReadStream, createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

const { fileBody, StorageClient } = await import(
  new URL('../../dist/storage/client/index.js', import.meta.url).href
);
const [, , work, way, url, token, source, target] = process.argv;
const storage = new StorageClient({ url, token });
const note = `${source}.id`;

if (way === 'client') await byClient();
else await bySdk();
storage.close();

async function byClient() {
  if (work === 'download') {
    await storage.files.downloadTo(Number(readFileSync(note)), target);
    return;
  }
  const file = await storage.files.upload(await fileBody(source), { name: 'large.bin' });
  writeFileSync(note, String(file.id));
}

/** Does the work with the SDK directly, as an expert would write it by hand. */
async function bySdk() {
  if (work === 'download') {
    const file = await storage.files.detail(Number(readFileSync(note)), { credentials: true });
    const { bucket: Bucket, key: Key } = file.s3Path;
    const { Body } = await s3Of(file, file.credentials).send(new GetObjectCommand({ Bucket, Key }));
    await pipeline(Body, createWriteStream(target));
    return;
  }
  const file = await storage.files.prepare({ name: 'large.bin', federationToken: true, isEncrypted: true });
  const { bucket: Bucket, key: Key, credentials } = file.uploadParams;
  const upload = new Upload({
    client: s3Of(file, credentials),
    params: { Bucket, Key, Body: createReadStream(source), ServerSideEncryption: 'AES256' },
  });
  await upload.done();
}

function s3Of({ url: address, region }, credentials) {
  return new S3Client({
    endpoint: new URL(address).origin,
    region,
    forcePathStyle: true,
    credentials: {
      accessKeyId: credentials.AccessKeyId,
      secretAccessKey: credentials.SecretAccessKey,
      sessionToken: credentials.SessionToken,
    },
  });
}
