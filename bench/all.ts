// All measurements, or those that are named:
//
//   node bench/all.ts [throughput] [latency] [memory] [kill] [startup] [transfer] [transport]
const ALL = ['startup', 'throughput', 'latency', 'kill', 'memory', 'transfer', 'transport'];
const chosen = process.argv.slice(2);
const unknown = chosen.find((name) => !ALL.includes(name));
if (unknown !== undefined)
  throw new Error(`There is no measurement “${unknown}”; there are ${ALL.join(', ')}`);

process.argv.length = 2; // what is imported reads its own options
for (const name of chosen.length > 0 ? chosen : ALL) await import(`./${name}.ts`);
