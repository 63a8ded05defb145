/** A page that shows the OpenAPI document of the same server; it loads nothing from anywhere else. */
export function docsPage(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Storage and configuration service</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Storage and configuration service</h1>
<p id="about"></p>
<p><label>Find <input id="find" type="search" autofocus></label> · <a href="/v2/storage/openapi.json">OpenAPI document</a></p>
<main id="operations">Loading…</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; background: #fff; }
h2 { margin: 2rem 0 .5rem; border-bottom: 1px solid #ccc; }
summary { cursor: pointer; padding: .2rem 0; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { background: #f4f4f4; padding: .75rem; overflow: auto; }
.method { display: inline-block; width: 4.5em; font-weight: bold; }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #181818; } pre { background: #262626; } a { color: #8ab4f8; } }
`;

// Text is only ever set as text, never as markup.
const SCRIPT = `
const make = (name, text, className) => Object.assign(document.createElement(name), text === undefined ? {} : { textContent: text }, className ? { className } : {});
const part = (title, value) => { const box = make('div'); box.append(make('h4', title), make('pre', JSON.stringify(value, null, 2))); return box; };
function operation(path, method, details) {
  const box = make('details');
  box.dataset.text = (method + ' ' + path + ' ' + details.summary).toLowerCase();
  const head = make('summary');
  head.append(make('code', method.toUpperCase(), 'method'), make('code', path), ' ' + (details.summary || ''));
  box.append(head);
  box.addEventListener('toggle', () => {
    if (!box.open || box.childElementCount > 1) return;
    if (details.parameters) box.append(part('Parameters', details.parameters));
    if (details.requestBody) box.append(part('Body', Object.values(details.requestBody.content)[0].schema));
    box.append(part('Answers', details.responses));
  });
  return box;
}
fetch('/v2/storage/openapi.json').then((response) => response.json()).then((api) => {
  document.getElementById('about').textContent = api.info.description;
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, details] of Object.entries(methods)) {
      const tag = (details.tags || ['Other'])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operation(path, method, details));
    }
  }
  const main = document.getElementById('operations');
  main.replaceChildren();
  for (const [tag, operations] of [...groups].sort()) { const section = make('section'); section.append(make('h2', tag), ...operations); main.append(section); }
  document.getElementById('find').addEventListener('input', (event) => {
    const text = event.target.value.toLowerCase();
    for (const box of main.querySelectorAll('details')) box.hidden = !box.dataset.text.includes(text);
  });
}).catch((error) => { document.getElementById('operations').textContent = 'The description could not be loaded: ' + error.message; });
`;
