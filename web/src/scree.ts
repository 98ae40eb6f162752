// Variances in order, with what rules say about how many to keep.

import { scaleLinear } from "d3-scale";
import type { Data } from "./data";
import { card, format, h, name, percent, s } from "./dom";
import type { Store } from "./state";
import { theme } from "./theme";

const WIDTH = 560;
const HEIGHT = 260;
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 44, 26, 34];

export class ScreePanel {
  readonly root: HTMLElement;
  private readonly figure = h("div", { class: "figure" });
  private readonly list = h("ul", { class: "rules" });

  constructor(
    private readonly data: Data,
    private readonly store: Store,
  ) {
    this.root = card("scree", "How many components?", this.figure, this.list);
  }

  update(): void {
    const { scree, rules } = this.data.page;
    if (!scree) return;
    this.figure.replaceChildren(this.draw());
    const { state } = this.store;
    const items = rules.map((rule) => {
      const on = state.rules.includes(rule.name);
      const flip = () => this.store.set({ rules: on ? state.rules.filter((r) => r !== rule.name) : [...state.rules, rule.name] });
      const box = h("input", { type: "checkbox", checked: on, disabled: rule.k === null, onchange: flip });
      return h("li", { title: rule.note }, h("label", {}, box, h("span", {}, rule.name.replaceAll("-", " ")), h("b", {}, rule.k === null ? "–" : String(rule.k))));
    });
    this.list.replaceChildren(...items);
  }

  private draw(): SVGElement {
    const { scree, rules } = this.data.page;
    const t = theme();
    if (!scree) return s("svg");
    const heights = scree.heights.slice(0, 40);
    const [w, v] = [WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM];
    const step = w / heights.length;
    const top = Math.max(...heights.map((height, j) => height + 2 * (scree.errors[j] ?? 0)), 0) || 1;
    const y = scaleLinear([0, top], [TOP + v, TOP]).nice(4).clamp(true);
    const center = (j: number) => LEFT + step * (j + 0.5);
    const described = heights.map((height, j) => `${j + 1}: ${format(height)}`).join(", ");
    const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${scree.what}: ${described}` });
    const text = { fill: t.soft, "font-size": 11.5 };
    for (const tick of y.ticks(4)) {
      svg.append(s("line", { x1: LEFT, x2: LEFT + w, y1: y(tick), y2: y(tick), stroke: tick === 0 ? t.axis : t.grid }));
      svg.append(s("text", { ...text, x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, y.tickFormat(4)(tick)));
    }
    svg.append(s("text", { ...text, x: 0, y: 12 }, scree.what));
    heights.forEach((height, j) => {
      const kept = j < (scree.kept ?? heights.length);
      const share = scree.cumulative[j];
      const about = `${j + 1}: ${format(height)}${share === undefined ? "" : `, together ${percent(share)} of ${scree.of}`}`;
      const bar = s("rect", { x: center(j) - step * 0.36, width: step * 0.72, y: y(height), height: TOP + v - y(height), rx: Math.min(2, step / 6), fill: kept ? t.groups[0] : t.other, "fill-opacity": kept ? 1 : 0.55 });
      bar.append(s("title", {}, about));
      svg.append(bar);
      const error = scree.errors[j];
      if (error) svg.append(s("line", { x1: center(j), x2: center(j), y1: y(height - 2 * error), y2: y(height + 2 * error), stroke: t.ink, "stroke-opacity": 0.6 }));
      const every = Math.ceil(heights.length / 14);
      if (j % every === 0) svg.append(s("text", { ...text, x: center(j), y: TOP + v + 17, "text-anchor": "middle" }, String(j + 1)));
    });
    if (scree.cumulative.length > 0) svg.append(...this.cumulative(center, v));
    for (const rule of rules.filter((r) => r.k !== null && this.store.state.rules.includes(r.name))) {
      const x = LEFT + step * Math.min(rule.k ?? 0, heights.length);
      svg.append(s("line", { x1: x, x2: x, y1: TOP - 6, y2: TOP + v, stroke: t.mark, "stroke-dasharray": "4 3" }));
    }
    return svg;
  }

  private cumulative(center: (j: number) => number, v: number): SVGElement[] {
    const scree = this.data.page.scree;
    const t = theme();
    const shares = scree?.cumulative.slice(0, 40) ?? [];
    const y = (share: number) => TOP + v * (1 - share);
    const points = shares.map((share, j) => `${center(j)},${y(share)}`).join(" ");
    const text = { fill: t.soft, "font-size": 11.5, x: WIDTH - RIGHT + 8 };
    return [
      s("polyline", { points, fill: "none", stroke: t.mark, "stroke-width": 1.5 }),
      ...shares.map((share, j) => s("circle", { cx: center(j), cy: y(share), r: 2.6, fill: t.mark })),
      s("text", { ...text, y: TOP + 4 }, "100 %"),
      s("text", { ...text, y: TOP + v + 4 }, "0 %"),
      s("text", { ...text, x: WIDTH, y: 12, "text-anchor": "end" }, `share of ${scree?.of ?? ""}, summed`),
    ];
  }
}

/** What is known of each component, and of what goes with it. */
export function association(data: Data): HTMLElement | null {
  const columns = data.page.samples?.columns.filter((column) => column.association.length > 0) ?? [];
  if (columns.length === 0) return null;
  const components = data.page.components.slice(0, 10);
  const head = h("tr", {}, h("th", { scope: "col" }, "column"), ...components.map((c) => h("th", { scope: "col", class: "n" }, c.name)));
  const rows = columns.map((column) =>
    h("tr", {}, h("th", { scope: "row" }, name(column.name)), ...components.map((_, j) => {
      const cell = h("td", { class: "n heat" }, percent(column.association[j]));
      cell.style.setProperty("--share", `${Math.round(100 * column.association[j])}%`);
      return cell;
    })),
  );
  return card(
    "association", "What goes with which component",
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Association" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows))),
    h("p", { class: "hint" }, "The share of a component’s variance that lies between the groups of a column, or goes with its numbers (η², r²)."),
  );
}
