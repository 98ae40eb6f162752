// A plane of points: axes, panning, zooming, picking and selecting, by pointer and by keys.

import { scaleLinear } from "d3-scale";
import KDBush from "kdbush";
import { extent } from "./data";
import { h, s } from "./dom";
import { type Marks, outline, painter, type Painter } from "./points";
import { theme } from "./theme";
import type { Numbers, Point, Rect } from "./types";

export type Mode = "pan" | "lasso" | "box";

export interface Line {
  axis: "x" | "y";
  at: number;
  label: string;
}

export interface Arrow {
  name: string;
  tip: Point;
}

interface Options {
  label: string;
  renderer: "webgl2" | "canvas" | null;
  /** Whether 0 is a place where axes cross. */
  cross: boolean;
  onhover(i: number | null): void;
  onpick(i: number | null): void;
  onselect(polygon: Point[]): void;
  onzoom(domain: Rect | null): void;
  describe(i: number): string;
}

const LEFT = 58;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 46;

export class Scatter {
  readonly root: HTMLElement;
  mode: Mode = "pan";
  private readonly canvas = h("canvas", { "aria-hidden": true });
  /** Axes and grid lie under the points, everything else over them. */
  private readonly underlay = s("svg", { "aria-hidden": true });
  private readonly overlay = s("svg", { "aria-hidden": true });
  private readonly live = h("div", { class: "visually-hidden", "aria-live": "polite" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly painter: Painter;
  private x: Numbers = new Float32Array();
  private y: Numbers = this.x;
  private look: Marks = { colors: new Uint8Array(), shapes: null, sizes: null };
  private titles: Point2<string> = ["", ""];
  private whole: Rect = [0, 1, 0, 1];
  private domain: Rect | null = null;
  private index: KDBush | null = null;
  private lines: Line[] = [];
  private arrows: Arrow[] = [];
  private polygons: Point[][] = [];
  private drawing: Point[] | null = null;
  private hovered: number | null = null;
  private pinned: number | null = null;
  private frame = 0;
  private width = 0;
  private height = 0;

  constructor(private readonly options: Options) {
    this.root = h(
      "div",
      { class: "plot", tabindex: 0, role: "application", "aria-label": options.label },
      this.underlay, this.canvas, this.overlay, this.tip, this.live,
    );
    this.painter = painter(this.canvas, options.renderer);
    this.root.dataset.renderer = this.painter.kind;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.root);
  }

  /** Shows these points under these names of axes. */
  points(x: Numbers, y: Numbers, titles: Point2<string>): void {
    if (x !== this.x || y !== this.y) {
      this.x = x;
      this.y = y;
      this.index = null;
      this.hovered = null;
      const [x0, x1] = extent(x);
      const [y0, y1] = extent(y);
      this.painter.points(x, y, [x0, x1, y0, y1]);
      const wider = (low: number, high: number): Point => [low - 0.05 * (high - low), high + 0.05 * (high - low)];
      this.whole = [...wider(x0, x1), ...wider(y0, y1)];
    }
    this.titles = titles;
    this.redraw();
  }

  marks(marks: Marks): void {
    this.look = marks;
    this.painter.marks(marks);
    this.redraw();
  }

  decorate(lines: Line[], arrows: Arrow[], polygons: Point[][]): void {
    this.lines = lines;
    this.arrows = arrows;
    this.polygons = polygons;
    this.redraw();
  }

  pin(i: number | null): void {
    this.pinned = i;
    this.redraw();
  }

  zoomTo(domain: Rect | null): void {
    this.domain = domain;
    this.redraw();
  }

  zoomBy(factor: number, at?: Point): void {
    const [x0, x1, y0, y1] = this.shown();
    const [cx, cy] = at ?? [(x0 + x1) / 2, (y0 + y1) / 2];
    this.domain = [cx + (x0 - cx) * factor, cx + (x1 - cx) * factor, cy + (y0 - cy) * factor, cy + (y1 - cy) * factor];
    this.redraw();
    this.settled();
  }

  /** Moves the domain so that a point is in sight. */
  reveal(i: number): void {
    const [x0, x1, y0, y1] = this.shown();
    const [x, y] = [this.x[i], this.y[i]];
    if (x >= x0 && x <= x1 && y >= y0 && y <= y1) return;
    const [w, v] = [(x1 - x0) / 2, (y1 - y0) / 2];
    this.domain = [x - w, x + w, y - v, y + v];
    this.redraw();
    this.settled();
  }

  /** Where a point is on the page, in pixels. */
  place(i: number): Point {
    const box = this.root.getBoundingClientRect();
    const [px, py] = this.pixel([this.x[i], this.y[i]]);
    return [box.left + px, box.top + py];
  }

  /** Redraws before the next frame is shown. */
  redraw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  /** The picture as SVG. Points are paths while they are few, else an image. */
  svg(): string {
    this.draw();
    const few = this.x.length <= 20_000;
    const copy = this.overlay.cloneNode(true) as SVGSVGElement;
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", String(this.width));
    copy.setAttribute("height", String(this.height));
    copy.setAttribute("font-family", "Inter, Helvetica, Arial, sans-serif");
    const under = s("g", {});
    under.append(s("rect", { width: this.width, height: this.height, fill: theme().paper }));
    const marks = s("g", {});
    if (few) marks.append(...this.paths());
    else {
      const image = s("image", { x: LEFT, y: TOP, width: this.inner()[0], height: this.inner()[1] });
      image.setAttribute("href", this.canvas.toDataURL());
      marks.append(image);
    }
    copy.prepend(under, ...[...this.underlay.children].map((child) => child.cloneNode(true)), marks);
    return new XMLSerializer().serializeToString(copy);
  }

  private paths(): SVGPathElement[] {
    const paths: SVGPathElement[] = [];
    const { colors, shapes, sizes } = this.look;
    const [w, v] = this.inner();
    const r = this.radius();
    for (let i = 0; i < this.x.length; i++) {
      const [px, py] = this.pixel([this.x[i], this.y[i]]);
      if (colors[4 * i + 3] === 0 || !(px >= LEFT && px <= LEFT + w && py >= TOP && py <= TOP + v)) continue;
      const fill = `rgb(${colors[4 * i]},${colors[4 * i + 1]},${colors[4 * i + 2]})`;
      const size = sizes ? 0.55 + (1.35 * sizes[i]) / 255 : 1;
      const d = outline(shapes?.[i] ?? 0, px, py, r * size);
      paths.push(s("path", { d, fill, "fill-opacity": (colors[4 * i + 3] / 255).toFixed(2) }));
    }
    return paths;
  }

  /** The picture as it is on the screen. */
  async png(): Promise<Blob | null> {
    const ratio = Math.max(2, devicePixelRatio);
    const canvas = h("canvas", { width: this.width * ratio, height: this.height * ratio });
    const context = canvas.getContext("2d");
    if (!context) return null;
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([this.svg()], { type: "image/svg+xml" }));
    await image.decode();
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  private shown(): Rect {
    return this.domain ?? this.whole;
  }

  private inner(): Point {
    return [Math.max(1, this.width - LEFT - RIGHT), Math.max(1, this.height - TOP - BOTTOM)];
  }

  private pixel([x, y]: Point): Point {
    const [x0, x1, y0, y1] = this.shown();
    const [w, v] = this.inner();
    return [LEFT + ((x - x0) / (x1 - x0)) * w, TOP + (1 - (y - y0) / (y1 - y0)) * v];
  }

  private value([px, py]: Point): Point {
    const [x0, x1, y0, y1] = this.shown();
    const [w, v] = this.inner();
    return [x0 + ((px - LEFT) / w) * (x1 - x0), y0 + (1 - (py - TOP) / v) * (y1 - y0)];
  }

  private radius(): number {
    const n = this.x.length;
    if (n <= 200) return 5;
    if (n <= 2_000) return 4;
    if (n <= 20_000) return 2.6;
    return n <= 200_000 ? 1.7 : 1;
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.root;
    if (clientWidth === 0) return;
    this.width = clientWidth;
    this.height = clientHeight;
    const [w, v] = this.inner();
    const ratio = Math.min(devicePixelRatio, 2);
    this.canvas.width = Math.round(w * ratio);
    this.canvas.height = Math.round(v * ratio);
    Object.assign(this.canvas.style, { left: `${LEFT}px`, top: `${TOP}px`, width: `${w}px`, height: `${v}px` });
    for (const svg of [this.underlay, this.overlay]) svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.draw();
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.width === 0) return;
    const ratio = this.canvas.width / this.inner()[0];
    const rim = this.x.length <= 5_000 ? theme().paper : null;
    this.painter.draw(this.shown(), this.radius() * ratio, rim);
    this.drawOverlay();
    this.root.dataset.drawn = String(this.x.length);
  }

  private drawOverlay(): void {
    const t = theme();
    const [w, v] = this.inner();
    const [x0, x1, y0, y1] = this.shown();
    const xs = scaleLinear([x0, x1], [LEFT, LEFT + w]);
    const ys = scaleLinear([y0, y1], [TOP + v, TOP]);
    const label = { fill: t.soft, "font-size": 11.5 };
    const axes = s("g", {});
    const xTicks = xs.ticks(Math.max(2, w / 90));
    const yTicks = ys.ticks(Math.max(2, v / 60));
    const xText = ticked(xs.tickFormat(Math.max(2, w / 90)), xTicks);
    const yText = ticked(ys.tickFormat(Math.max(2, v / 60)), yTicks);
    for (const tick of xTicks) {
      axes.append(s("line", { x1: xs(tick), x2: xs(tick), y1: TOP, y2: TOP + v, stroke: t.grid }));
      axes.append(s("text", { ...label, x: xs(tick), y: TOP + v + 17, "text-anchor": "middle" }, xText(tick)));
    }
    for (const tick of yTicks) {
      axes.append(s("line", { x1: LEFT, x2: LEFT + w, y1: ys(tick), y2: ys(tick), stroke: t.grid }));
      axes.append(s("text", { ...label, x: LEFT - 8, y: ys(tick) + 4, "text-anchor": "end" }, yText(tick)));
    }
    if (this.options.cross && x0 < 0 && x1 > 0) axes.append(s("line", { x1: xs(0), x2: xs(0), y1: TOP, y2: TOP + v, stroke: t.axis, "stroke-opacity": 0.6 }));
    if (this.options.cross && y0 < 0 && y1 > 0) axes.append(s("line", { x1: LEFT, x2: LEFT + w, y1: ys(0), y2: ys(0), stroke: t.axis, "stroke-opacity": 0.6 }));
    const title = { fill: t.ink, "font-size": 12.5, "text-anchor": "middle", "font-weight": 600 };
    axes.append(s("text", { ...title, x: LEFT + w / 2, y: TOP + v + 38 }, this.titles[0]));
    axes.append(s("text", { ...title, transform: `translate(14 ${TOP + v / 2}) rotate(-90)` }, this.titles[1]));
    const over = s("g", {});
    for (const line of this.lines) over.append(...this.limit(line));
    for (const polygon of this.polygons) over.append(this.polygon(polygon.map((p) => this.pixel(p))));
    if (this.drawing) over.append(this.polygon(this.drawing));
    over.append(...this.drawArrows());
    for (const [i, color] of [[this.pinned, t.mark], [this.hovered, t.ink]] as const) {
      // A sample with missing entries has a place among the scores and none in T² against Q.
      if (i === null || !Number.isFinite(this.x[i] + this.y[i])) continue;
      const [cx, cy] = this.pixel([this.x[i], this.y[i]]);
      over.append(s("circle", { cx, cy, r: this.radius() + 4, fill: "none", stroke: color, "stroke-width": 2 }));
    }
    this.underlay.replaceChildren(axes);
    this.overlay.replaceChildren(over);
  }

  private limit({ axis, at, label }: Line): SVGElement[] {
    const [w, v] = this.inner();
    const [px, py] = this.pixel([at, at]);
    const t = theme();
    const style = { stroke: t.mark, "stroke-dasharray": "5 4", "stroke-width": 1.25 };
    const text = { fill: t.mark, "font-size": 11 };
    if (axis === "x") {
      if (px < LEFT || px > LEFT + w) return [];
      return [s("line", { ...style, x1: px, x2: px, y1: TOP, y2: TOP + v }), s("text", { ...text, x: px + 5, y: TOP + 12 }, label)];
    }
    if (py < TOP || py > TOP + v) return [];
    return [
      s("line", { ...style, x1: LEFT, x2: LEFT + w, y1: py, y2: py }),
      s("text", { ...text, x: LEFT + w - 4, y: py - 5, "text-anchor": "end" }, label),
    ];
  }

  private polygon(corners: Point[]): SVGElement {
    const t = theme();
    const points = corners.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" ");
    return s("polygon", { points, fill: t.accent, "fill-opacity": 0.08, stroke: t.accent, "stroke-width": 1.25, "stroke-dasharray": "4 3" });
  }

  /** Arrows from 0; the longest reaches most of the way to the nearest edge. Names give way to each other. */
  private drawArrows(): SVGElement[] {
    const longest = Math.max(...this.arrows.map(({ tip }) => Math.hypot(...tip)), 0);
    if (longest === 0) return [];
    const t = theme();
    const [w, v] = this.inner();
    const [ox, oy] = this.pixel([0, 0]);
    const reach = 0.42 * Math.min(w, v);
    const taken: Rect[] = [];
    const found: SVGElement[] = [];
    for (const { name, tip } of this.arrows) {
      const [dx, dy] = [(tip[0] / longest) * reach, (-tip[1] / longest) * reach];
      const length = Math.hypot(dx, dy);
      if (length < 3) continue;
      const [ex, ey] = [ox + dx, oy + dy];
      const [ux, uy] = [dx / length, dy / length];
      const head = `M${ex} ${ey}L${ex - 8 * ux + 3.5 * uy} ${ey - 8 * uy - 3.5 * ux}L${ex - 8 * ux - 3.5 * uy} ${ey - 8 * uy + 3.5 * ux}Z`;
      found.push(s("line", { x1: ox, y1: oy, x2: ex - 6 * ux, y2: ey - 6 * uy, stroke: t.ink, "stroke-width": 1.25, "stroke-opacity": 0.75 }));
      found.push(s("path", { d: head, fill: t.ink, "fill-opacity": 0.85 }));
      const short = name.length > 26 ? `${name.slice(0, 17)}…${name.slice(-8)}` : name;
      const wide = 6.4 * short.length;
      const left = dx < 0 ? ex - wide - 4 : ex + 4;
      const box: Rect = [left, left + wide, ey + 6 * Math.sign(dy) - 7, ey + 6 * Math.sign(dy) + 7];
      const meets = taken.some((o) => box[0] < o[1] && o[0] < box[1] && box[2] < o[3] && o[2] < box[3]);
      if (meets || box[0] < 2 || box[1] > this.width - 2) continue;
      taken.push(box);
      const text = { x: dx < 0 ? ex - 4 : ex + 4, y: ey + 6 * Math.sign(dy) + 4, "text-anchor": dx < 0 ? "end" : "start" };
      const style = { fill: t.ink, stroke: t.paper, "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round" };
      found.push(s("text", { ...text, ...style, "font-size": 11.5, "font-weight": 600, direction: "ltr" }, short));
    }
    return found;
  }

  private listen(): void {
    let from: { at: Point; domain: Rect; moved: boolean } | null = null;
    const pointers = new Map<number, Point>();
    const at = (event: PointerEvent | WheelEvent): Point => {
      const box = this.root.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.root.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      from = { at: at(event), domain: this.shown(), moved: false };
      if (this.mode !== "pan") this.drawing = [at(event)];
    });
    this.root.addEventListener("pointermove", (event) => {
      const here = at(event);
      if (pointers.size === 2 && pointers.has(event.pointerId)) return this.pinch(pointers, event.pointerId, here);
      if (!from) return this.hover(this.nearest(here));
      if (Math.hypot(here[0] - from.at[0], here[1] - from.at[1]) > 3) from.moved = true;
      if (!from.moved) return;
      if (this.mode === "pan") {
        const [w, v] = this.inner();
        const [x0, x1, y0, y1] = from.domain;
        const dx = ((here[0] - from.at[0]) / w) * (x1 - x0);
        const dy = ((here[1] - from.at[1]) / v) * (y1 - y0);
        this.domain = [x0 - dx, x1 - dx, y0 + dy, y1 + dy];
      } else if (this.mode === "box") {
        const [a, b] = from.at;
        this.drawing = [[a, b], [here[0], b], here, [a, here[1]]];
      } else this.drawing?.push(here);
      this.redraw();
    });
    const end = (event: PointerEvent) => {
      pointers.delete(event.pointerId);
      const start = from;
      const drawn = this.drawing;
      from = null;
      this.drawing = null;
      if (!start || event.type === "pointercancel") return this.redraw();
      if (!start.moved) this.options.onpick(this.nearest(at(event)));
      else if (this.mode === "pan") this.settled();
      else if (drawn && drawn.length > 2) this.options.onselect(drawn.map((p) => this.value(p)));
      this.redraw();
    };
    this.root.addEventListener("pointerup", end);
    this.root.addEventListener("pointercancel", end);
    this.root.addEventListener("pointerleave", () => this.hover(null));
    this.root.addEventListener("dblclick", () => {
      this.zoomTo(null);
      this.settled();
    });
    this.root.addEventListener("wheel", (event) => {
      // The page scrolls as it should unless the plot is being worked with.
      if (!event.ctrlKey && document.activeElement !== this.root) return;
      event.preventDefault();
      this.zoomBy(Math.exp(0.0015 * event.deltaY * (event.deltaMode === 1 ? 16 : 1)), this.value(at(event)));
    }, { passive: false });
    this.root.addEventListener("keydown", (event) => this.key(event));
  }

  private pinch(pointers: Map<number, Point>, id: number, here: Point): void {
    const other = [...pointers].find(([key]) => key !== id)?.[1];
    const before = pointers.get(id);
    pointers.set(id, here);
    if (!other || !before) return;
    const apart = (p: Point) => Math.hypot(p[0] - other[0], p[1] - other[1]);
    this.zoomBy(apart(before) / Math.max(apart(here), 1), this.value([(here[0] + other[0]) / 2, (here[1] + other[1]) / 2]));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step: Record<string, Point> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (step[event.key]) {
      this.hover(this.next(step[event.key]), true);
    } else if (event.key === "Enter" || event.key === " ") {
      this.options.onpick(this.hovered);
    } else if (event.key === "+" || event.key === "=") this.zoomBy(0.8);
    else if (event.key === "-") this.zoomBy(1.25);
    else if (event.key === "0") {
      this.zoomTo(null);
      this.settled();
    } else return;
    event.preventDefault();
  }

  private settled(): void {
    this.options.onzoom(this.domain);
  }

  private hover(i: number | null, spoken = false): void {
    if (i === this.hovered) return;
    this.hovered = i;
    this.tip.hidden = i === null;
    if (i !== null) {
      this.tip.textContent = this.options.describe(i);
      const [px, py] = this.pixel([this.x[i], this.y[i]]);
      const beyond = px > this.width * 0.6;
      Object.assign(this.tip.style, { left: beyond ? "" : `${px + 12}px`, right: beyond ? `${this.width - px + 12}px` : "", top: `${Math.max(4, py - 14)}px` });
      if (spoken) this.live.textContent = this.options.describe(i);
    }
    this.options.onhover(i);
    this.redraw();
  }

  /** The visible point nearest to a place, if it is near. */
  private nearest(here: Point): number | null {
    const [low, high] = [this.value([here[0] - 14, here[1] + 14]), this.value([here[0] + 14, here[1] - 14])];
    let best: number | null = null;
    let least = 14;
    for (const i of this.within(low, high)) {
      const [px, py] = this.pixel([this.x[i], this.y[i]]);
      const off = Math.hypot(px - here[0], py - here[1]);
      if (this.look.colors[4 * i + 3] > 0 && off < least) [best, least] = [i, off];
    }
    return best;
  }

  /** The nearest point in a direction, from the hovered one or the middle. */
  private next([dx, dy]: Point): number | null {
    const [w, v] = this.inner();
    const from = this.hovered ?? this.pinned;
    const [cx, cy] = from === null ? [LEFT + w / 2, TOP + v / 2] : this.pixel([this.x[from], this.y[from]]);
    let best = from;
    let least = Infinity;
    const [x0, x1, y0, y1] = this.shown();
    for (const i of this.within([x0, y0], [x1, y1])) {
      if (i === from || this.look.colors[4 * i + 3] === 0) continue;
      const [px, py] = this.pixel([this.x[i], this.y[i]]);
      const along = (px - cx) * dx + (py - cy) * dy;
      const aside = Math.abs((px - cx) * dy) + Math.abs((py - cy) * dx);
      if (along > 0 && along + 2 * aside < least) [best, least] = [i, along + 2 * aside];
    }
    return best;
  }

  private within(low: Point, high: Point): number[] {
    if (!this.index) {
      this.index = new KDBush(this.x.length, 64, Float64Array);
      // Points that are nowhere are out of reach; what is no number would spoil the order.
      const known = (value: number) => (Number.isFinite(value) ? value : Number.MAX_VALUE);
      for (let i = 0; i < this.x.length; i++) this.index.add(known(this.x[i]), known(this.y[i]));
      this.index.finish();
    }
    return this.index.range(low[0], low[1], high[0], high[1]);
  }
}

/** How ticks are written: with an exponent where plain digits have no room. */
function ticked(plain: (value: number) => string, ticks: number[]): (value: number) => string {
  const long = ticks.some((tick) => plain(tick).length > 8);
  return long ? (value) => (value === 0 ? "0" : String(Number(value.toPrecision(3)))) : plain;
}

type Point2<T> = [T, T];
