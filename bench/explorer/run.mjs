// The explorer beside a plain Plotly `scattergl` page of the same points in the same browser: time to the first
// picture, and frames while panning.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "../../web/test/support.mjs";

const n = Number(process.argv[2] ?? 1_000_000);
const runs = Number(process.argv[3] ?? 3);
const d = 10;
const folder = mkdtempSync(join(tmpdir(), "eigenlens-bench-"));
const run = (...args) => execFileSync(process.env.EIGENLENS_PROGRAM, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });

/** n × d normal numbers of falling spread, as NPY. */
function table() {
  let state = 1;
  const uniform = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const x = new Float32Array(n * d);
  for (let i = 0; i < x.length; i++) x[i] = (Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()) * 3) / (1 + (i % d));
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${n}, ${d}), }`.padEnd(117) + "\n";
  writeFileSync(join(folder, "x.npy"), Buffer.concat([Buffer.from("\x93NUMPY\x01\x00\x76\x00", "latin1"), Buffer.from(header), Buffer.from(x.buffer)]));
}

table();
run("fit", "pca", "x.npy", "-k", String(d), "-o", "m.safetensors", "-q");
run("explore", "m.safetensors", "x.npy", "--include", "no-features", "-o", "ours.html", "-q");
const page = readFileSync(join(folder, "ours.html"), "latin1");
const data = JSON.parse(Buffer.from(/id="data">([^<]*)</.exec(page)[1], "latin1").toString());
const [x, y] = data.samples.scores.map((ref) => ({ ...ref, text: new RegExp(`id="${ref.id}">([^<]*)<`).exec(page)[1] }));
const plotly = readFileSync(createRequire(import.meta.url).resolve("plotly.js-dist-min"), "utf8");
// The same two columns in the same form; none of the others.
writeFileSync(
  join(folder, "plotly.html"),
  `<!doctype html><meta charset=utf-8><body><div id=plot style="width:1000px;height:620px"></div><script>${plotly.replaceAll("</script", "<\\/script")}</script><script>
const values = ({text, n, first, step, form}) => { const bytes = Uint8Array.fromBase64(text); const codes = form === "u16" ? new Uint16Array(bytes.buffer) : new Float32Array(bytes.buffer); return form === "u16" ? Float32Array.from(codes, (c) => first + step * c) : codes; };
const plot = document.getElementById("plot");
Plotly.newPlot(plot, [{type: "scattergl", mode: "markers", x: values(${JSON.stringify(x)}), y: values(${JSON.stringify(y)}), marker: {size: 2, opacity: 0.35}}], {dragmode: "pan", hovermode: false}).then(() => { plot.dataset.drawn = "${n}"; });
</script>`,
);

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function measure(browser, file, plot) {
  const tab = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const begun = performance.now();
  await tab.goto(pathToFileURL(join(folder, file)).href, { waitUntil: "commit" });
  await tab.waitForSelector("[data-drawn]", { timeout: 120_000 });
  // A screenshot is there when the pixels are.
  await tab.screenshot({ clip: { x: 0, y: 0, width: 1200, height: 800 } });
  const first = performance.now() - begun;
  const box = await tab.locator(plot).first().boundingBox();
  await tab.evaluate(() => {
    globalThis.frames_ = [];
    let last = performance.now();
    const tick = (now) => { globalThis.frames_.push(now - last); last = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  });
  const [cx, cy] = [box.x + box.width / 2, box.y + box.height / 2];
  await tab.mouse.move(cx, cy);
  await tab.mouse.down();
  for (let step = 1; step <= 25; step++) await tab.mouse.move(cx + 4 * step, cy + 2 * step);
  await tab.mouse.up();
  const frames = await tab.evaluate(() => globalThis.frames_.slice(1));
  const renderer = await tab.locator(plot).first().getAttribute("data-renderer");
  await tab.close();
  return { first, frame: median(frames), frames: frames.length, renderer };
}

const found = { explorer: [], plotly: [] };
for (let i = 0; i < runs; i++) {
  for (const [name, file, plot] of [["explorer", "ours.html", ".stage .plot"], ["plotly", "plotly.html", "#plot"]]) {
    const browser = await launch();
    found[name].push(await measure(browser, file, plot));
    await browser.close();
  }
}
console.log(`${n} points; page of ours ${(statSync(join(folder, "ours.html")).size / 1e6).toFixed(1)} MB with ${d} components, Plotly's ${(statSync(join(folder, "plotly.html")).size / 1e6).toFixed(1)} MB with 2`);
for (const [name, all] of Object.entries(found)) {
  console.log(`${name.padEnd(9)} first picture ${median(all.map((r) => r.first)).toFixed(0)} ms, median frame while panning ${median(all.map((r) => r.frame)).toFixed(0)} ms ${all[0].renderer ?? ""}`);
}
