/** Search, links to an operation, and the buttons that copy. Without it the page is complete, but for these. */
export const SCRIPT = `
const find = document.getElementById('find');
const count = document.getElementById('count');
const nothing = document.getElementById('nothing');
const start = document.querySelector('.start');
const sections = [...document.querySelectorAll('main section[id]')];
const links = new Map([...document.querySelectorAll('nav a')].map((link) => [link.hash.slice(1), link]));
const operations = [...document.querySelectorAll('.list > details')];
const texts = new Map(operations.map((operation) => [operation, (operation.closest('section').firstChild.textContent + ' ' + operation.textContent).toLowerCase()]));
const heads = new Map(operations.map((operation) => [operation, operation.firstElementChild.textContent.toLowerCase()]));

function search() {
  const words = find.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const has = (text) => words.every((word) => text.includes(word));
  // What the heads match is meant; only when there is none, the fields are looked at.
  const inHeads = operations.some((operation) => has(heads.get(operation)));
  let shown = 0;
  for (const operation of operations) {
    operation.hidden = !has((inHeads ? heads : texts).get(operation));
    if (!operation.hidden) shown++;
  }
  for (const section of sections) {
    section.hidden = [...section.lastElementChild.children].every((operation) => operation.hidden);
    links.get(section.id).classList.toggle('empty', section.hidden);
  }
  start.hidden = words.length > 0;
  nothing.hidden = shown > 0;
  count.textContent = words.length > 0 ? shown + ' of ' + operations.length : operations.length + ' operations';
}
find.addEventListener('input', search);
find.value = new URLSearchParams(location.search).get('find') ?? '';
search();

addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && document.activeElement === find) { find.value = ''; search(); }
  if (event.key !== '/' || event.target.tagName === 'INPUT' || event.metaKey || event.ctrlKey) return;
  event.preventDefault();
  find.focus();
});

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (target?.tagName !== 'DETAILS') return;
  target.open = true;
  target.scrollIntoView();
}
addEventListener('hashchange', openTarget);
openTarget();
for (const operation of operations)
  operation.firstElementChild.addEventListener('click', () => {
    if (!operation.open) history.replaceState(null, '', '#' + operation.id);
  });

document.addEventListener('click', async (event) => {
  if (event.target.tagName !== 'BUTTON') return;
  // Without a secure address there is no clipboard: the text is selected instead.
  const pre = event.target.previousElementSibling;
  getSelection().selectAllChildren(pre);
  await navigator.clipboard?.writeText(pre.textContent).then(() => { event.target.textContent = 'Copied'; }, () => {});
  setTimeout(() => { event.target.textContent = 'Copy'; }, 1500);
});
`;
