import type Https from 'node:https';
import type Tls from 'node:tls';

/**
 * The runtime's HTTP clients. Got in this way and not by `import 'node:http'`, which also loads everything that this
 * module would export besides (the whole of fetch and WebSocket): 25 ms of every start. TLS is 10 ms more, so it is
 * loaded for the first address that needs it.
 */
export const http = process.getBuiltinModule('node:http');
export const https = (): typeof Https => process.getBuiltinModule('node:https');
export const tls = (): typeof Tls => process.getBuiltinModule('node:tls');
