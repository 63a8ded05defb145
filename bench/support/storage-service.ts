// An embedded storage service over a folder, until its input ends: `node storage-service.ts DIR` prints its address and
// token as one line of JSON.
import { createService } from '../../src/service/start/service.ts';

const service = createService({ dir: process.argv[2] ?? '' });
const { url, masterToken } = await service.start();
console.log(JSON.stringify({ url, token: masterToken }));
process.stdin.resume().once('end', () => void service.stop());
