// Beside the plane: legend, the sample that was picked, the selection and what separates it.

import { type Data, extent, numbers } from "./data";
import { count, download, format, h, name, percent } from "./dom";
import { channel, groupColor } from "./marks";
import { outline } from "./points";
import { csvOf, differences, type Difference, members, neighbors, rest, size } from "./selection";
import type { Store } from "./state";
import { css, sequential, SHAPES, theme } from "./theme";
import { s } from "./dom";
import { pixels } from "./images";

const SHOWN = 12;

export class Inspector {
  readonly root = h("aside", { class: "inspector", "aria-label": "Details" });
  private readonly legend = h("div", { id: "legend" });
  private readonly sample = h("div", { id: "sample" });
  private readonly selection = h("div", { id: "selection" });

  constructor(
    private readonly data: Data,
    private readonly store: Store,
  ) {
    this.root.append(this.legend, this.selection, this.sample);
  }

  update(): void {
    this.showLegend();
    this.showSample();
    this.showSelection();
  }

  private showLegend(): void {
    const { data, store } = this;
    const by = channel(data, store.state.color);
    if (!by) return this.legend.replaceChildren();
    const heading = h("h3", {}, name(by.name));
    if (!by.groups) {
      const [low, high] = extent(by.values);
      const bar = h("canvas", { class: "ramp", width: 256, height: 1, "aria-hidden": true });
      const context = bar.getContext("2d");
      for (let step = 0; step < 256 && context; step++) {
        context.fillStyle = css(sequential(step / 255, theme().dark));
        context.fillRect(step, 0, 1, 1);
      }
      return this.legend.replaceChildren(heading, bar, h("div", { class: "ends" }, h("span", {}, format(low)), h("span", {}, format(high))));
    }
    const counts = new Array<number>(by.groups.length).fill(0);
    for (const group of by.values) counts[group] += 1;
    const chosen = store.state.selection;
    const items = by.groups.map((text, group) => {
      const pressed = chosen?.kind === "group" && chosen.column === by.column && chosen.group === group;
      const pick = () => store.set({ selection: pressed ? null : { kind: "group", column: by.column, group } });
      const shape = s("svg", { width: 14, height: 14, "aria-hidden": true });
      const drawn = data.n <= 200_000 && !channel(data, store.state.shape) ? group % SHAPES : 0;
      shape.append(s("path", { d: outline(drawn, 7, 7, 5.5), fill: groupColor(group) }));
      return h("li", {}, h("button", { class: "entry", "aria-pressed": String(pressed), onclick: pick }, shape, name(text), h("span", { class: "count" }, count(counts[group]))));
    });
    this.legend.replaceChildren(heading, h("ul", { class: "legend" }, ...items));
  }

  private showSample(): void {
    const { data, store } = this;
    const i = store.state.pinned;
    const { samples } = data.page;
    if (i === null || !samples || i >= data.n) {
      const hint = store.state.selection ? null : h("p", { class: "hint" }, "Click a point to see what it is. Draw around points to ask what separates them.");
      return this.sample.replaceChildren(...(hint ? [hint] : []));
    }
    const rows: [string, string][] = [];
    for (const column of samples.columns) {
      const value = numbers(column.values)[i];
      rows.push([column.name, column.groups ? (column.groups[value] ?? "–") : format(value)]);
    }
    const axes = [store.state.x, ...(data.k > 1 ? [store.state.y] : [])];
    for (const j of axes) rows.push([data.page.components[j].name, format(data.scores(j)[i])]);
    if (samples.cosines.length > 0) {
      const shown = axes.reduce((sum, j) => sum + numbers(samples.cosines[j])[i], 0);
      rows.push(["shown by these axes", percent(shown)]);
    }
    if (samples.monitoring) {
      const { limits, label } = samples.monitoring;
      const [t, q] = [numbers(samples.monitoring.tSquared)[i], numbers(samples.monitoring.q)[i]];
      const beyond = (value: number, limit: number | null) => (limit !== null && value > limit ? ` (above the ${label})` : "");
      rows.push(["T²", format(t) + beyond(t, limits[0])], ["Q", format(q) + beyond(q, limits[1])]);
    }
    const close = h("button", { class: "quiet", "aria-label": "Close the sample", onclick: () => store.set({ pinned: null }) }, "×");
    const facts = h("dl", { class: "pairs" }, ...rows.flatMap(([key, value]) => [h("dt", {}, name(key)), h("dd", {}, name(value))]));
    this.sample.replaceChildren(
      h("div", { class: "row" }, h("h3", { id: "sample-name" }, name(data.name(i))), close),
      ...this.image(i), facts, ...this.parts(i, axes), ...this.near(i),
    );
  }

  /** The sample itself, where samples are images. */
  private image(i: number): HTMLElement[] {
    const { image, features } = this.data.page;
    if (!image || features.values.length === 0) return [];
    const values = features.values.map((ref) => numbers(ref)[i]);
    return [pixels(values, image.width, image.height, "grey", `Image of ${this.data.name(i)}`)];
  }

  /** What each feature adds to the scores on the axes. */
  private parts(i: number, axes: number[]): HTMLElement[] {
    const { features, components } = this.data.page;
    if (!features.center || !features.inverseScale) return [];
    const [center, inverse] = [numbers(features.center), numbers(features.inverseScale)];
    return axes.map((j) => {
      const weights = numbers(features.weights[j]);
      const parts = features.values.map((ref, f) => ({ f, value: (numbers(ref)[i] - center[f]) * inverse[f] * weights[f] }));
      const largest = parts.filter((p) => Number.isFinite(p.value)).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 4);
      const most = Math.abs(largest[0]?.value ?? 0) || 1;
      const lines = largest.map(({ f, value }) => barRow(features.names[f], value / most, format(value), null));
      return h("div", { class: "parts" }, h("h4", {}, `Adds to ${components[j].name}`), h("ul", { class: "bars" }, ...lines));
    });
  }

  private near(i: number): HTMLElement[] {
    if (this.data.n < 3) return [];
    const found = neighbors(this.data, i, 4);
    const items = found.map((one) =>
      h("li", {}, h("button", { class: "link", onclick: () => this.store.set({ pinned: one.i }) }, name(this.data.name(one.i))), h("span", { class: "count" }, format(one.distance))),
    );
    return [h("div", { class: "parts" }, h("h4", {}, "Nearest in score space"), h("ul", { class: "plain" }, ...items))];
  }

  private showSelection(): void {
    const { data, store } = this;
    const { selection, other, only } = store.state;
    if (!selection) return this.selection.replaceChildren();
    const here = members(data, selection);
    const there = other ? members(data, other) : rest(here);
    const n = size(here);
    const button = (text: string, onclick: () => void, pressed?: boolean) =>
      h("button", { class: "small", onclick, "aria-pressed": pressed === undefined ? null : String(pressed) }, text);
    const actions = h(
      "div",
      { class: "actions" },
      other
        ? button("Swap", () => store.set({ selection: other, other: selection }))
        : button("Compare with another", () => store.set({ other: selection, selection: null })),
      button(only ? "Show all" : "Show only these", () => store.set({ only: !only }), only),
      button("Export CSV", () => download("selection.csv", new Blob([csvOf(data, here)], { type: "text/csv" }))),
      button("Clear", () => store.set({ selection: null, other: null, only: false })),
    );
    const title = other ? `${count(n)} against ${count(size(there))} samples` : `${count(n)} of ${count(data.n)} samples`;
    this.selection.replaceChildren(h("h3", { id: "selection-title", "aria-live": "polite" }, title), actions, ...this.separates(here, there, other !== null));
  }

  private separates(here: Uint8Array, there: Uint8Array, isPair: boolean): HTMLElement[] {
    const found = differences(this.data, here, there);
    if (found.length === 0) return [h("p", { class: "hint" }, "There is nothing to compare them with.")];
    const most = Math.max(...found.map((one) => (Number.isFinite(one.size) ? Math.abs(one.size) : 0)), 1e-300);
    const line = (one: Difference) => {
      const share = Number.isFinite(one.size) ? one.size / most : Math.sign(one.size);
      const color = one.of >= 0 ? `f${one.of}` : `s${-1 - one.of}`;
      const detail = `mean ${format(one.here)} against ${format(one.there)}`;
      return barRow(one.name, share, format(one.size), detail, () => this.store.set({ color }));
    };
    const what = isPair ? "What separates the two" : "What separates them from the rest";
    return [
      h("h4", {}, what),
      h("ol", { class: "bars", id: "differences" }, ...found.slice(0, SHOWN).map(line)),
      h("p", { class: "hint" }, "Differences of means in pooled standard deviations. Click one to colour by it."),
    ];
  }
}

/** A name with a bar to either side, and a number. */
function barRow(text: string, share: number, value: string, detail: string | null, onclick?: () => void): HTMLElement {
  const bar = h("span", { class: share < 0 ? "bar minus" : "bar" });
  bar.style.width = `${(50 * Math.min(Math.abs(share), 1)).toFixed(1)}%`;
  const label = onclick ? h("button", { class: "link", onclick, title: detail }, name(text)) : h("span", {}, name(text));
  return h("li", {}, label, h("span", { class: "track", "aria-hidden": true }, bar), h("span", { class: "value" }, value));
}
