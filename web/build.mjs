// Bundles src/ into one script and one style. `--check` compares with the committed ones instead of writing.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, "../crates/eigenlens-report/assets/explorer");
const options = { bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none", absWorkingDir: here };
const script = await build({ ...options, entryPoints: ["src/main.ts"], format: "iife", target: "es2022" });
const style = await build({ ...options, entryPoints: ["src/style.css"] });

let stale = false;
for (const [name, made] of [["explorer.js", script], ["explorer.css", style]]) {
  const path = join(assets, name);
  const text = made.outputFiles[0].text.trimEnd();
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    console.error(`${name} is not what web/src makes: run \`npm run build\` in web/`);
    stale = true;
  }
}
process.exit(stale ? 1 : 0);
