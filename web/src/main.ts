// The explorer: reads the page's data, builds its parts, and keeps them in step with the state.

import { Data, numbers } from "./data";
import { card, download, h, name, percent, select } from "./dom";
import { FeaturesPanel } from "./features";
import { eigenimages } from "./images";
import { Inspector } from "./inspector";
import { choices, marks } from "./marks";
import { PairsPanel } from "./pairs";
import type { Marks } from "./points";
import { type Mode, Scatter } from "./scatter";
import { association, ScreePanel } from "./scree";
import { Store } from "./state";
import * as words from "./trust";
import type { PageData } from "./types";

const KEYS: [string, string][] = [
  ["/", "search samples"],
  ["P · L · B", "pan, lasso, box"],
  ["← ↑ → ↓", "walk from point to point (in a plot)"],
  ["Enter", "pick the point"],
  ["+ − 0", "zoom in, out, all (in a plot)"],
  ["A", "arrows of features on and off"],
  ["Z · Shift Z", "undo, redo"],
  ["R", "reset"],
  ["Esc", "let go of selection and sample"],
  ["T", "light or dark"],
];

/** Beyond this number of samples not everything is drawn at once. */
const MANY = 100_000;

class App {
  private readonly store: Store;
  private readonly scores: Scatter | null = null;
  private readonly monitoring: Scatter | null = null;
  private readonly inspector: Inspector;
  private readonly scree: ScreePanel;
  private readonly features: FeaturesPanel;
  private readonly pairs: PairsPanel | null;
  private readonly selects: { key: "x" | "y" | "color" | "size" | "shape"; input: HTMLSelectElement }[] = [];
  private readonly modes: { mode: Mode; button: HTMLButtonElement }[] = [];
  private readonly help: HTMLDialogElement;
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private readonly search: HTMLInputElement;
  private waiting: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly data: Data,
    root: HTMLElement,
  ) {
    const { samples, features } = data.page;
    const usual = {
      x: 0, y: Math.min(1, data.k - 1), color: samples?.color === null || !samples ? "" : `c${samples.color}`, size: "", shape: "",
      arrows: features.loadings.length > 0 && features.names.length <= 60 && data.k > 1 && data.n <= 200_000,
      top: Math.min(8, features.names.length), sort: "", find: "", rules: [] as string[], selection: null, other: null, only: false, pinned: null, zoom: null,
    };
    this.store = new Store(usual, () => this.update());
    if (samples) this.scores = this.plane("Scores: samples in the plane of two components. Arrow keys walk from point to point.", true);
    if (samples?.monitoring) this.monitoring = this.plane("T² against Q. Arrow keys walk from point to point.", false);
    this.inspector = new Inspector(data, this.store);
    this.scree = new ScreePanel(data, this.store);
    this.features = new FeaturesPanel(data, this.store);
    this.pairs = samples && data.k > 2 ? new PairsPanel(data, this.store) : null;
    this.help = this.keysDialog();
    this.undo = h("button", { onclick: () => this.store.undo(), title: "Undo (Z)" }, "Undo");
    this.redo = h("button", { onclick: () => this.store.redo(), title: "Redo (Shift Z)" }, "Redo");
    this.search = h("input", { type: "search", placeholder: "Find a sample", "aria-label": "Find a sample", id: "find-sample", list: "found" });
    root.replaceChildren(this.header(), this.main(), this.footer(), this.help);
    document.addEventListener("keydown", (event) => this.key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.update());
    this.update();
  }

  /** A plane of samples; the main one selects, both pick. */
  private plane(label: string, isMain: boolean): Scatter {
    const renderer = /renderer=(webgl2|canvas)/.exec(location.search + location.hash)?.[1] as "webgl2" | "canvas" | undefined;
    return new Scatter({
      label,
      renderer: renderer ?? null,
      cross: isMain,
      onhover: () => undefined,
      onpick: (i) => this.store.set({ pinned: i }),
      onselect: (points) => {
        const { x, y } = this.store.state;
        if (isMain) this.store.set({ selection: { kind: "polygon", x, y, points } });
      },
      onzoom: (zoom) => {
        if (isMain) this.store.set({ zoom }, true);
      },
      describe: (i) => this.describe(i),
    });
  }

  private describe(i: number): string {
    const column = this.data.page.samples?.columns[this.data.page.samples.color ?? -1];
    const group = column?.groups?.[numbers(column.values)[i]];
    return group ? `${this.data.name(i)} · ${group}` : this.data.name(i);
  }

  private header(): HTMLElement {
    const { page } = this.data;
    const copy = h("button", { title: "Copy a link that shows this view" }, "Copy link");
    copy.addEventListener("click", () => {
      void navigator.clipboard?.writeText(this.store.link()).then(() => {
        copy.textContent = "Copied";
        setTimeout(() => (copy.textContent = "Copy link"), 1500);
      });
    });
    const tools = h(
      "div", { class: "tools" },
      this.undo, this.redo,
      h("button", { onclick: () => this.store.reset(), title: "Reset everything (R)" }, "Reset"),
      copy,
      h("button", { onclick: () => this.turnTheme(), title: "Light or dark (T)", id: "theme" }, "Theme"),
      h("button", { onclick: () => this.help.showModal(), title: "Keys (?)" }, "Keys"),
    );
    const facts = h("dl", { class: "facts" }, ...page.facts.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, name(value)))));
    return h(
      "header", {},
      h("a", { class: "skip", href: "#content" }, "Skip to the content"),
      h("div", { class: "top" }, h("div", {}, h("h1", {}, name(page.title)), h("p", { class: "subtitle" }, name(page.subtitle))), tools),
      facts,
      words.warnings(this.data),
    );
  }

  private main(): HTMLElement {
    const { page } = this.data;
    const pair = (...parts: (HTMLElement | null | false | undefined)[]) => {
      const there = parts.filter((part) => part);
      return there.length > 0 ? h("div", { class: there.length > 1 ? "two" : "one" }, ...there) : null;
    };
    const linear = page.features.loadings.length > 0;
    return h(
      "main", { id: "content" },
      this.stage(),
      pair(page.scree && this.scree.root, linear ? this.features.circle : null),
      linear && this.features.root,
      pair(this.monitoring && this.monitoringCard(this.monitoring), this.pairs?.root),
      association(this.data),
      eigenimages(this.data),
      pair(words.trust(this.data), words.components(this.data)),
      words.provenance(this.data),
    );
  }

  private stage(): HTMLElement | null {
    if (!this.scores) return null;
    const scores = this.scores;
    const { data, store } = this;
    const axes = data.page.components.map((one, j): [string, string] => [String(j), one.share === null ? one.name : `${one.name} · ${percent(one.share)}`]);
    const picker = (key: (typeof this.selects)[number]["key"], label: string, options: [string, string][]) => {
      const take = (value: string) => store.set(key === "x" || key === "y" ? { [key]: Number(value), zoom: null } : { [key]: value });
      const made = select(label, `by-${key}`, options, take);
      this.selects.push({ key, input: made.input });
      return made.root;
    };
    const mode = (which: Mode, text: string) => {
      const button = h("button", { onclick: () => this.turnMode(which), title: `${text} (${text[0]})` }, text);
      this.modes.push({ mode: which, button });
      return button;
    };
    const linear = data.page.features.loadings.length > 0 && data.k > 1;
    const arrows = h("button", { id: "arrows", title: "Arrows of features (A)", onclick: () => store.set({ arrows: !store.state.arrows }) }, "Arrows");
    const save = async () => {
      const image = await scores.png();
      if (image) download("scores.png", image);
    };
    const controls = h(
      "div", { class: "controls" },
      picker("x", "Across", axes), data.k > 1 ? picker("y", "Up", axes) : null,
      picker("color", "Colour", choices(data, "color")), picker("size", "Size", choices(data, "size")),
      choices(data, "shape").length > 1 ? picker("shape", "Shape", choices(data, "shape")) : null,
    );
    const bar = h(
      "div", { class: "bar-tools" },
      h("div", { class: "segments", role: "group", "aria-label": "What dragging does" }, mode("pan", "Pan"), mode("lasso", "Lasso"), mode("box", "Box")),
      h("div", { class: "segments", role: "group", "aria-label": "Zoom" },
        h("button", { onclick: () => scores.zoomBy(0.7), "aria-label": "Zoom in" }, "+"),
        h("button", { onclick: () => scores.zoomBy(1.4), "aria-label": "Zoom out" }, "−"),
        h("button", { onclick: () => store.set({ zoom: null }) }, "All")),
      linear ? arrows : null,
      h("span", { class: "space" }),
      this.searchBox(),
      h("button", { onclick: () => download("scores.svg", new Blob([scores.svg()], { type: "image/svg+xml" })) }, "SVG"),
      h("button", { onclick: () => void save() }, "PNG"),
    );
    return h("section", { class: "card stage", "aria-labelledby": "stage-title" }, h("h2", { id: "stage-title" }, "Samples"), controls, h("div", { class: "split" }, h("div", {}, bar, scores.root), this.inspector.root));
  }

  private searchBox(): HTMLElement {
    const list = h("datalist", { id: "found" });
    const matches = (text: string): number[] => {
      const wanted = text.trim().toLowerCase();
      const found: number[] = [];
      for (let i = 0; wanted && i < this.data.n && found.length < 12; i++) if (this.data.name(i).toLowerCase().includes(wanted)) found.push(i);
      return found;
    };
    this.search.addEventListener("input", () => {
      list.replaceChildren(...matches(this.search.value).map((i) => h("option", { value: this.data.name(i) })));
    });
    this.search.addEventListener("change", () => {
      const wanted = this.search.value.trim().toLowerCase();
      const found = matches(this.search.value);
      const best = found.find((i) => this.data.name(i).toLowerCase() === wanted) ?? found[0];
      this.search.setAttribute("aria-invalid", String(wanted !== "" && best === undefined));
      if (best === undefined) return;
      this.store.set({ pinned: best });
      this.scores?.reveal(best);
    });
    return h("span", {}, this.search, list);
  }

  private monitoringCard(plot: Scatter): HTMLElement {
    return card("monitoring", "Which samples are unusual?", plot.root, h("p", { class: "hint" }, this.data.page.samples?.monitoring?.caption ?? ""));
  }

  private footer(): HTMLElement {
    return h("footer", {}, "One file, no network: everything in this page came with it, and nothing leaves it.");
  }

  private keysDialog(): HTMLDialogElement {
    const dialog = h("dialog", { "aria-labelledby": "keys-title" });
    dialog.append(
      h("h2", { id: "keys-title" }, "Keys"),
      h("dl", { class: "pairs" }, ...KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
      h("button", { onclick: () => dialog.close() }, "Close"),
    );
    return dialog;
  }

  private turnMode(mode: Mode): void {
    if (this.scores) this.scores.mode = mode;
    for (const one of this.modes) one.button.setAttribute("aria-pressed", String(one.mode === mode));
    if (this.scores) this.scores.root.dataset.mode = mode;
  }

  private turnTheme(): void {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    this.update();
  }

  private update(): void {
    const { data, store } = this;
    const { state } = store;
    state.x = Math.min(Math.max(0, state.x), data.k - 1);
    state.y = Math.min(Math.max(0, state.y), data.k - 1);
    for (const { key, input } of this.selects) {
      const value = String(state[key]);
      if (key === "color" && ![...input.options].some((option) => option.value === value)) {
        const feature = data.page.features.names[Number(value.slice(1))];
        if (feature) input.append(h("option", { value }, feature));
      }
      input.value = value;
    }
    this.turnMode(this.scores?.mode ?? "pan");
    document.getElementById("arrows")?.setAttribute("aria-pressed", String(state.arrows));
    this.undo.disabled = !store.canUndo;
    this.redo.disabled = !store.canRedo;
    const look = marks(data, state);
    this.drawScores(look);
    this.inspector.update();
    const rest = () => {
      this.drawMonitoring(look);
      this.pairs?.update(look);
      this.scree.update();
      this.features.update();
    };
    // Of many samples the plane comes first, the rest when it is on the screen.
    clearTimeout(this.waiting);
    if (data.n <= MANY) rest();
    else this.waiting = setTimeout(rest, 50);
  }

  private drawScores(look: Marks): void {
    const { data, scores } = this;
    const { state } = this.store;
    if (!scores) return;
    const isLine = data.k < 2;
    scores.points(data.scores(state.x), isLine ? data.scores(1) : data.scores(state.y), [data.axis(state.x), isLine ? "" : data.axis(state.y)]);
    scores.marks(look);
    scores.zoomTo(state.zoom);
    scores.pin(state.pinned);
    const outlines = [state.selection, state.other].flatMap((one) => (one?.kind === "polygon" && one.x === state.x && one.y === state.y ? [one.points] : []));
    scores.decorate([], isLine ? [] : this.features.arrows(), outlines);
  }

  private drawMonitoring(look: Marks): void {
    const { data, monitoring } = this;
    const { state } = this.store;
    const found = data.page.samples?.monitoring;
    if (monitoring && found) {
      monitoring.points(numbers(found.tSquared), numbers(found.q), ["Hotelling’s T²", "Q"]);
      monitoring.marks(look);
      monitoring.pin(state.pinned);
      const [t, q] = found.limits;
      monitoring.decorate(
        [...(t === null ? [] : [{ axis: "x" as const, at: t, label: found.label }]), ...(q === null ? [] : [{ axis: "y" as const, at: q, label: found.label }])], [], [],
      );
    }
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.key === "Escape" && !this.help.open) this.store.set({ selection: null, other: null, only: false, pinned: null });
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || this.help.open || event.altKey) return;
    const isUndo = event.key.toLowerCase() === "z";
    if ((event.ctrlKey || event.metaKey) && !isUndo) return;
    const actions: Record<string, () => void> = {
      "/": () => this.search.focus(),
      "?": () => this.help.showModal(),
      p: () => this.turnMode("pan"),
      l: () => this.turnMode("lasso"),
      b: () => this.turnMode("box"),
      a: () => this.store.set({ arrows: !this.store.state.arrows }),
      r: () => this.store.reset(),
      t: () => this.turnTheme(),
      z: () => (event.shiftKey ? this.store.redo() : this.store.undo()),
    };
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

function start(): void {
  const root = document.getElementById("app");
  const text = document.getElementById("data")?.textContent;
  if (root && text) new App(new Data(JSON.parse(text) as PageData), root);
}

// Arrays beyond the first picture's come after this script.
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
