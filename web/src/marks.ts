// What colours, sizes and shapes samples, by any of what is known of them.

import { type Data, extent, numbers } from "./data";
import { members } from "./selection";
import type { Selection, State } from "./state";
import { rgb, sequential, SHAPES, theme } from "./theme";
import type { Marks } from "./points";
import type { Numbers } from "./types";

export interface Channel {
  name: string;
  values: Numbers;
  groups: string[] | null;
  /** The column that holds the groups. */
  column: number;
}

/** What a word of the state stands for. */
export function channel(data: Data, word: string): Channel | null {
  const index = Number(word.slice(1));
  const { samples, features, components } = data.page;
  if (!samples || word === "") return null;
  const of = (name: string, values: Numbers): Channel => ({ name, values, groups: null, column: -1 });
  const column = samples.columns[index];
  switch (word[0]) {
    case "c":
      return column ? { name: column.name, values: numbers(column.values), groups: column.groups, column: index } : null;
    case "f":
      return features.values[index] ? of(features.names[index], numbers(features.values[index])) : null;
    case "s":
      return components[index] ? of(components[index].name, data.scores(index)) : null;
    case "t":
      return samples.monitoring ? of("T²", numbers(samples.monitoring.tSquared)) : null;
    case "q":
      return samples.monitoring ? of("Q", numbers(samples.monitoring.q)) : null;
    default:
      return null;
  }
}

/** All that can colour (`groups` and numbers), size (numbers) or shape (groups). */
export function choices(data: Data, use: "color" | "size" | "shape"): [string, string][] {
  const { samples, features, components } = data.page;
  const found: [string, string][] = [["", "none"]];
  samples?.columns.forEach((column, index) => {
    const isGroups = column.groups !== null;
    if (use === "color" || isGroups === (use === "shape")) found.push([`c${index}`, column.name]);
  });
  if (use === "shape" || !samples) return found;
  components.forEach((component, j) => found.push([`s${j}`, component.name]));
  if (samples.monitoring) found.push(["t", "T²"], ["q", "Q"]);
  // Lists of thousands help nobody: the table of features colours by any of them.
  const most = use === "color" ? 200 : 50;
  if (features.values.length > 0) features.names.slice(0, most).forEach((name, f) => found.push([`f${f}`, name]));
  return found;
}

/** The colour of a group on the paper there is. */
export function groupColor(group: number): string {
  const { groups } = theme();
  return groups[group % groups.length];
}

/** The marks of all samples. Those beside a selection fade, or go. */
export function marks(data: Data, state: State): Marks {
  const { n } = data;
  const packed = new Uint32Array(n);
  const opaque = alpha(n);
  paint(packed, channel(data, state.color), opaque);
  fade(data, state, packed, opaque);
  const by = channel(data, state.shape) ?? channel(data, state.color);
  const shapes = by?.groups && n <= 200_000 ? Uint8Array.from(by.values, (g) => (Number.isNaN(g) ? 0 : g % SHAPES)) : null;
  const sizes = channel(data, state.size);
  return { colors: new Uint8Array(packed.buffer), shapes, sizes: sizes && shares(sizes.values) };
}

function alpha(n: number): number {
  if (n <= 5_000) return 230;
  if (n <= 50_000) return 170;
  return n <= 200_000 ? 120 : 90;
}

/** Bytes in the order red, green, blue, alpha. */
function pack(color: number, opaque: number): number {
  return ((opaque << 24) | ((color & 255) << 16) | (color & 0xff00) | (color >> 16)) >>> 0;
}

function paint(packed: Uint32Array, by: Channel | null, opaque: number): void {
  const look = theme();
  const other = pack(rgb(look.other), opaque);
  if (!by) {
    packed.fill(pack(rgb(look.groups[0]), opaque));
  } else if (by.groups) {
    const colors = by.groups.map((_, group) => pack(rgb(groupColor(group)), opaque));
    for (let i = 0; i < packed.length; i++) packed[i] = colors[by.values[i]] ?? other;
  } else {
    const [low, high] = extent(by.values);
    const steps = Array.from({ length: 256 }, (_, step) => pack(sequential(step / 255, look.dark), opaque));
    for (let i = 0; i < packed.length; i++) packed[i] = steps[Math.round((255 * (by.values[i] - low)) / (high - low))] ?? other;
  }
}

function fade(data: Data, state: State, packed: Uint32Array, opaque: number): void {
  const shown = [state.selection, state.other].filter((one): one is Selection => one !== null).map((one) => members(data, one));
  if (shown.length === 0) return;
  const faded = state.only ? 0 : Math.max(12, Math.round(opaque * 0.14));
  for (let i = 0; i < packed.length; i++) {
    if (!shown.some((mask) => mask[i])) packed[i] = ((packed[i] & 0xffffff) | (faded << 24)) >>> 0;
  }
}

function shares(values: Numbers): Uint8Array<ArrayBuffer> {
  const [low, high] = extent(values);
  return Uint8Array.from(values, (v) => (Number.isFinite(v) ? (255 * (v - low)) / (high - low) : 0));
}
