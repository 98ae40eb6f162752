// How far to trust it, and where it comes from.

import type { Data } from "./data";
import { card, h, name, textTable } from "./dom";

export function trust(data: Data): HTMLElement {
  const { trust: answers, certificate } = data.page;
  return card(
    "trust", "Can I trust it?",
    h("dl", { class: "answers" }, ...answers.flatMap(([question, answer]) => [h("dt", {}, question), h("dd", {}, name(answer))])),
    certificate ? h("details", {}, h("summary", {}, "The certificate, number by number"), textTable(certificate)) : null,
  );
}

export function components(data: Data): HTMLElement {
  return card("components", "Each component", textTable(data.page.componentTable));
}

export function provenance(data: Data): HTMLElement {
  const { provenance: parts, methods } = data.page;
  const part = ({ heading, rows }: (typeof parts)[number]) => [
    h("h3", {}, heading),
    h("dl", { class: "pairs wide" }, ...rows.flatMap(([key, value]) => [h("dt", {}, name(key)), h("dd", {}, name(value))])),
  ];
  return card("provenance", "Where it comes from", ...parts.flatMap(part), h("h3", {}, "How it was computed"), ...methods.map((text) => h("p", {}, name(text))));
}

export function warnings(data: Data): HTMLElement | null {
  const { warnings: found, leftOut } = data.page;
  if (found.length + leftOut.length === 0) return null;
  const item = (text: string) => h("li", {}, name(text));
  return h(
    "div",
    { class: "notes" },
    found.length > 0 ? h("section", { class: "warnings", "aria-label": "Warnings" }, h("h2", {}, "Before you use this"), h("ul", {}, ...found.map(item))) : null,
    leftOut.length > 0 ? h("section", { class: "left-out", "aria-label": "What is not in this page" }, h("ul", {}, ...leftOut.map(item))) : null,
  );
}
