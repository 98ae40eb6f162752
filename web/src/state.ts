// What is shown, its history, and the link that restores it.

import type { Point, Rect } from "./types";

/** Samples: those inside a polygon of a plane, or of a group. */
export type Selection =
  | { kind: "polygon"; x: number; y: number; points: Point[] }
  | { kind: "group"; column: number; group: number };

export interface State {
  x: number;
  y: number;
  /** `c0` a column, `f3` a feature, `s2` a component, `t` T², `q` Q, empty for none. */
  color: string;
  size: string;
  shape: string;
  arrows: boolean;
  top: number;
  sort: string;
  find: string;
  rules: string[];
  selection: Selection | null;
  other: Selection | null;
  only: boolean;
  pinned: number | null;
  zoom: Rect | null;
}

const PRECISE = 6;

function rounded(_: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(PRECISE)) : value;
}

export class Store {
  private past: State[] = [];
  private future: State[] = [];
  state: State;

  constructor(
    private readonly usual: State,
    private readonly changed: (before: State) => void,
  ) {
    this.state = { ...usual, ...this.linked() };
  }

  /** Changes the state; a step that can be undone, unless it is a small one. */
  set(change: Partial<State>, small = false): void {
    const before = this.state;
    if (!small) {
      this.past.push(before);
      this.future = [];
    }
    this.to({ ...before, ...change });
  }

  undo(): void {
    const last = this.past.pop();
    if (!last) return;
    this.future.push(this.state);
    this.to(last);
  }

  redo(): void {
    const next = this.future.pop();
    if (!next) return;
    this.past.push(this.state);
    this.to(next);
  }

  reset(): void {
    this.set(this.usual);
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  /** The address that shows what is shown now. */
  link(): string {
    return location.href.split("#")[0] + this.fragment();
  }

  private to(state: State): void {
    const before = this.state;
    this.state = state;
    this.changed(before);
    try {
      history.replaceState(null, "", this.fragment() || location.pathname + location.search);
    } catch {
      // A page inside a notebook has no address of its own.
    }
  }

  private fragment(): string {
    const parts: string[] = [];
    for (const key of Object.keys(this.usual) as (keyof State)[]) {
      const text = JSON.stringify(this.state[key], rounded);
      if (text !== JSON.stringify(this.usual[key], rounded)) parts.push(`${key}=${encodeURIComponent(text)}`);
    }
    return parts.length > 0 ? `#${parts.join("&")}` : "";
  }

  /** What the fragment of the address says, as far as it has the right types. */
  private linked(): Partial<State> {
    const found: Record<string, unknown> = {};
    for (const part of location.hash.slice(1).split("&")) {
      const [key, text] = part.split("=");
      if (!(key in this.usual) || !text) continue;
      try {
        const value: unknown = JSON.parse(decodeURIComponent(text));
        if (fits(key as keyof State, value, this.usual)) found[key] = value;
      } catch {
        // A link that was cut short shows what is left of it.
      }
    }
    return found as Partial<State>;
  }
}

function fits(key: keyof State, value: unknown, usual: State): boolean {
  const isNumber = (v: unknown) => typeof v === "number" && Number.isFinite(v);
  switch (key) {
    case "rules":
      return Array.isArray(value) && value.every((v) => typeof v === "string");
    case "zoom":
      return value === null || (Array.isArray(value) && value.length === 4 && value.every(isNumber));
    case "pinned":
      return value === null || isNumber(value);
    case "selection":
    case "other":
      return value === null || isSelection(value);
    default:
      return typeof value === typeof usual[key];
  }
}

function isSelection(value: unknown): boolean {
  const found = value as Partial<{ kind: string; points: unknown; column: unknown; group: unknown; x: unknown; y: unknown }>;
  if (found.kind === "group") return Number.isInteger(found.column) && Number.isInteger(found.group);
  const isPoint = (p: unknown) => Array.isArray(p) && p.length === 2 && p.every((v) => typeof v === "number");
  return found.kind === "polygon" && Number.isInteger(found.x) && Number.isInteger(found.y) && Array.isArray(found.points) && found.points.every(isPoint);
}
