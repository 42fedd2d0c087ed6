/** @file The page at `/`: a form to try each model with, made in the browser from `/openapi.json`. */
export const FORM_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>monolith</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
label{display:grid;grid-template-columns:12rem 1fr;gap:.5rem;margin:.3rem 0}
input{font:inherit;padding:.2rem .4rem;border:1px solid #999;border-radius:3px}
button{font:inherit;padding:.3rem 1rem;margin:.6rem 0}
pre{background:#f4f4f4;padding:.7rem;overflow:auto;border-radius:3px;white-space:pre-wrap}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}pre{background:#2a2a2a}}
</style></head><body>
<h1>Try a model</h1>
<p>Values are taken as they were in the data. Documents: <a href="/openapi.json">/openapi.json</a>,
<a href="/metrics">/metrics</a>.</p>
<label>token, where one is asked for <input id="token" type="password" autocomplete="off"></label>
<main id="models" aria-live="polite">loading…</main>
<script>
const token = document.getElementById('token');
const headers = () => ({ 'content-type': 'application/json',
  ...(token.value && { authorization: 'Bearer ' + token.value }) });
const element = (name, fields = {}, ...parts) => {
  const made = Object.assign(document.createElement(name), fields);
  made.append(...parts);
  return made;
};
const read = (kind, text) => kind === 'number' && text.trim() !== '' ? Number(text) : text;
function formOf(name, row) {
  const form = element('form');
  for (const [column, cell] of Object.entries(row.properties)) {
    const input = element('input', { name: column });
    input.dataset.kind = cell.type ?? '';
    form.append(element('label', {}, column, input));
  }
  const answer = element('pre', { hidden: true });
  form.append(element('button', {}, 'predict'));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const cells = [...form.querySelectorAll('input')].filter((input) => input.value !== '');
    const instance = Object.fromEntries(cells.map((input) => [input.name, read(input.dataset.kind, input.value)]));
    const body = JSON.stringify({ instances: [instance] });
    const path = '/v1/models/' + name + ':predict';
    const response = await fetch(path, { method: 'POST', headers: headers(), body });
    answer.hidden = false;
    const call = "curl -d '" + body.replaceAll("'", "'\\\\''") + "' " + location.origin + path;
    answer.textContent = call + '\\n\\n' + (await response.text());
  });
  return element('section', {}, element('h2', { textContent: name }), form, answer);
}
async function show() {
  const models = document.getElementById('models');
  const response = await fetch('/openapi.json', { headers: headers() });
  if (!response.ok) return models.replaceChildren('give the token above');
  const { components } = await response.json();
  const rows = Object.entries(components.schemas).filter(([name]) => name.endsWith('.row'));
  models.replaceChildren(...rows.map(([name, row]) => formOf(name.slice(0, -4), row)));
}
token.addEventListener('change', show);
show();
</script></body></html>
`;

/** Only what the page itself says is run, and only its own server is asked. */
export const FORM_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; " +
  "connect-src 'self'; frame-ancestors 'none'";
