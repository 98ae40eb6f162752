// Components and samples as images.

import { type Data, extent, numbers } from "./data";
import { card, h, percent } from "./dom";
import { diverging } from "./theme";

/** Pixels on a canvas: grey from black to white, or diverging about 0. */
export function pixels(values: ArrayLike<number>, width: number, height: number, tone: "grey" | "diverging", label: string): HTMLCanvasElement {
  const canvas = h("canvas", { class: "pixels", width, height, role: "img", "aria-label": label });
  const context = canvas.getContext("2d");
  const image = context?.createImageData(width, height);
  if (!context || !image) return canvas;
  const [low, high] = extent(Float64Array.from(values));
  const reach = Math.max(Math.abs(low), Math.abs(high)) || 1;
  for (let p = 0; p < width * height; p++) {
    const grey = Math.round((255 * (values[p] - low)) / (high - low)) * 0x010101;
    const color = tone === "grey" ? grey : diverging(values[p] / reach);
    image.data.set([(color >> 16) & 255, (color >> 8) & 255, color & 255, 255], 4 * p);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

const MOST = 16;

/** What each component adds, as an image. */
export function eigenimages(data: Data): HTMLElement | null {
  const { image, features, components } = data.page;
  if (!image || features.weights.length === 0) return null;
  const figures = features.weights.slice(0, MOST).map((ref, j) => {
    const share = components[j].share;
    const label = share === null ? components[j].name : `${components[j].name} · ${percent(share)}`;
    return h("figure", {}, pixels(numbers(ref), image.width, image.height, "diverging", `Weights of ${components[j].name}`), h("figcaption", {}, label));
  });
  return card("images", "Components as images", h("div", { class: "figures" }, ...figures), h("p", { class: "hint" }, "Blue pixels add to a score, orange ones take away."));
}
