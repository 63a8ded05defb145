/**
 * The runtime's HTTP clients. Got in this way and not by `import 'node:http'`, which also loads everything that this
 * module would export besides (the whole of fetch and WebSocket): 25 ms of every start.
 */
export const http = process.getBuiltinModule('node:http');
export const https = process.getBuiltinModule('node:https');
