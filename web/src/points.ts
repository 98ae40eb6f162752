// Points, drawn by WebGL2; on a plain canvas where there is none, as densities where they are many.

import type { Numbers, Rect } from "./types";

/** What points look like: colour with opacity (4 n), shape (n) and relative size (n, 255 the largest). */
export interface Marks {
  colors: Uint8Array<ArrayBuffer>;
  shapes: Uint8Array<ArrayBuffer> | null;
  sizes: Uint8Array<ArrayBuffer> | null;
}

export interface Painter {
  readonly kind: "webgl2" | "canvas";
  points(x: Numbers, y: Numbers, bounds: Rect): void;
  marks(marks: Marks): void;
  /** Draws what lies in the domain (x0, x1, y0, y1); radius in pixels of the canvas. */
  draw(domain: Rect, radius: number, rim: string | null): void;
}

const VERTEX = `#version 300 es
in float x; in float y; in vec4 color; in float shape; in float size;
uniform vec4 map; uniform float radius;
out vec4 tint; flat out int kind;
void main() {
  gl_Position = color.a == 0.0 ? vec4(2.0, 2.0, 0.0, 1.0) : vec4(vec2(x, y) * map.xy + map.zw, 0.0, 1.0);
  gl_PointSize = 2.0 * radius * mix(0.55, 1.9, size) + (radius < 1.5 ? 0.0 : 2.0);
  tint = color; kind = int(shape + 0.5);
}`;

// Distances from the outline of each shape, in units of the radius; below 0 inside.
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint; flat in int kind;
uniform vec4 rim; uniform float pixel; uniform float plain;
out vec4 result;
float outline(vec2 p) {
  if (kind == 1) return max(abs(p.x) * 0.87 - p.y * 0.5, p.y) - 0.5;
  if (kind == 2) return max(abs(p.x), abs(p.y)) - 0.78;
  if (kind == 3) return abs(p.x) + abs(p.y) - 1.0;
  if (kind == 4) return min(max(abs(p.x) - 0.28, abs(p.y) - 0.95), max(abs(p.y) - 0.28, abs(p.x) - 0.95));
  if (kind == 5) return max(abs(p.x) * 0.87 + p.y * 0.5, -p.y) - 0.5;
  if (kind == 6) { vec2 q = vec2(p.x + p.y, p.x - p.y) * 0.7071; return min(max(abs(q.x) - 0.28, abs(q.y) - 0.95), max(abs(q.y) - 0.28, abs(q.x) - 0.95)); }
  if (kind == 7) { vec2 q = abs(p); return max(max(q.x * 0.95 - p.y * 0.31, q.x * 0.59 + p.y * 0.81), -p.y) - 0.82; }
  return length(p) - 0.88;
}
void main() {
  if (plain > 0.5) { result = vec4(tint.rgb * tint.a, tint.a); return; }
  float off = outline((gl_PointCoord * 2.0 - 1.0) * vec2(1.0, -1.0));
  float inside = 1.0 - smoothstep(-0.5 * pixel, 0.5 * pixel, off);
  if (inside <= 0.0) discard;
  float at_rim = rim.a * 0.85 * smoothstep(-1.75 * pixel, -0.75 * pixel, off);
  result = vec4(mix(tint.rgb, rim.rgb, at_rim), 1.0) * tint.a * inside;
}`;

/** The best painter there is for a canvas. */
export function painter(canvas: HTMLCanvasElement, wanted: "webgl2" | "canvas" | null): Painter {
  const gl = wanted === "canvas" ? null : canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
  return gl ? new WebGl(canvas, gl) : new Plain(canvas);
}

class WebGl implements Painter {
  readonly kind = "webgl2";
  private readonly program: WebGLProgram;
  private readonly buffers = new Map<string, WebGLBuffer>();
  private n = 0;
  private bounds: Rect = [0, 1, 0, 1];

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
  ) {
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
      const shader = gl.createShader(kind) as WebGLShader;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "shader");
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    this.program = program;
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  points(x: Numbers, y: Numbers, bounds: Rect): void {
    this.n = x.length;
    this.bounds = bounds;
    // Shares of the range: float32 is fine enough wherever the data lie.
    const [x0, x1, y0, y1] = bounds;
    this.put("x", shares(x, x0, x1 - x0), 1, this.gl.FLOAT, false);
    this.put("y", shares(y, y0, y1 - y0), 1, this.gl.FLOAT, false);
  }

  marks({ colors, shapes, sizes }: Marks): void {
    const gl = this.gl;
    this.put("color", colors, 4, gl.UNSIGNED_BYTE, true);
    this.optional("shape", shapes, false, 0);
    this.optional("size", sizes, true, 0.3333);
  }

  draw(domain: Rect, radius: number, rim: string | null): void {
    const { gl, program, canvas, bounds } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const scale = (low: number, high: number, from: number, to: number) => {
      const factor = (2 * (to - from)) / (high - low);
      return [factor, (2 * (from - low)) / (high - low) - 1];
    };
    const [ax, bx] = scale(domain[0], domain[1], bounds[0], bounds[1]);
    const [ay, by] = scale(domain[2], domain[3], bounds[2], bounds[3]);
    const color = rim ? parseInt(rim.slice(1), 16) : 0;
    const at = (name: string) => gl.getUniformLocation(program, name);
    gl.uniform4f(at("map"), ax, ay, bx, by);
    gl.uniform1f(at("radius"), radius);
    gl.uniform1f(at("pixel"), 1 / (radius + 1));
    gl.uniform1f(at("plain"), radius < 1.5 ? 1 : 0);
    gl.uniform4f(at("rim"), (color >> 16) / 255, ((color >> 8) & 255) / 255, (color & 255) / 255, rim ? 1 : 0);
    gl.drawArrays(gl.POINTS, 0, this.n);
  }

  private put(name: string, values: BufferSource, size: number, type: number, normalized: boolean): void {
    const gl = this.gl;
    const location = gl.getAttribLocation(this.program, name);
    let buffer = this.buffers.get(name);
    if (!buffer) this.buffers.set(name, (buffer = gl.createBuffer()));
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, type, normalized, 0, 0);
  }

  private optional(name: string, values: Uint8Array<ArrayBuffer> | null, normalized: boolean, usual: number): void {
    const gl = this.gl;
    if (values) return this.put(name, values, 1, gl.UNSIGNED_BYTE, normalized);
    const location = gl.getAttribLocation(this.program, name);
    gl.disableVertexAttribArray(location);
    gl.vertexAttrib1f(location, usual);
  }
}

function shares(values: Numbers, low: number, range: number): Float32Array<ArrayBuffer> {
  const found = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) found[i] = (values[i] - low) / range;
  return found;
}

/** Beyond this number a canvas shows densities. */
const DENSITY = 200_000;

class Plain implements Painter {
  readonly kind = "canvas";
  private x: Numbers = new Float32Array();
  private y: Numbers = this.x;
  private look: Marks = { colors: new Uint8Array(), shapes: null, sizes: null };

  constructor(private readonly canvas: HTMLCanvasElement) {}

  points(x: Numbers, y: Numbers): void {
    this.x = x;
    this.y = y;
  }

  marks(marks: Marks): void {
    this.look = marks;
  }

  draw(domain: Rect, radius: number, rim: string | null): void {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const { width, height } = this.canvas;
    context.clearRect(0, 0, width, height);
    if (this.x.length > DENSITY) return this.density(context, domain);
    const { colors, shapes, sizes } = this.look;
    const [x0, x1, y0, y1] = domain;
    const { x, y } = this;
    for (let i = 0; i < x.length; i++) {
      const alpha = colors[4 * i + 3];
      const px = ((x[i] - x0) / (x1 - x0)) * width;
      const py = height - ((y[i] - y0) / (y1 - y0)) * height;
      if (alpha === 0 || !(px > -20 && py > -20 && px < width + 20 && py < height + 20)) continue;
      context.globalAlpha = alpha / 255;
      context.fillStyle = `rgb(${colors[4 * i]},${colors[4 * i + 1]},${colors[4 * i + 2]})`;
      const r = radius * (sizes ? 0.55 + (1.35 * sizes[i]) / 255 : 1);
      context.fill(new Path2D(outline(shapes?.[i] ?? 0, px, py, r)));
      if (rim) {
        context.strokeStyle = rim;
        context.stroke(new Path2D(outline(shapes?.[i] ?? 0, px, py, r)));
      }
    }
    context.globalAlpha = 1;
  }

  /** Mean colours of cells, as opaque as there are points in them. */
  private density(context: CanvasRenderingContext2D, [x0, x1, y0, y1]: Rect): void {
    const cell = 3;
    const columns = Math.ceil(this.canvas.width / cell);
    const rows = Math.ceil(this.canvas.height / cell);
    const sums = new Float64Array(4 * columns * rows);
    const { colors } = this.look;
    for (let i = 0; i < this.x.length; i++) {
      const column = Math.floor(((this.x[i] - x0) / (x1 - x0)) * columns);
      const row = Math.floor((1 - (this.y[i] - y0) / (y1 - y0)) * rows);
      if (!(column >= 0 && row >= 0 && column < columns && row < rows)) continue;
      const at = 4 * (row * columns + column);
      const weight = colors[4 * i + 3] / 255;
      for (let c = 0; c < 3; c++) sums[at + c] += weight * colors[4 * i + c];
      sums[at + 3] += weight;
    }
    let most = 0;
    for (let at = 3; at < sums.length; at += 4) most = Math.max(most, sums[at]);
    const image = context.createImageData(columns, rows);
    for (let at = 0; at < sums.length; at += 4) {
      const weight = sums[at + 3];
      if (weight === 0) continue;
      for (let c = 0; c < 3; c++) image.data[at + c] = sums[at + c] / weight;
      image.data[at + 3] = 40 + (215 * Math.log1p(weight)) / Math.log1p(most);
    }
    const small = new OffscreenCanvas(columns, rows);
    small.getContext("2d")?.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, columns * cell, rows * cell);
  }
}

/** The path of a shape, for SVG and canvas. */
export function outline(shape: number, x: number, y: number, r: number): string {
  const path = (corners: [number, number][]) =>
    `M${corners.map(([a, b]) => `${(x + a * r).toFixed(2)} ${(y + b * r).toFixed(2)}`).join("L")}Z`;
  const cross = (turn: number): string => {
    const w = 0.28;
    const l = 0.95;
    const corners: [number, number][] = [[-w, -l], [w, -l], [w, -w], [l, -w], [l, w], [w, w], [w, l], [-w, l], [-w, w], [-l, w], [-l, -w], [-w, -w]];
    return path(corners.map(([a, b]) => [a * Math.cos(turn) - b * Math.sin(turn), a * Math.sin(turn) + b * Math.cos(turn)]));
  };
  const polygon = (corners: number, start: number, size: number) =>
    path(Array.from({ length: corners }, (_, i) => {
      const angle = start + (2 * Math.PI * i) / corners;
      return [size * Math.cos(angle), size * Math.sin(angle)] as [number, number];
    }));
  switch (shape) {
    case 1: return polygon(3, -Math.PI / 2, 1.05);
    case 2: return polygon(4, Math.PI / 4, 1.1);
    case 3: return polygon(4, 0, 1);
    case 4: return cross(0);
    case 5: return polygon(3, Math.PI / 2, 1.05);
    case 6: return cross(Math.PI / 4);
    case 7: return polygon(5, -Math.PI / 2, 1);
    default: {
      const q = 0.88 * r;
      return `M${(x - q).toFixed(2)} ${y.toFixed(2)}a${q.toFixed(2)} ${q.toFixed(2)} 0 1 0 ${(2 * q).toFixed(2)} 0a${q.toFixed(2)} ${q.toFixed(2)} 0 1 0 ${(-2 * q).toFixed(2)} 0Z`;
    }
  }
}
