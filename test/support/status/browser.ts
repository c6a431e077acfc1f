// A real Chromium for tests of the page. Its errors and the hosts it asks are kept for the test. Pages of one
// size, colour scheme and language share a cache, as tabs do; each page has its own session storage.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import axe from 'axe-core';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where Chromium is; undefined where there is none. */
export const chromiumPath: string | undefined = PLACES.find((path) => existsSync(path));

const SCREENSHOTS = resolve(import.meta.dirname, '../../../test-output/page');
const wantsPictures = process.env.TEST_PICTURES !== undefined;

export interface OpenPage {
  page: Page;
  /** Console errors, warnings of the policy and uncaught errors. */
  faults: string[];
  /** Hosts that anything was asked of. */
  hosts: Set<string>;
  /** Writes a picture of the whole page into an ignored folder, where `TEST_PICTURES` is set, for people only. */
  picture(name: string): Promise<void>;
}

export interface Browser {
  open(options?: PageOptions): Promise<OpenPage>;
  close(): Promise<void>;
}

export interface PageOptions {
  width?: number;
  height?: number;
  colorScheme?: 'light' | 'dark';
  /** The language of the browser; default en-US. */
  locale?: string;
  /** Where the page's time begins; it goes on from there. */
  now?: number;
}

export async function launchBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'roadbook-chromium-'));
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
    env: { ...process.env, HOME: profile } as Record<string, string>,
  });
  const contexts = new Map<string, BrowserContext>();
  return {
    async open({ width = 1280, height = 800, colorScheme = 'light', locale = 'en-US', now } = {}) {
      const format = `${width} ${height} ${colorScheme} ${locale}`;
      const context =
        contexts.get(format) ??
        (await browser.newContext({
          viewport: { width, height },
          colorScheme,
          locale,
          isMobile: width < 500,
          deviceScaleFactor: 1,
        }));
      contexts.set(format, context);
      const page = await context.newPage();
      if (now !== undefined) await page.clock.install({ time: now });
      return watched(page);
    },
    async close() {
      for (const context of contexts.values()) await context.close();
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

function watched(page: Page): OpenPage {
  const faults: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => {
    // Chromium itself notes each answer that is no success; a test that asks for one says so.
    if (message.text().startsWith('Failed to load resource')) return;
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  return {
    page,
    faults,
    hosts,
    async picture(name) {
      if (!wantsPictures) return;
      mkdirSync(SCREENSHOTS, { recursive: true });
      await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
    },
  };
}

/** The violations of axe's rules on the page as it is: of all that are enabled by default, or only of the given ones. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Injected by the debugger, because the policy of the page allows no script. It stays loaded from view to view.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(`${axe.source}; undefined`);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const result = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
    violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
  };
  return result.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join('; ')}`,
  );
}
