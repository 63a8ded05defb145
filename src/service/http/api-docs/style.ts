/** Light and dark, wide and narrow; nothing is loaded. */
export const STYLE = `
:root { --text: #1f2328; --soft: #59636e; --line: #d8dee4; --back: #fff; --shade: #f6f8fa; --accent: #0b62c4;
  --get: #0a6640; --post: #0b5cad; --put: #8a5300; --delete: #b3261e; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e7eb; --soft: #9aa4af; --line: #32383f; --back: #14171b; --shade: #1d2127; --accent: #7ab4ff;
  --get: #5fd0a0; --post: #7ab4ff; --put: #f0b45c; --delete: #ff8b82; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1.5rem 4rem; color: var(--text); background: var(--back);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: break-word; }
a { color: var(--accent); }
code, pre { font: .875em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
p { margin: .5rem 0; max-width: 46rem; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.25; }
h2 { margin: 2.25rem 0 .6rem; font-size: 1.2rem; }
h3 { margin: 1.1rem 0 .3rem; font-size: .8rem; text-transform: uppercase; letter-spacing: .05em; color: var(--soft); }
.links a { margin-right: 1.25rem; }
.find { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 1rem; padding: .75rem 0; background: var(--back); border-bottom: 1px solid var(--line); }
.find input { flex: 1; min-width: 0; padding: .5rem .8rem; font: inherit; color: inherit; background: var(--shade); border: 1px solid var(--line); border-radius: 8px; }
.find input:focus { outline: 2px solid var(--accent); outline-offset: -1px; }
.find output { color: var(--soft); font-size: .875rem; white-space: nowrap; }
.columns { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 2.5rem; }
nav { position: sticky; top: 4.2rem; align-self: start; max-height: calc(100vh - 4.5rem); overflow: auto; padding: 1.5rem 0; font-size: .9rem; }
nav a { display: flex; justify-content: space-between; padding: .22rem .6rem; border-radius: 6px; color: inherit; text-decoration: none; }
nav a:hover { background: var(--shade); }
nav a.empty { opacity: .35; }
nav small { color: var(--soft); }
main > section:first-child h2 { margin-top: 1.5rem; }
.list { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.list > details { margin-top: -1px; border-top: 1px solid var(--line); }
.list > details > summary { display: grid; grid-template-columns: 4.6rem minmax(0, 1fr); gap: 0 .6rem; align-items: baseline; padding: .5rem .8rem; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
.list > details > summary:hover, .list > details[open] > summary { background: var(--shade); }
summary > span { grid-column: 2; color: var(--soft); font-size: .9rem; }
summary i { font-style: normal; color: var(--accent); }
summary b { font-size: .75rem; letter-spacing: .03em; }
.GET { color: var(--get); } .POST { color: var(--post); } .PUT { color: var(--put); } .DELETE { color: var(--delete); }
.detail { padding: .3rem 1rem 1.1rem; border-top: 1px solid var(--line); }
.notes { color: var(--soft); font-size: .9rem; }
.code { position: relative; margin: .6rem 0; }
pre { margin: 0; padding: .7rem .9rem; overflow: auto; max-height: 26rem; background: var(--shade); border: 1px solid var(--line); border-radius: 8px; }
.code button { position: absolute; top: .4rem; right: .4rem; padding: .1rem .55rem; font: inherit; font-size: .75rem; color: var(--soft); background: var(--back); border: 1px solid var(--line); border-radius: 6px; cursor: pointer; opacity: 0; }
.code:hover button, .code button:focus { opacity: 1; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
th, td { padding: .35rem .6rem .35rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); font-weight: normal; }
tr:first-child > * { border-top: 0; }
th { width: 15rem; }
td span { color: var(--soft); }
td p { margin: 0; }
em { font-size: .75rem; font-style: normal; color: var(--delete); }
.more > summary { color: var(--accent); cursor: pointer; font-size: .9rem; }
[hidden] { display: none !important; }
@media (max-width: 50rem) {
  body { padding: 1rem 1rem 3rem; }
  .columns { display: block; }
  nav { position: static; display: flex; gap: .4rem; max-height: none; padding: .75rem 0 0; overflow-x: auto; scrollbar-width: none; }
  nav a.empty { display: none; }
  nav a { flex: none; gap: .4rem; border: 1px solid var(--line); border-radius: 999px; }
  .list > details > summary { grid-template-columns: minmax(0, 1fr); }
  summary > span { grid-column: 1; }
  .detail { padding: .3rem .8rem 1rem; }
  table, tbody, tr, th, td { display: block; width: auto; }
  td { padding-top: 0; border-top: 0; }
  .code button { opacity: 1; }
}
@media print { .find, nav, .code button { display: none; } .columns { display: block; } }
`;
