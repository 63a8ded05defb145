import type { ServiceOptions } from '../../../../src/service/start/service-options.ts';
import { createService } from '../../../../src/service/start/service.ts';
import { request, type Running } from '../../harness.ts';

/**
 * A service over a folder alone, also where those of other tests have their metadata in a database.
 *
 * @param known a token that it was given earlier; that of the first start unless told
 */
export async function serveFolder(
  dir: string,
  known?: string,
  options: Pick<ServiceOptions, 'parts'> = {},
): Promise<Running> {
  const service = createService({ dir, ...options });
  const addresses = await service.start();
  const token = known ?? addresses.masterToken ?? '';
  return {
    service,
    addresses,
    dir,
    token,
    call: async (method, path, body, headers) =>
      await request(addresses.url, token, method, path, body, headers),
    stop: async () => await service.stop(),
  };
}
