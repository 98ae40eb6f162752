// A program, a browser, and pages of data whose numbers are known.

import { chromium } from "playwright-core";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";

export const folder = mkdtempSync(join(tmpdir(), "eigenlens-explorer-"));
const program = process.env.EIGENLENS_PROGRAM;

/** Runs the program in the folder of the tests. */
export function eigenlens(...args) {
  return execFileSync(program, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
}

export function write(name, text) {
  writeFileSync(join(folder, name), text);
}

/** Fits, and writes the page; gives its address. */
export function page(method, table, { fit = [], explore = [], name = `${table}-${method}` } = {}) {
  const model = `${name}.safetensors`;
  eigenlens("fit", method, table, "-o", model, "-q", ...fit);
  eigenlens("explore", model, table, "-o", `${name}.html`, "-q", ...explore);
  return { url: pathToFileURL(join(folder, `${name}.html`)).href, path: join(folder, `${name}.html`), model, table };
}

/** What the library says of a model. */
export function inspect({ model }) {
  return JSON.parse(eigenlens("inspect", model, "--json", "-q"));
}

/** Scores as the library makes them: a row of cells for each sample. */
export function scores({ model, table }) {
  const text = eigenlens("transform", model, table, "-o", "-", "-q").trim().split("\n");
  const [header, ...rows] = text.map((line) => line.split(","));
  return { header, rows };
}

export const executablePath =
  process.env.EIGENLENS_CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));

// Software WebGL: the same on every machine.
export const launch = () =>
  chromium.launch({
    executablePath,
    args: [
      "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    ],
  });

/** Opens a page that may neither complain nor ask for anything. */
export async function open(browser, url, { width = 1440, height = 900, colorScheme = "light", fragment = "" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, acceptDownloads: true });
  const tab = await context.newPage();
  const faults = [];
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(message.text()));
  tab.on("pageerror", (error) => faults.push(String(error)));
  tab.on("request", (request) => {
    const asked = request.url();
    if (!/^(blob|data):/.test(asked) && asked.split("#")[0] !== url) faults.push(`asked for ${asked}`);
  });
  await tab.goto(url + fragment);
  await tab.waitForSelector("main");
  const close = async () => {
    assert.deepEqual(faults, [], "the page complained or asked for something");
    await context.close();
  };
  return { tab, close };
}

/** Reads `1,234` and `−0.5`. */
export function number(text) {
  return Number(text.replaceAll(",", "").replace("−", "-").replace(/\s*%/, "").split(" ")[0]);
}

export function near(found, expected, relative = 1e-3) {
  assert.ok(Math.abs(found - expected) <= relative * Math.max(Math.abs(expected), 1e-3), `${found} is not ${expected}`);
}

/** The value beside a name in a list of pairs. */
export async function pair(tab, within, name) {
  return tab.locator(`${within} dt`, { hasText: new RegExp(`^${name}$`) }).first().locator("xpath=following-sibling::dd[1]").innerText();
}

export async function downloaded(tab, click) {
  const [file] = await Promise.all([tab.waitForEvent("download"), click()]);
  return readFileSync(await file.path());
}
