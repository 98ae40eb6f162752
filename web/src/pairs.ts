// Small planes of the first components: click one to look at it.

import type { Data } from "./data";
import { extent } from "./data";
import { card, h } from "./dom";
import { type Marks, painter } from "./points";
import type { Store } from "./state";
import type { Numbers, Rect } from "./types";

const MOST = 4;
const POINTS = 20_000;
const SIDE = 132;

export class PairsPanel {
  readonly root: HTMLElement;
  private readonly cells: { a: number; b: number; button: HTMLButtonElement; canvas: HTMLCanvasElement }[] = [];

  constructor(
    private readonly data: Data,
    private readonly store: Store,
  ) {
    const k = Math.min(MOST, data.k);
    const grid = h("div", { class: "pairs-grid" });
    grid.style.setProperty("--columns", String(k - 1));
    for (let b = 1; b < k; b++) {
      for (let a = 0; a < k - 1; a++) {
        if (a >= b) {
          grid.append(h("span", {}));
          continue;
        }
        const canvas = h("canvas", { width: 2 * SIDE, height: 2 * SIDE, "aria-hidden": true });
        const label = `${data.page.components[a].name} and ${data.page.components[b].name}`;
        const button = h("button", { class: "pair", "aria-label": `Show ${label}`, onclick: () => store.set({ x: a, y: b, zoom: null }) }, canvas, h("span", {}, label));
        this.cells.push({ a, b, button, canvas });
        grid.append(button);
      }
    }
    this.root = card("pairs", "All pairs", grid);
  }

  update(marks: Marks): void {
    // A sample of the points is enough to see shapes at this size.
    const step = Math.ceil(this.data.n / POINTS);
    const thin = <T extends Numbers>(values: T) => (step === 1 ? values : (values.filter((_, i) => i % step === 0) as T));
    const colors = step === 1 ? marks.colors : marks.colors.filter((_, at) => (at >> 2) % step === 0);
    for (const { a, b, button, canvas } of this.cells) {
      const [x, y] = [thin(this.data.scores(a)), thin(this.data.scores(b))];
      const brush = painter(canvas, "canvas");
      const wider = ([low, high]: [number, number]) => [low - 0.06 * (high - low), high + 0.06 * (high - low)];
      const domain = [...wider(extent(x)), ...wider(extent(y))] as Rect;
      brush.points(x, y, domain);
      brush.marks({ colors, shapes: null, sizes: null });
      brush.draw(domain, x.length > 2000 ? 1.4 : 3, null);
      const { state } = this.store;
      button.setAttribute("aria-pressed", String(state.x === a && state.y === b));
    }
  }
}
