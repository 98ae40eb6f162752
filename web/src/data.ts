// Arrays are decoded when they are first looked at, names when one is first shown.

import type { ArrayRef, Numbers, PageData, Point } from "./types";

function bytesOf(base64: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native) return native.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function decode(ref: ArrayRef): Numbers {
  const bytes = bytesOf(document.getElementById(ref.id)?.textContent ?? "");
  if (ref.form === "f32") return new Float32Array(bytes.buffer, 0, ref.n);
  if (ref.form === "f64") return new Float64Array(bytes.buffer, 0, ref.n);
  const codes = ref.form === "u8" ? bytes : new Uint16Array(bytes.buffer, 0, ref.n);
  const missing = ref.form === "u8" ? 255 : 65535;
  const values = new Float64Array(ref.n);
  for (let i = 0; i < ref.n; i++) values[i] = codes[i] === missing ? NaN : ref.first + ref.step * codes[i];
  return values;
}

const decoded = new Map<string, Numbers>();

/** The numbers of an array of the page. */
export function numbers(ref: ArrayRef): Numbers {
  let found = decoded.get(ref.id);
  if (!found) decoded.set(ref.id, (found = decode(ref)));
  return found;
}

/** What the page holds, with the few things that are looked up often. */
export class Data {
  readonly n: number;
  private readonly zeros: Numbers;
  private sampleNames: string[] | null = null;

  constructor(readonly page: PageData) {
    this.n = page.samples?.n ?? 0;
    this.zeros = new Float32Array(this.n);
  }

  get k(): number {
    return this.page.components.length;
  }

  /** The score of every sample on component j; zeros beside the last one. */
  scores(j: number): Numbers {
    const ref = this.page.samples?.scores[j];
    return ref ? numbers(ref) : this.zeros;
  }

  /** What a sample is called: its name, or its number in the whole data. */
  name(i: number): string {
    const samples = this.page.samples;
    if (samples?.named) {
      this.sampleNames ??= JSON.parse(document.getElementById("names")?.textContent ?? "[]") as string[];
      if (this.sampleNames[i]) return this.sampleNames[i];
    }
    return `sample ${this.number(i)}`;
  }

  /** A sample's place in the whole data, counted from 1. */
  number(i: number): number {
    const refs = this.page.samples?.numbers;
    return refs ? numbers(refs)[i] : i + 1;
  }

  axis(j: number): string {
    const component = this.page.components[j];
    if (!component) return "";
    if (component.share === null) return component.name;
    return `${component.name} · ${(100 * component.share).toFixed(1)} % of ${component.of}`;
  }
}

/** Smallest and largest of the finite numbers; [0, 1] where there are none. */
export function extent(values: Numbers): Point {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) {
    if (v < low && v > -Infinity) low = v;
    if (v > high && v < Infinity) high = v;
  }
  if (!(low <= high)) return [0, 1];
  return low === high ? [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2] : [low, high];
}
