// Elements. Text is always text: nothing here reads markup.

type Attribute = string | number | boolean | null | undefined | ((event: never) => void);
type Child = Node | string | null | undefined | false;

function put(element: Element, attributes: Record<string, Attribute>, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
}

/** An HTML element; attributes that are functions listen: `onclick`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  put(element, attributes, children);
  return element;
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  put(element, attributes, children);
  return element;
}

/** A name from data, whose direction leaves its surroundings alone. */
export function name(text: string): HTMLElement {
  return h("bdi", {}, text);
}

/** A part of the page with a heading. */
export function card(id: string, title: string, ...children: Child[]): HTMLElement {
  return h("section", { class: "card", id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}

/** A table of text. */
export function textTable(table: { caption: string; columns: { name: string; number: boolean }[]; rows: string[][] }): HTMLElement {
  const side = (index: number) => (table.columns[index]?.number ? "n" : null);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": table.caption || "Table" },
    h(
      "table",
      {},
      table.caption ? h("caption", {}, table.caption) : null,
      h("thead", {}, h("tr", {}, ...table.columns.map((c, i) => h("th", { scope: "col", class: side(i) }, c.name)))),
      h("tbody", {}, ...table.rows.map((row) => h("tr", {}, ...row.map((cell, i) => h("td", { class: side(i) }, name(cell)))))),
    ),
  );
}

/** A labelled select. */
export function select(
  label: string,
  id: string,
  options: [string, string][],
  onchange: (value: string) => void,
): { root: HTMLElement; input: HTMLSelectElement } {
  const input = h("select", { id, onchange: () => onchange(input.value) }, ...options.map(([value, text]) => h("option", { value }, text)));
  return { root: h("label", { class: "field" }, h("span", {}, label), input), input };
}

/** Gives the user a file. */
export function download(file: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = h("a", { href: url, download: file });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A number to five digits. */
export function format(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const text = size >= -3 && size < 6 ? value.toFixed(Math.max(0, 4 - Math.max(size, 0))) : value.toExponential(3);
  return text.replace("-", "−");
}

export function percent(share: number): string {
  return Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : "–";
}

export function count(n: number): string {
  return n.toLocaleString("en");
}
