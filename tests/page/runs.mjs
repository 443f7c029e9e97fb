// Tests the pages of runs in a browser: they open, work with keys and without a script, lead to the
// pages of findings, and fit narrow screens.

import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

/** Pages of runs; that of a run with findings is `makeFinding`'s. */
export function makeRuns(program, folder, page) {
  const gaps = ['--rounds', '60', '--weight', 'size=0', '--keys', '40', '--seed', '1'];
  const out = ['--out', path.join(folder, 'gaps')];
  const html = ['--html', page('run-gaps')];
  const run = spawnSync(program, ['fuzz', 'locked_range_set', ...gaps, ...out, ...html]);
  assert.equal(run.status, 0, String(run.stderr));
  const merged = ['--out', path.join(folder, 'merged'), '--html', page('run-merged')];
  const merge = spawnSync(program, ['merge', ...out.slice(1), ...out.slice(1), ...merged]);
  assert.equal(merge.status, 0, String(merge.stderr));
}

export const runs = ['run', 'run-gaps', 'run-merged'];

export function addRunTests({ test, open, close, checked, folder }) {
  for (const name of runs) {
    test(`${name} opens, light and dark, and axe finds no fault`, async () => {
      for (const colorScheme of ['light', 'dark']) {
        const tab = await open(name, { colorScheme });
        await checked(tab);
        const file = path.join(folder, `${name}-${colorScheme}.png`);
        await tab.screenshot({ path: file, fullPage: true });
        await close(tab);
      }
    });
  }

  test('the page of a run leads to the pages of its findings', async () => {
    const tab = await open('run');
    assert.match(await tab.textContent('#heading'), /finding/);
    await tab.locator('section[aria-labelledby="findings"] tbody a').first().click();
    await tab.waitForFunction(() => window.interlap?.timeline.frames.length > 0);
    assert.match(await tab.title(), /^treiber_aba-/);
    await close(tab);
  });

  test('the page of a run names what never happened, and what to try', async () => {
    const tab = await open('run-gaps');
    const never = await tab.locator('section[aria-labelledby="never"] tbody').innerText();
    assert.match(never, /size was never called \(--weight leaves it out\)\s+--weight size=8/);
    const cell = tab.locator('td.never').first();
    assert.equal(await cell.innerText(), '✕ never');
    const charts = tab.getByRole('img');
    assert.ok((await charts.count()) >= 3);
    const size = await charts.first().boundingBox();
    assert.ok(size.width > 300 && size.height > 100, JSON.stringify(size));
    await close(tab);
  });

  test('the page of a run can be used with keys', async () => {
    const tab = await open('run-gaps');
    await tab.keyboard.press('Tab');
    assert.equal(await tab.evaluate(() => document.activeElement.className), 'skip');
    await tab.keyboard.press('Enter');
    assert.equal(await tab.evaluate(() => document.activeElement.id), 'heading');
    const seen = new Set();
    for (let i = 0; i < 60; i++) {
      await tab.keyboard.press('Tab');
      const name = await tab.evaluate(() => {
        const { activeElement: element } = document;
        return `${element.tagName} ${element.getAttribute('aria-label') ?? ''}`.trim();
      });
      seen.add(name);
    }
    assert.ok(seen.has('DIV How often calls of two operations overlapped'), [...seen].join('; '));
    assert.ok(seen.has('SUMMARY'), 'what is folded opens with keys');
    await tab.locator('nav a[href="#growth"]').focus();
    await tab.keyboard.press('Enter');
    assert.ok(await tab.locator('#growth').isVisible());
    assert.equal(await tab.evaluate(() => window.location.hash), '#growth');
    await close(tab);
  });

  test('the page of a run has colours by the system and by its switch', async () => {
    const tab = await open('run', { colorScheme: 'dark' });
    const ground = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await tab.selectOption('#theme', 'light');
    const light = await ground();
    assert.notEqual(light, dark);
    await tab.selectOption('#theme', 'auto');
    await tab.emulateMedia({ colorScheme: 'light' });
    assert.equal(await ground(), light);
    await close(tab);
  });

  test('the page of a run is whole without its script, and on a narrow screen', async () => {
    for (const width of [390, 1300]) {
      const viewport = { width, height: 800 };
      const tab = await open('run-gaps', { javaScriptEnabled: false, viewport });
      assert.ok(await tab.getByText('Calls by key').first().isVisible());
      await tab.screenshot({ path: path.join(folder, `run-${width}.png`), fullPage: true });
      await close(tab);
      const other = await open('run-gaps', { viewport });
      const wide = await other.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${wide} > ${width}`);
      await close(other);
    }
  });
}
