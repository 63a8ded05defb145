import { serveApis } from './api.ts';

/** Serves the example APIs for whoever wants to try another reader of the manifests on them. */
const { url } = await serveApis();
process.stdout.write(`${url}\n`);
