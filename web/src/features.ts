// What components are made of: a table to sort and search, whose first rows are drawn as arrows.

import { type Data, numbers } from "./data";
import { card, count, format, h, name, percent, s } from "./dom";
import type { Arrow } from "./scatter";
import type { Store } from "./state";
import { theme } from "./theme";
import type { Numbers, Point } from "./types";

interface Measure {
  key: string;
  title: string;
  about: string;
  value(f: number): number;
  text(value: number): string;
  signed: boolean;
}

const ROWS = 100;

export class FeaturesPanel {
  readonly root: HTMLElement;
  readonly circle: HTMLElement | null;
  private readonly table = h("table", { id: "features-table" });
  private readonly told = h("p", { class: "hint" });
  private readonly ring = h("div", { class: "figure square" });
  private readonly slider: HTMLInputElement;
  private readonly sliderText = h("output", {});

  constructor(
    private readonly data: Data,
    private readonly store: Store,
  ) {
    const { features } = data.page;
    const find = h("input", { type: "search", placeholder: "Search features", "aria-label": "Search features", id: "find-feature" });
    find.value = store.state.find;
    find.addEventListener("input", () => store.set({ find: find.value }, true));
    const most = Math.min(50, features.names.length);
    this.slider = h("input", { type: "range", min: 0, max: most, step: 1, id: "top", "aria-label": "How many features are drawn" });
    this.slider.addEventListener("input", () => store.set({ top: Number(this.slider.value) }, true));
    this.root = card(
      "features", "What are the components made of?",
      h("div", { class: "controls" }, find, h("label", { class: "field" }, h("span", {}, "Drawn as arrows"), this.slider, this.sliderText)),
      h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Features" }, this.table),
      this.told,
      h("p", { class: "hint" }, features.caption),
    );
    this.circle = features.correlations.length > 0 && data.k > 1
      ? card("circle", "Correlation circle", this.ring, h("p", { class: "hint" }, "Correlations of features with the two axes. What reaches the circle is shown whole."))
      : null;
  }

  /** The features that are drawn, as arrows of loadings. */
  arrows(): Arrow[] {
    const { x, y, top, arrows } = this.store.state;
    const { features } = this.data.page;
    if (!arrows || features.loadings.length === 0) return [];
    const [a, b] = [this.column(features.loadings, x), this.column(features.loadings, y)];
    return this.order().slice(0, top).map((f) => ({ name: features.names[f], tip: [a[f], this.data.k > 1 ? b[f] : 0] as Point }));
  }

  update(): void {
    const { store, data } = this;
    const order = this.order();
    const measures = this.measures();
    const { sort, top, color } = store.state;
    this.slider.value = String(top);
    this.sliderText.textContent = String(Math.min(top, order.length));
    const heading = (key: string, title: string, about: string, isNumber: boolean) => {
      const now = sort === key ? "descending" : sort === `-${key}` ? "ascending" : "none";
      const turn = () => store.set({ sort: sort === key ? `-${key}` : key });
      return h("th", { scope: "col", class: isNumber ? "n" : null, "aria-sort": now }, h("button", { class: "sort", title: about, onclick: turn }, title));
    };
    const head = h("tr", {}, heading("name", "feature", "Sort by name", false), ...measures.map((m) => heading(m.key, m.title, m.about, true)));
    const largest = measures.map((m) => Math.max(...order.slice(0, ROWS).map((f) => Math.abs(m.value(f))), 1e-300));
    const canColor = data.page.features.values.length > 0;
    const rows = order.slice(0, ROWS).map((f, place) => {
      const text = name(data.page.features.names[f]);
      const label = canColor ? h("button", { class: "link", "aria-pressed": String(color === `f${f}`), title: "Colour the samples by it", onclick: () => store.set({ color: `f${f}` }) }, text) : text;
      const cells = measures.map((m, index) => {
        const cell = h("td", { class: m.signed ? "n signed" : "n heat" }, m.text(m.value(f)));
        const share = m.value(f) / largest[index];
        cell.style.setProperty("--share", `${Math.round(100 * Math.abs(share))}%`);
        if (m.signed && share < 0) cell.classList.add("minus");
        return cell;
      });
      return h("tr", { class: place < top ? "drawn" : null }, h("th", { scope: "row" }, label), ...cells);
    });
    this.table.replaceChildren(h("thead", {}, head), h("tbody", {}, ...rows));
    const total = data.page.features.names.length;
    this.told.textContent = order.length > ROWS
      ? `The first ${ROWS} of ${count(order.length)} features; search or sort to see others.`
      : order.length < total ? `${count(order.length)} of ${count(total)} features.` : "";
    this.drawCircle(order.slice(0, top));
  }

  private column(refs: Data["page"]["features"]["weights"], j: number): Numbers {
    return refs[j] ? numbers(refs[j]) : new Float32Array(this.data.page.features.names.length);
  }

  private measures(): Measure[] {
    const { features, components } = this.data.page;
    const { x, y } = this.store.state;
    const axes = this.data.k > 1 && x !== y ? [x, y] : [x];
    if (features.loadings.length === 0) return [];
    const loadings = axes.map((j) => this.column(features.loadings, j));
    const weights = axes.map((j) => this.column(features.weights, j));
    const found: Measure[] = axes.map((j, index) => ({
      key: `l${index}`, title: `loading ${components[j].name}`, about: "Sort by size of the loading",
      value: (f) => loadings[index][f], text: format, signed: true,
    }));
    axes.forEach((j, index) =>
      found.push({
        key: `w${index}`, title: `contribution ${components[j].name}`, about: "The share of the component that the feature makes up",
        value: (f) => weights[index][f] ** 2, text: percent, signed: false,
      }),
    );
    if (features.correlations.length > 0) {
      const correlations = axes.map((j) => this.column(features.correlations, j));
      found.push({
        key: "q", title: "cos²", about: "The share of the feature’s variance that the axes show",
        value: (f) => correlations.reduce((sum, r) => sum + r[f] ** 2, 0), text: percent, signed: false,
      });
    }
    return found;
  }

  /** The features that fit the search, in the order asked for: by length on the axes unless said. */
  private order(): number[] {
    const { features } = this.data.page;
    const { sort, find, x, y } = this.store.state;
    const wanted = find.trim().toLowerCase();
    const order = features.names.map((_, f) => f).filter((f) => features.names[f].toLowerCase().includes(wanted));
    const sign = sort.startsWith("-") ? -1 : 1;
    const key = sort.replace("-", "");
    if (key === "name") return order.sort((a, b) => sign * features.names[a].localeCompare(features.names[b], "en"));
    const measure = this.measures().find((m) => m.key === key);
    const [a, b] = [this.column(features.loadings, x), this.column(features.loadings, y)];
    const rank = measure ? (f: number) => Math.abs(measure.value(f)) : (f: number) => Math.hypot(a[f], this.data.k > 1 ? b[f] : 0);
    const ranks = Float64Array.from(features.names, (_, f) => rank(f));
    return order.sort((p, q) => sign * (ranks[q] - ranks[p]) || p - q);
  }

  private drawCircle(drawn: number[]): void {
    const { features, components } = this.data.page;
    if (!this.circle) return;
    const t = theme();
    const { x, y } = this.store.state;
    const [a, b] = [this.column(features.correlations, x), this.column(features.correlations, y)];
    const r = 150;
    const label = drawn.map((f) => `${features.names[f]} ${format(a[f])}, ${format(b[f])}`).join("; ");
    const svg = s("svg", { viewBox: "-215 -185 430 370", role: "img", "aria-label": `Correlations: ${label}` });
    svg.append(s("circle", { r, fill: "none", stroke: t.axis }), s("line", { x1: -r, x2: r, stroke: t.grid }), s("line", { y1: -r, y2: r, stroke: t.grid }));
    const text = { "font-size": 11.5, fill: t.soft };
    svg.append(s("text", { ...text, x: r + 6, y: 4 }, components[x]?.name ?? ""), s("text", { ...text, y: -r - 8, "text-anchor": "middle" }, components[y]?.name ?? ""));
    const taken: Point[] = [];
    for (const f of drawn) {
      const [px, py] = [a[f] * r, -b[f] * r];
      svg.append(s("line", { x2: px, y2: py, stroke: t.groups[0], "stroke-width": 1.5 }), s("circle", { cx: px, cy: py, r: 3, fill: t.groups[0] }));
      if (taken.some(([ox, oy]) => Math.abs(oy - py) < 13 && Math.abs(ox - px) < 70)) continue;
      taken.push([px, py]);
      const long = features.names[f];
      const short = long.length > 20 ? `${long.slice(0, 12)}…${long.slice(-7)}` : long;
      svg.append(s("text", { x: px + (px < 0 ? -6 : 6), y: py + (py < 0 ? -3 : 11), "text-anchor": px < 0 ? "end" : "start", "font-size": 11.5, fill: t.ink, stroke: t.paper, "stroke-width": 3, "paint-order": "stroke" }, short));
    }
    this.ring.replaceChildren(svg);
  }
}
