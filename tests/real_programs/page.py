"""Looks at a report's page, light and dark: page.py REPORT AXE FOLDER INSIDE LOGS chromium|firefox COMMAND...

The report stands in frames as wide as a telephone and a desktop, in a page in FOLDER, whose path is INSIDE for the browser that
COMMAND runs. Prints `passed NAME` and `failed NAME: why`. The screenshots are in the folder LOGS.
"""

import base64
import html
import pathlib
import sys
import time

from browsers import BROWSERS

report, axe = (pathlib.Path(name).read_text() for name in sys.argv[1:3])
folder, inside, logs, kind = sys.argv[3:7]
logs = pathlib.Path(logs)

CHECKS = r"""
const out = document.getElementById('out');
let done = false;
const scheme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
const say = (name, complaint) => {
  out.textContent += complaint ? `failed ${name}: ${complaint}\n` : `passed ${name}\n`;
};
const visible = (document, selector) => [...document.querySelectorAll(selector)].filter((one) => one.offsetParent !== null);

async function look(frame) {
  const { contentWindow: window, contentDocument: document } = frame;
  const where = `at ${frame.width}, ${scheme}`;
  const script = document.createElement('script');
  script.textContent = AXE;
  document.head.append(script);
  const check = async (state) => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    const told = violations.map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 120).replace(/\s+/g, ' ')}`);
    say(`axe ${state} ${where}`, told.join('; '));
    const root = document.documentElement;
    const wide = [...document.body.querySelectorAll('*')].filter((one) =>
      one.getBoundingClientRect().right > root.clientWidth + 1 && !one.closest('.wide, .listing'));
    say(`width ${state} ${where}`, root.scrollWidth > root.clientWidth ? `${root.scrollWidth}: ${wide.map((one) => one.outerHTML.slice(0, 80).replace(/\s+/g, ' ')).slice(0, 3)}` : '');
    const cut = [...document.querySelectorAll('.ladder')].filter((one) => one.parentElement.scrollWidth > one.parentElement.clientWidth);
    say(`ladder ${state} ${where}`, cut.length ? `it is cut: ${cut[0].parentElement.scrollWidth} of ${cut[0].parentElement.clientWidth}` : '');
  };
  await check('at first');

  const section = document.querySelector('section.kernels');
  const [size, filter] = [section.querySelector('select'), section.querySelector('input')];
  const shown = () => [...section.querySelectorAll('tr.row')].filter((row) => !row.hidden);
  const sizes = () => new Set(shown().map((row) => row.dataset.size));
  const first = shown().length;
  say(`largest size ${where}`, sizes().size === 1 && sizes().has('512×512×512') && first > 10 ? '' : [...sizes()].join());
  size.value = '';
  size.dispatchEvent(new window.Event('change'));
  say(`all sizes ${where}`, sizes().size === 3 && shown().length > 2 * first ? '' : [...sizes()].join());
  filter.value = 'naive';
  filter.dispatchEvent(new window.Event('input'));
  say(`filter ${where}`, shown().length === 3 ? '' : `${shown().length} rows`);
  filter.value = '';
  size.value = '512×512×512';
  size.dispatchEvent(new window.Event('change'));

  const header = section.querySelector('th[data-sort]');
  const rates = () => shown().map((row) => Number(row.cells[1].dataset.value));
  const falls = (values) => values.every((value, n) => n === 0 || values[n - 1] >= value);
  header.querySelector('button').click();
  say(`sorted ${where}`, falls(rates()) && header.getAttribute('aria-sort') === 'descending' ? '' : rates().join());
  header.querySelector('button').click();
  say(`sorted the other way ${where}`, falls(rates().reverse()) && header.getAttribute('aria-sort') === 'ascending' ? '' : rates().join());

  const row = shown().at(-1);
  const button = row.querySelector('button');
  button.focus();
  say(`lines of the row ${where}`, section.querySelectorAll(`.series.on[data-kernel="${row.dataset.kernel}"]`).length === 2 ? '' : 'not emphasized');
  button.click();
  const opened = visible(document, '.listing');
  say(`main loop ${where}`, opened.length === 1 && /s_cbranch/.test(opened[0].textContent) ? '' : `${opened.length} listings`);
  await check('opened');
}

addEventListener('load', async () => {
  for (const frame of document.querySelectorAll('iframe')) await look(frame);
  done = true;
});
const end = (why) => {
  say('script', why);
  done = true;
};
addEventListener('error', (error) => end(error.message));
addEventListener('unhandledrejection', (error) => end(String(error.reason)));
"""


def script(text):
    return "<script>" + text.replace("</script", "<\\/script") + "</script>"


frames = "".join(
    f'<iframe title="{width}" width="{width}" height="900" srcdoc="{html.escape(report)}"></iframe>' for width in (390, 1280)
)
axe = axe.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
page = f'<!DOCTYPE html><meta charset="utf-8"><pre id="out"></pre>{script(f"const AXE = `{axe}`;")}{script(CHECKS)}{frames}'
(pathlib.Path(folder) / "page.html").write_text(page)
with open(logs / f"{kind}.log", "w") as log:
    browser = BROWSERS[kind](sys.argv[7:], log)
    try:
        for scheme in ("dark", "light"):
            browser.look(f"file://{inside}/page.html", 1400, 1000, scheme)
            while not browser.run("return done;"):
                time.sleep(0.1)
            print(browser.run("return out.textContent;"), end="", flush=True)
            (logs / f"{kind}-{scheme}.png").write_bytes(base64.b64decode(browser.screenshot()))
    finally:
        browser.close()
