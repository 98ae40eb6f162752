// The explorer in a browser: clicked, drawn around, searched and exported, its numbers compared with the library's.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { join } from "node:path";
import { downloaded, eigenlens, folder, inspect, launch, near, number, open, page, pair, scores, write } from "./support.mjs";

let browser;
before(async () => {
  for (const name of ["iris", "wine", "digits", "circles"]) eigenlens("example", name, "-q");
  browser = await launch();
});
after(() => browser?.close());

/** Picks a sample by its name, as a user would who knows it. */
async function find(tab, name) {
  await tab.fill("#find-sample", name);
  await tab.press("#find-sample", "Enter");
  await tab.waitForSelector("#sample-name");
}

/** A box around all points of the plane. */
async function box(tab, plot = ".stage .plot") {
  await tab.getByRole("button", { name: "Box", exact: true }).click();
  const at = await tab.locator(plot).boundingBox();
  return async ([x0, y0], [x1, y1]) => {
    await tab.mouse.move(at.x + x0 * at.width, at.y + y0 * at.height);
    await tab.mouse.down();
    await tab.mouse.move(at.x + x1 * at.width, at.y + y1 * at.height, { steps: 4 });
    await tab.mouse.up();
  };
}

test("iris: hover, click, search, select, export say what the library says", async () => {
  const iris = page("pca", "iris.csv", { fit: ["-k", "3", "--labels", "species"] });
  const { tab, close } = await open(browser, iris.url);
  const { header, rows } = scores(iris);
  const column = (name) => header.indexOf(name);
  assert.equal(await tab.getAttribute(".stage .plot", "data-renderer"), "webgl2");
  assert.equal(await tab.getAttribute(".stage .plot", "data-drawn"), "150");

  await find(tab, "sample 42");
  near(number(await pair(tab, "#sample", "PC1")), Number(rows[41][column("PC1")]));
  near(number(await pair(tab, "#sample", "PC2")), Number(rows[41][column("PC2")]));
  assert.equal(await pair(tab, "#sample", "species"), "setosa");

  // The link restores what is seen.
  await tab.selectOption("#by-y", { index: 2 });
  near(number(await pair(tab, "#sample", "PC3")), Number(rows[41][column("PC3")]));
  const again = await open(browser, iris.url, { fragment: new URL(tab.url()).hash });
  assert.equal(await again.tab.inputValue("#by-y"), "2");
  assert.equal(await again.tab.innerText("#sample-name"), "sample 42");
  await again.close();
  await tab.keyboard.press("Escape");
  await tab.locator("h1").click();
  await tab.keyboard.press("r");
  assert.equal(await tab.inputValue("#by-y"), "1");
  await tab.keyboard.press("z");
  assert.equal(await tab.inputValue("#by-y"), "2");
  await tab.keyboard.press("Shift+Z");

  // A group of the legend: what separates setosa, from plain sums over the table.
  await tab.getByRole("button", { name: /setosa/ }).click();
  assert.match(await tab.innerText("#selection-title"), /^50 of 150 samples/);
  const table = readTable("iris.csv");
  const first = await tab.locator("#differences li").first().innerText();
  const sizes = ["sepal_length", "sepal_width", "petal_length", "petal_width"].map((name) => [name, difference(table, name, (row) => row.species === "setosa")]);
  sizes.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  assert.ok(first.startsWith(sizes[0][0]), `${first} is not ${sizes[0]}`);
  near(number(first.split("\n").at(-1)), sizes[0][1]);

  const csv = String(await downloaded(tab, () => tab.getByRole("button", { name: "Export CSV" }).click())).trim().split("\n");
  assert.equal(csv.length, 51);
  assert.equal(csv[0], "sample,species,PC1,PC2,PC3,T²,Q,sepal_length,sepal_width,petal_length,petal_width");
  near(Number(csv[1].split(",")[2]), Number(rows[0][column("PC1")]), 1e-5);

  // A box around everything, then two selections against each other.
  await tab.getByRole("button", { name: "Clear" }).click();
  const drag = await box(tab);
  await drag([0.07, 0.03], [0.97, 0.9]);
  assert.match(await tab.innerText("#selection-title"), /^150 of 150 samples/);
  await tab.getByRole("button", { name: "Clear" }).click();
  await tab.getByRole("button", { name: /setosa/ }).click();
  await tab.getByRole("button", { name: "Compare with another" }).click();
  await tab.getByRole("button", { name: /virginica/ }).click();
  assert.equal(await tab.innerText("#selection-title"), "50 against 50 samples");

  // Hovering names the point that is there; a click picks it.
  await tab.keyboard.press("Escape");
  await tab.getByRole("button", { name: "Pan", exact: true }).click();
  await tab.locator(".stage .plot").focus();
  await tab.keyboard.press("ArrowRight");
  const walked = await tab.innerText(".stage .tip");
  await tab.keyboard.press("Enter");
  assert.ok(walked.startsWith(await tab.innerText("#sample-name")));
  await close();
});

test("the table of features: loadings of the library, sorted, searched, drawn", async () => {
  const wine = page("pca", "wine.csv", { fit: ["-k", "4", "--standardize", "--labels", "cultivar"] });
  const { tab, close } = await open(browser, wine.url);
  const said = inspect(wine);
  const names = said.feature_names;
  const loading = (f, j) => said.components[j][f] * Math.sqrt(said.explained_variance[j]);
  await tab.getByRole("button", { name: "loading PC1" }).click();
  const order = names.map((name, f) => [name, loading(f, 0)]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const cells = await tab.locator("#features-table tbody tr").first().locator("th, td").allInnerTexts();
  assert.equal(cells[0], order[0][0]);
  near(number(cells[1]), order[0][1]);
  await tab.fill("#find-feature", order[5][0]);
  assert.equal(await tab.locator("#features-table tbody tr").count() >= 1, true);
  await tab.fill("#find-feature", "");
  await tab.locator("#top").fill("3");
  assert.equal(await tab.locator("#features-table tr.drawn").count(), 3);
  assert.equal(await tab.locator("#circle svg circle").count(), 4);

  // Rules agree with `choose`.
  const chosen = JSON.parse(eigenlens("choose", "wine.csv", "--scale", "--labels", "cultivar", "--json", "-q")).rules;
  for (const rule of chosen.filter((one) => ["kaiser", "broken-stick", "cumulative-share"].includes(one.rule))) {
    const text = await tab.locator("#scree .rules li", { hasText: rule.rule.replaceAll("-", " ") }).first().locator("b").innerText();
    assert.equal(Number(text), rule.n_components, rule.rule);
  }
  const svg = String(await downloaded(tab, () => tab.getByRole("button", { name: "SVG", exact: true }).click()));
  assert.ok(svg.startsWith("<svg") && svg.split("<path").length > 178);
  const png = await downloaded(tab, () => tab.getByRole("button", { name: "PNG", exact: true }).click());
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  await close();
});

test("digits are images; many samples without features are said to be without", async () => {
  const digits = page("pca", "digits.csv", { fit: ["-k", "10", "--labels", "digit"], explore: ["--image-size", "8x8"] });
  const { tab, close } = await open(browser, digits.url);
  assert.equal(await tab.locator("#images figure").count(), 10);
  await find(tab, "sample 7");
  assert.equal(await tab.locator("#sample canvas.pixels").count(), 1);
  await close();
  const few = page("pca", "digits.csv", { name: "few", fit: ["-k", "3", "--labels", "digit"], explore: ["--max-samples", "100", "--include", "no-features"] });
  const small = await open(browser, few.url);
  assert.match(await small.tab.innerText(".left-out"), /100 of 1797 samples/);
  await small.tab.locator(".legend button").first().click();
  assert.match(await small.tab.locator("#differences li").first().innerText(), /^PC\d/);
  await small.close();
});

for (const [what, method, table, options] of [
  ["kernel PCA", "kernel-pca", "circles.csv", ["-k", "3"]],
  ["sparse PCA", "sparse-pca", "wine.csv", ["-k", "2", "--cardinality", "4", "--labels", "cultivar"]],
  ["supervised PCA", "supervised-pca", "iris.csv", ["-k", "2", "--target", "species"]],
  ["one component", "pca", "iris.csv", ["-k", "1", "--labels", "species"]],
  ["Isomap", "isomap", "circles.csv", ["-k", "2", "--neighbors", "60"]],
]) {
  test(`${what} shows what applies to it`, async () => {
    const made = page(method, table, { fit: options, name: what.replaceAll(" ", "-") });
    const { tab, close } = await open(browser, made.url);
    const { header, rows } = scores(made);
    await find(tab, "sample 3");
    const axis = inspect(made).method === "pca" ? "PC1" : await tab.locator("#by-x option").first().innerText().then((text) => text.split(" ")[0]);
    const at = header.indexOf(axis);
    near(number(await pair(tab, "#sample", axis)), Number(rows[2][at]));
    await close();
  });
}

test("probabilistic PCA of a table with holes", async () => {
  const lines = readFileSync(join(folder, "iris.csv"), "utf8").trim().split("\n");
  const holes = lines.map((line, i) => (i > 0 && i % 7 === 0 ? line.replace(/^[^,]*/, "") : line));
  write("holes.csv", `${holes.join("\n")}\n`);
  const made = page("ppca", "holes.csv", { fit: ["-k", "2", "--missing", "em", "--labels", "species"], explore: ["--missing", "em"] });
  const { tab, close } = await open(browser, made.url);
  await find(tab, "sample 7");
  assert.notEqual(await pair(tab, "#sample", "species"), "");
  assert.equal(await tab.getAttribute(".stage .plot", "data-drawn"), "150");
  await close();
});

test("forty classes are told apart; names of strangers stay text", async () => {
  const evil = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "\"'&amp;<b>", "名前", "اسم العينة", "a,b"];
  const label = (i) => `${evil[i % evil.length]} ${i % 40}`.replaceAll('"', '""');
  const rows = Array.from({ length: 400 }, (_, i) => `${Math.sin(i * 1.7) * 3},${Math.cos(i * 0.9)},${((i * 37) % 11) / 3},"${label(i)}"`);
  write("evil.csv", `"<script>alert(3)</script>","<!--",'x',"</style><i>"\n${rows.join("\n")}\n`);
  const made = page("pca", "evil.csv", { fit: ["-k", "2", "--labels", "</style><i>"] });
  const { tab, close } = await open(browser, made.url);
  tab.on("dialog", () => assert.fail("a name ran"));
  assert.equal(await tab.locator("#legend li").count(), 120);
  assert.equal(await tab.locator("main img, main b:not(.rules b), main i").count(), 0);
  assert.match(await tab.innerText("#features-table"), /<script>alert\(3\)<\/script>/);
  await find(tab, "sample 1");
  assert.match(await tab.innerText("#sample"), /<img src=x onerror=alert\(1\)> 0/);
  await close();
});

test("where there is no WebGL a canvas draws, and selects alike", async () => {
  const iris = page("pca", "iris.csv", { name: "plain", fit: ["-k", "2", "--labels", "species"] });
  const { tab, close } = await open(browser, iris.url, { fragment: "#renderer=canvas" });
  assert.equal(await tab.getAttribute(".stage .plot", "data-renderer"), "canvas");
  const painted = await tab.locator(".stage .plot canvas").evaluate((canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((v) => v > 0));
  assert.ok(painted);
  await (await box(tab))([0.07, 0.03], [0.97, 0.9]);
  assert.match(await tab.innerText("#selection-title"), /^150 of 150/);
  await close();
});

test("axe-core finds nothing serious, in both themes and at three widths", async () => {
  const iris = page("pca", "iris.csv", { name: "axe", fit: ["-k", "3", "--labels", "species"] });
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const [width, colorScheme] of [[1440, "light"], [768, "dark"], [390, "light"], [390, "dark"]]) {
    const { tab, close } = await open(browser, iris.url, { width, colorScheme });
    await find(tab, "sample 5");
    await tab.locator("#legend button").first().click();
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} px too wide at ${width}`);
    await tab.evaluate(axe);
    const found = await tab.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
    assert.deepEqual(serious.map((one) => [one.id, one.nodes.map((node) => node.html).slice(0, 3)]), [], `${width} ${colorScheme}`);
    await close();
  }
});

function readTable(name) {
  const [header, ...lines] = readFileSync(join(folder, name), "utf8").trim().split("\n").map((line) => line.split(","));
  return lines.map((cells) => Object.fromEntries(header.map((key, i) => [key, cells[i]])));
}

/** The difference of means in pooled standard deviations, by plain sums. */
function difference(table, name, isHere) {
  const parts = [table.filter(isHere), table.filter((row) => !isHere(row))].map((rows) => rows.map((row) => Number(row[name])));
  const mean = (x) => x.reduce((a, b) => a + b, 0) / x.length;
  const squares = (x) => x.reduce((a, b) => a + (b - mean(x)) ** 2, 0);
  return (mean(parts[0]) - mean(parts[1])) / Math.sqrt((squares(parts[0]) + squares(parts[1])) / (table.length - 2));
}
