// Tests pages in headless Chromium: they open from the disk without an error or a request, pointer,
// keys and controls work, contrast suffices, and frames are short.
//
//   node tests/page/browser.mjs INTERLAP FOLDER
//
// FOLDER has node_modules with playwright-core and axe-core; pages and screenshots go there.

import assert from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { addRunTests, makeRuns, runs } from './runs.mjs';
import { contrasts, histories, interleaving } from './samples.mjs';

const [program, folder] = process.argv.slice(2).map((name) => path.resolve(name));
const load = createRequire(path.join(folder, 'package.json'));
const { chromium } = load('playwright-core');
const axe = fs.readFileSync(load.resolve('axe-core/axe.min.js'), 'utf8');
const found = ['chromium', 'chromium-headless-shell', 'google-chrome'].map((name) =>
  spawnSync('sh', ['-c', `command -v ${name}`])
    .stdout.toString()
    .trim(),
);
const executablePath = process.env.CHROMIUM || found.find((name) => name !== '');
assert.ok(executablePath, 'no Chromium: install it, or name it in CHROMIUM');

function makePages() {
  for (const [name, text] of Object.entries(histories())) {
    const file = path.join(folder, `${name}.jsonl`);
    fs.writeFileSync(file, text);
    const { status, stderr } = spawnSync(program, ['check', file, '--html', page(name)]);
    assert.ok(status === 0 || status === 1, `${name}: ${stderr}`);
  }
  const text = fs.readFileSync(page('queue-bad'), 'utf8');
  const with_ = text.replace(
    '"interleaving":null',
    `"interleaving":${JSON.stringify(interleaving)}`,
  );
  assert.notEqual(text, with_);
  fs.writeFileSync(page('interleaved'), with_);
  makeFinding();
  makeRuns(program, folder, page);
}

/** The page that a run writes for what it finds. */
function makeFinding() {
  const findings = path.join(folder, 'findings');
  fs.rmSync(findings, { recursive: true, force: true });
  const asked = ['fuzz', 'treiber_aba', '--for', '60s', '--findings', '1', '--seed', '1'];
  const html = ['--html', page('run')];
  const run = spawnSync(program, [...asked, ...html, '--shrink', '5s', '--out', findings]);
  assert.equal(run.status, 1, String(run.stderr));
  const [name] = fs.readdirSync(findings).filter((entry) => entry.startsWith('treiber_aba'));
  const written = path.join(findings, name, 'page.html');
  const printed = `${run.stdout}${run.stderr}`;
  const finding = path.join(findings, name);
  assert.ok(printed.includes(finding), `the report names the finding: ${printed}`);
  fs.copyFileSync(written, page('finding'));
}

const page = (name) => path.join(folder, `${name}.html`);
const tests = [];
const test = (name, run) => tests.push({ name, run });
let browser;

const isDrawn = () => window.interlap?.timeline.frames.length > 0;

/** Opens a page; `troubles` collects what it complains of and whatever it asks for. */
async function open(name, options = {}, ready = isDrawn) {
  const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options });
  const tab = await context.newPage();
  tab.troubles = [];
  tab.on('console', (message) => tab.troubles.push(`${message.type()}: ${message.text()}`));
  tab.on('pageerror', (error) => tab.troubles.push(`error: ${error.stack}`));
  tab.on('request', (request) => {
    if (!/^(file|data):/.test(request.url())) tab.troubles.push(`asks for ${request.url()}`);
  });
  await tab.goto(`file://${page(name)}`);
  const hasScript = options.javaScriptEnabled !== false && !runs.includes(name);
  if (hasScript) await tab.waitForFunction(ready);
  return tab;
}

/** Has axe look at a page. */
async function checked(tab) {
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate(() =>
    window.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'],
    }),
  );
  const name = ({ id, nodes }) => `${id}: ${nodes.map((n) => n.html).slice(0, 3)}`;
  const faults = violations.map(name);
  assert.deepEqual(faults, []);
}

async function close(tab) {
  assert.deepEqual(tab.troubles, []);
  await tab.context().close();
}

const view = (tab) => tab.evaluate(() => ({ ...window.interlap.timeline.view }));
const selected = (tab) => tab.evaluate(() => window.interlap.selected);
const live = (tab) => tab.textContent('#live');

for (const name of [
  'queue-bad',
  'queue-good',
  'stack-bad',
  'notes',
  'sets-100',
  'sets-3000',
  'interleaved',
  'finding',
]) {
  test(`${name} opens, light and dark, and axe finds no fault`, async () => {
    for (const colorScheme of ['light', 'dark']) {
      const tab = await open(name, { colorScheme });
      await checked(tab);
      await tab.screenshot({
        path: path.join(folder, `${name}-${colorScheme}.png`),
        fullPage: true,
      });
      await close(tab);
    }
  });
}

test('the page of a finding says how to reproduce it and counts in steps', async () => {
  const tab = await open('finding');
  assert.match(await tab.locator('#facts').innerText(), /Reproduce with\s+interlap replay/);
  assert.match(await tab.textContent('#count'), /Times in steps of the schedule/);
  await tab.getByRole('button', { name: 'Jump to first error' }).click();
  // The answer of the drain, though a pushed value had not been popped.
  const expected = /^[A-Z] pop\(\) → empty by the drain.*no order explains its answer/;
  assert.match(await live(tab), expected);
  assert.match(await tab.locator('#selected').innerText(), /called at\s+\d+ steps of the schedule/);
  await close(tab);
});

test('the timeline zooms and moves by pointer, wheel and keys', async () => {
  const tab = await open('sets-3000');
  const canvas = tab.locator('#timeline');
  const first = await view(tab);
  await tab.getByRole('button', { name: 'Zoom in' }).click();
  const nearer = await view(tab);
  assert.ok(nearer.high - nearer.low < first.high - first.low);
  const box = await canvas.boundingBox();
  await tab.mouse.move(box.x + 600, box.y + 60);
  await tab.mouse.down();
  await tab.mouse.move(box.x + 400, box.y + 60, { steps: 4 });
  await tab.mouse.up();
  assert.ok((await view(tab)).low > nearer.low, 'dragged to the left, later comes in sight');
  await canvas.focus();
  await tab.keyboard.press('0');
  const all = await view(tab);
  const total = await tab.evaluate(() => window.interlap.scale.total);
  assert.ok(all.low <= 0 && all.high >= total);
  await tab.mouse.wheel(0, -600);
  await tab.waitForFunction((before) => {
    const { low, high } = window.interlap.timeline.view;
    return high - low < before;
  }, all.high - all.low);
  await tab.keyboard.press('-');
  await tab.keyboard.press('PageDown');
  for (let i = 0; i < 8; i++) await tab.keyboard.press('+');
  await tab.locator('#minimap').click({ position: { x: 100, y: 10 } });
  const after = await view(tab);
  const middle = (after.low + after.high) / 2;
  assert.ok(Math.abs(middle / total - 100 / after.width) < 0.02, 'the map leads there');
  await tab.getByLabel('Cut idle time short').uncheck();
  assert.ok((await tab.evaluate(() => window.interlap.scale.total)) >= total);
  await close(tab);
});

test('the whole page can be used with keys, and announces changes', async () => {
  const tab = await open('queue-bad');
  await tab.keyboard.press('Tab');
  assert.equal(await tab.evaluate(() => document.activeElement.className), 'skip');
  const order = [];
  for (let i = 0; i < 80; i++) {
    await tab.keyboard.press('Tab');
    order.push(
      await tab.evaluate(
        () =>
          document.activeElement
            .closest('section,header')
            ?.querySelector('[id]')
            ?.closest('section')
            ?.getAttribute('aria-labelledby') ?? 'header',
      ),
    );
  }
  const parts = order.filter((name, at) => name !== order[at - 1]);
  const wanted = ['timeline-title', 'orders-title', 'grid-title', 'search-title', 'table-title'];
  assert.deepEqual(parts.filter((name) => wanted.includes(name)).slice(0, 5), wanted);
  await tab.locator('#timeline').focus();
  await tab.keyboard.press('e');
  assert.equal(await selected(tab), 3);
  assert.match(await live(tab), /C dequeue\(\) → 2 by thread 0.*no order explains its answer/);
  await tab.keyboard.press('ArrowLeft');
  assert.equal(await selected(tab), 0);
  await tab.keyboard.press('ArrowDown');
  assert.equal(
    await tab.evaluate(() => window.interlap.operations.row[window.interlap.selected]),
    1,
  );
  await tab.keyboard.press('End');
  assert.equal(await selected(tab), 7);
  await tab.keyboard.press('Escape');
  assert.equal(await selected(tab), -1);
  await close(tab);
});

test('what was said besides the calls has a row, and is shown by pointer and key', async () => {
  const tab = await open('notes');
  const { operations, timeline } = await tab.evaluate(() => {
    const { operations, timeline } = window.interlap;
    const x = (time) => timeline.picture.x(time);
    return {
      operations: { names: operations.names, row: Array.from(operations.row) },
      timeline: operations.annotations.map(({ start }) => x(start)),
    };
  });
  assert.deepEqual([operations.names[0], ...operations.row], ['notes', 1, 2, 1]);
  const box = await tab.locator('#timeline').boundingBox();
  await tab.mouse.move(box.x + timeline[1] + 6, box.y + 40);
  const tip = () => tab.locator('#tip').innerText();
  assert.match(await tip(), /^n2 is cut off, at \d+ to \d+$/);
  await tab.mouse.move(box.x + timeline[2] + 6, box.y + 40);
  assert.match(await tip(), /^n3 leads, at \d+$/);
  await tab.locator('#timeline').focus();
  for (const key of ['Home', 'ArrowUp', 'ArrowDown']) await tab.keyboard.press(key);
  assert.match(await live(tab), /enqueue\(2\).*note: asks n3/);
  assert.match(await tab.locator('#facts').innerText(), /n2 is cut off/);
  await close(tab);
});

test('a pointer shows arguments, results and stamps, and selects', async () => {
  const tab = await open('queue-bad');
  const at = await tab.evaluate(() => {
    const { timeline, operations } = window.interlap;
    const { picture } = timeline;
    return { x: picture.x(operations.start[3]) + 8, y: picture.y(operations.row[3]) + 8 };
  });
  const box = await tab.locator('#timeline').boundingBox();
  await tab.mouse.move(box.x + at.x, box.y + at.y);
  const tip = await tab.locator('#tip').innerText();
  for (const part of [
    /C\s+dequeue\(\) → 2/,
    /arguments\s+none/,
    /result\s+2\n/,
    /70 units of the file's stamps/,
    /returned at\s+90/,
  ]) {
    assert.match(tip, part);
  }
  await tab.mouse.down();
  await tab.mouse.up();
  assert.equal(await selected(tab), 3);
  assert.ok(await tab.locator('#selected').isVisible());
  await close(tab);
});

test('any operation shows the longest order through it', async () => {
  const tab = await open('stack-bad');
  const near = await tab.evaluate(() => [...window.interlap.near]);
  const orders = await tab.evaluate(() =>
    window.interlap.orders.map(({ done, steps }) => ({
      length: steps.length,
      ops: [...done, ...steps.map(({ op }) => op)],
    })),
  );
  assert.ok(orders.length > 1);
  let through = 0;
  for (const op of near) {
    await tab.selectOption('#order-op', String(op));
    const best = orders.find(({ ops }) => ops.includes(op));
    assert.equal(await tab.locator('#orders-none').isVisible(), !best);
    if (!best) continue;
    through++;
    assert.equal(await tab.locator('#orders-table tbody tr').count(), best.length);
    assert.equal(
      best.length,
      Math.max(...orders.filter(({ ops }) => ops.includes(op)).map((o) => o.length)),
    );
  }
  assert.ok(through > 2);
  assert.ok(
    (await tab.locator('#orders-table ins, #orders-table del').count()) > 0,
    'changes are marked',
  );
  await tab.getByRole('button', { name: 'shorter' }).click();
  await close(tab);
});

test('an operation far from the failure has the reason why no order is shown', async () => {
  const tab = await open('sets-3000');
  await tab.evaluate(() => window.interlap.select(0));
  assert.match(await tab.textContent('#orders-none'), /is not in these orders/);
  await tab.evaluate(() => window.interlap.select(window.interlap.operations.count - 1));
  assert.match(await tab.textContent('#orders-none'), /was called after the failure/);
  await close(tab);
});

test('the grid is read from the end, narrowed by pins, and reveals what is stalled', async () => {
  const tab = await open('stack-bad');
  const rows = () => tab.locator('#grid-table tbody tr').count();
  const before = await rows();
  await tab.locator('#grid-controls').getByRole('button', { name: '−1 row' }).click();
  assert.equal(await rows(), before - 1);
  await tab.locator('#grid-controls').getByRole('button', { name: 'All rows' }).click();
  const all = await tab.evaluate(() => window.interlap.grid.path.length);
  assert.equal(await rows(), all + 1);
  const ways = () =>
    tab.evaluate(() => {
      const { ways } = window.interlap.grid;
      return ways.ends.reduce((sum, end) => sum + ways.reached.get(end), 0);
    });
  const many = await ways();
  assert.ok(many > 1);
  const other = tab.locator('#grid-table .candidate:not(.chosen) button').first();
  const text = (await other.innerText()).slice(2);
  await other.click();
  assert.ok(
    (await tab.locator('#grid-table .candidate.chosen').allInnerTexts()).some((t) =>
      t.includes(text),
    ),
  );
  assert.equal(await ways(), many);
  const cell = tab.locator('#grid-table .candidate.chosen').filter({ hasText: text }).first();
  await cell.getByRole('button', { pressed: false }).click();
  assert.ok((await ways()) < many, 'an assumption narrows the ways');
  assert.match(await tab.textContent('#grid-summary'), /under 1 assumption/);
  const stalled = () => tab.locator('#grid-table .stalled').count();
  const few = await stalled();
  await tab.getByLabel('Reveal stalled operations').check();
  assert.ok((await stalled()) > few);
  await tab.screenshot({ path: path.join(folder, 'grid.png'), fullPage: true });
  await tab.getByRole('button', { name: 'Drop all assumptions' }).click();
  assert.equal(await ways(), many);
  await close(tab);
});

test('the search is played step by step', async () => {
  const tab = await open('stack-bad');
  const move = () => tab.textContent('#search-move');
  assert.match(await move(), /^Move 1 of \d+\. Begins/);
  const controls = tab.locator('#search-controls');
  await controls.getByRole('button', { name: 'Next ▶' }).click();
  assert.match(await move(), /^Move 2 of \d+\. (Takes|Rejects)/);
  assert.ok((await tab.locator('#search-table tr.now').count()) === 1);
  await controls.getByRole('button', { name: 'Next dead end' }).click();
  assert.match(await move(), /Dead end .* Goes back/);
  assert.ok(
    (await tab.locator('#search-table tr.refused').count()) > 0,
    'what was rejected, and why',
  );
  await tab.screenshot({ path: path.join(folder, 'player.png'), fullPage: true });
  await tab.locator('#search-stage').focus();
  await tab.keyboard.press('ArrowRight');
  assert.match(await move(), /Goes back to before/);
  await tab.keyboard.press('Home');
  await tab.selectOption('#search-controls select', '120');
  await tab.keyboard.press(' ');
  await tab.waitForFunction(() => window.interlap.player.at >= 3);
  await tab.keyboard.press(' ');
  await tab.keyboard.press('End');
  assert.match(await move(), /Every way was tried: no order explains/);
  await close(tab);
});

test('colours follow the system and the switch, with enough contrast', async () => {
  const tab = await open('queue-bad', { colorScheme: 'dark' });
  const ground = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await tab.selectOption('#theme', 'light');
  const light = await ground();
  assert.notEqual(light, dark);
  const colours = () => tab.evaluate(() => window.interlap.timeline.picture.colors);
  contrasts(await colours(), 'light');
  await tab.selectOption('#theme', 'auto');
  assert.equal(await ground(), dark);
  contrasts(await colours(), 'dark');
  await tab.emulateMedia({ colorScheme: 'light' });
  assert.equal(await ground(), light);
  await close(tab);
});

test('the table has every operation, a part at a time', async () => {
  const tab = await open('sets-3000');
  await tab.selectOption('#table-controls select', 'all');
  assert.equal(await tab.locator('#table-rows tbody tr').count(), 100);
  await tab.locator('#table-rows').getByRole('button', { name: 'Last' }).click();
  assert.match(
    await tab.locator('#table-rows .pager').innerText(),
    /2\u202f901 to 3\u202f000 of 3\u202f000/,
  );
  await tab.locator('#table-rows tbody button').first().click();
  assert.equal(await selected(tab), 2900);
  await close(tab);
});

test('the interleaving is linked with the timeline, and absent if it is not known', async () => {
  const tab = await open('interleaved');
  assert.ok(await tab.locator('#interleaving').isVisible());
  assert.match(await tab.locator('#interleaving tr.switch').first().innerText(), /⇄/);
  await tab.getByRole('button', { name: 'Show step 62 on the timeline' }).click();
  assert.equal(await tab.evaluate(() => window.interlap.moment), 52);
  assert.equal(await selected(tab), 1);
  assert.match(await tab.locator('#interleaving').innerText(), /queue\.h:41\s/);
  assert.match(await tab.locator('#interleaving').innerText(), /queue\.h:52 from :88/);
  assert.doesNotMatch(await tab.locator('#interleaving').innerText(), /second block of memory/);
  await close(tab);
  const other = await open('queue-bad');
  assert.ok(!(await other.locator('#interleaving').isVisible()));
  await close(other);
});

test('a narrow screen has no sideways scroll, nor has a page with many threads', async () => {
  for (const [name, width] of [
    ['stack-bad', 390],
    ['many-threads', 390],
    ['many-threads', 1300],
  ]) {
    const tab = await open(name, { viewport: { width, height: 800 } });
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${name}: ${wide} > ${width}`);
    const { height } = await tab.locator('header').boundingBox();
    assert.ok(height < 130, `${name}: links take ${height} of the screen`);
    await tab.screenshot({ path: path.join(folder, `${name}-${width}.png`), fullPage: true });
    await close(tab);
  }
});

test('the timeline has a scroll bar only where its rows need one', async () => {
  for (const [name, scrolls] of [
    ['queue-bad', false],
    ['many-threads', true],
  ]) {
    const tab = await open(name);
    const [all, seen] = await tab.evaluate(() => {
      const frame = document.getElementById('timeline-frame');
      return [frame.scrollHeight, frame.clientHeight];
    });
    assert.equal(all > seen, scrolls, `${name}: ${all} in ${seen}`);
    await close(tab);
  }
});

test('a page without its script has the verdict and how to reproduce it', async () => {
  const tab = await open('finding', { javaScriptEnabled: false });
  assert.match(await tab.locator('#facts').innerText(), /Reproduce with\s+interlap replay/);
  await close(tab);
});

test('a browser that is too old shows a notice', async () => {
  const text = fs.readFileSync(page('queue-bad'), 'utf8');
  for (const [name, from, to] of [
    ['too-old', "'use strict';", "'use strict'; let let;"],
    ['half-old', 'page.start();', 'page.start(); none.such();'],
  ]) {
    assert.ok(text.includes(from));
    fs.writeFileSync(page(name), text.replace(from, to));
    const tab = await open(name, {}, () => !document.getElementById('broken').hidden);
    assert.match(await tab.textContent('#broken'), /failed in this browser .*needs Firefox 104/);
    assert.equal(tab.troubles.splice(0).length, 1);
    await close(tab);
  }
});

test('frames stay short from 100 to 100,000 operations', async () => {
  for (const name of ['sets-100', 'sets-3000', 'sets-30000', 'sets-100000', 'many-threads']) {
    const began = Date.now();
    const tab = await open(name);
    const opened = Date.now() - began;
    const frames = await tab.evaluate(async () => {
      const { timeline, scale } = window.interlap;
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      timeline.frames.length = 0;
      for (let i = 0; i < 60; i++) {
        timeline.show(0, scale.total * 0.9 ** i);
        await frame();
      }
      for (let i = 0; i < 60; i++) {
        timeline.show((scale.total * i) / 80, scale.total * (i / 80 + 0.2));
        await frame();
      }
      return [...timeline.frames].sort((a, b) => a - b);
    });
    const at = (share) => frames[Math.floor((frames.length - 1) * share)].toFixed(1);
    const kib = Math.round(fs.statSync(page(name)).size / 1024);
    console.log(
      `    ${name}: ${kib} KiB, open in ${opened} ms, to draw a frame ` +
        `${at(0.5)} ms in the middle, ${at(0.95)} ms at 95 %, ${at(1)} ms at most`,
    );
    await tab.screenshot({ path: path.join(folder, `${name}-view.png`) });
    await close(tab);
  }
});

addRunTests({ test, open, close, checked, folder });
makePages();
browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
console.log(
  `${execFileSync(executablePath, ['--version']).toString().trim()}, ` +
    `pages and screenshots in ${folder}`,
);
let failed = 0;
for (const { name, run } of tests) {
  try {
    await run();
    console.log(`ok    ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}
await browser.close();
console.log(failed === 0 ? `all ${tests.length} passed` : `${failed} of ${tests.length} failed`);
process.exit(failed === 0 ? 0 : 1);
