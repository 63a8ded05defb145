// All measurements, or those that are named:
//
//   node bench/all.ts [throughput] [latency] [memory] [kill] [startup] [transfer] [transport] [--peers]
const ALL = ['startup', 'throughput', 'latency', 'kill', 'memory', 'transfer', 'transport'];
/** Those that install other programs are taken only when they are named. */
const OTHERS = ['peers'];
const chosen = process.argv.slice(2).map((name) => name.replace(/^--/, ''));
const unknown = chosen.find((name) => ![...ALL, ...OTHERS].includes(name));
if (unknown !== undefined)
  throw new Error(`There is no measurement “${unknown}”; there are ${[...ALL, ...OTHERS].join(', ')}`);

process.argv.length = 2; // what is imported reads its own options
for (const name of chosen.length > 0 ? chosen : ALL) await import(`./${name}.ts`);
