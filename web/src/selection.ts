// Which samples are selected, and what separates them from others.

import { type Data, numbers } from "./data";
import type { Selection } from "./state";
import type { Numbers, Point } from "./types";

/** 1 for every selected sample. */
export function members(data: Data, selection: Selection): Uint8Array {
  const mask = new Uint8Array(data.n);
  if (selection.kind === "group") {
    const column = data.page.samples?.columns[selection.column];
    if (!column) return mask;
    const values = numbers(column.values);
    for (let i = 0; i < data.n; i++) mask[i] = values[i] === selection.group ? 1 : 0;
    return mask;
  }
  const [x, y] = [data.scores(selection.x), data.scores(selection.y)];
  const { points } = selection;
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  for (let i = 0; i < data.n; i++) {
    if (x[i] >= x0 && x[i] <= x1 && y[i] >= y0 && y[i] <= y1 && inside(points, x[i], y[i])) mask[i] = 1;
  }
  return mask;
}

/** Whether a place is inside a polygon: a ray from it crosses the outline an odd number of times. */
function inside(points: Point[], x: number, y: number): boolean {
  let found = false;
  for (let a = 0, b = points.length - 1; a < points.length; b = a++) {
    const [ax, ay] = points[a];
    const [bx, by] = points[b];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) found = !found;
  }
  return found;
}

export interface Difference {
  name: string;
  /** The index of the feature, or −1 − j for component j. */
  of: number;
  here: number;
  there: number;
  /** The difference of the means in units of the pooled standard deviation. */
  size: number;
}

/** Standardised differences of means, largest first: of features where the page holds them, else of components. */
export function differences(data: Data, here: Uint8Array, there: Uint8Array): Difference[] {
  const { features, components } = data.page;
  const found: Difference[] = [];
  const look = (name: string, of: number, values: Numbers) => {
    const a = moments(values, here);
    const b = moments(values, there);
    const spread = Math.sqrt((a.squares + b.squares) / Math.max(a.n + b.n - 2, 1));
    const size = spread > 0 ? (a.mean - b.mean) / spread : a.mean === b.mean ? 0 : Infinity * Math.sign(a.mean - b.mean);
    if (a.n > 0 && b.n > 0) found.push({ name, of, here: a.mean, there: b.mean, size });
  };
  if (features.values.length > 0) features.values.forEach((ref, f) => look(features.names[f], f, numbers(ref)));
  else components.forEach((component, j) => look(component.name, -1 - j, data.scores(j)));
  return found.sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
}

function moments(values: Numbers, mask: Uint8Array): { n: number; mean: number; squares: number } {
  let n = 0;
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    if (mask[i] && Number.isFinite(values[i])) {
      n += 1;
      sum += values[i];
    }
  }
  const mean = sum / n;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    if (mask[i] && Number.isFinite(values[i])) squares += (values[i] - mean) ** 2;
  }
  return { n, mean, squares };
}

export function size(mask: Uint8Array): number {
  let n = 0;
  for (const one of mask) n += one;
  return n;
}

/** Everything but these. */
export function rest(mask: Uint8Array): Uint8Array {
  return mask.map((one) => 1 - one);
}

/** The samples with the closest scores on all components in the page. */
export function neighbors(data: Data, i: number, most: number): { i: number; distance: number }[] {
  const squares = new Float64Array(data.n);
  for (let j = 0; j < data.k; j++) {
    const scores = data.scores(j);
    for (let o = 0; o < data.n; o++) squares[o] += (scores[o] - scores[i]) ** 2;
  }
  const found: { i: number; distance: number }[] = [];
  for (let o = 0; o < data.n; o++) {
    if (o === i || !Number.isFinite(squares[o])) continue;
    if (found.length === most && squares[o] >= found[most - 1].distance) continue;
    found.push({ i: o, distance: squares[o] });
    found.sort((a, b) => a.distance - b.distance);
    if (found.length > most) found.pop();
  }
  return found.map(({ i: o, distance }) => ({ i: o, distance: Math.sqrt(distance) }));
}

/** The selected samples as CSV: number, name, columns, scores, T² and Q, features. */
export function csvOf(data: Data, mask: Uint8Array): string {
  const { samples, components, features } = data.page;
  if (!samples) return "";
  const quoted = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const columns: [string, (i: number) => string][] = [["sample", (i) => String(data.number(i))]];
  if (samples.named) columns.push(["name", (i) => data.name(i)]);
  const add = (name: string, values: Numbers) => columns.push([name, (i) => (Number.isNaN(values[i]) ? "" : String(values[i]))]);
  for (const column of samples.columns) {
    const { groups } = column;
    const values = numbers(column.values);
    if (groups) columns.push([column.name, (i) => groups[values[i]] ?? ""]);
    else add(column.name, values);
  }
  components.forEach((component, j) => add(component.name, data.scores(j)));
  if (samples.monitoring) {
    add("T²", numbers(samples.monitoring.tSquared));
    add("Q", numbers(samples.monitoring.q));
  }
  features.values.forEach((ref, f) => add(features.names[f], numbers(ref)));
  const lines = [columns.map(([name]) => quoted(name)).join(",")];
  for (let i = 0; i < data.n; i++) if (mask[i]) lines.push(columns.map(([, cell]) => quoted(cell(i))).join(","));
  return `${lines.join("\n")}\n`;
}
