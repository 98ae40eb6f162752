// Colours, for both themes. Okabe and Ito's without yellow, as in the static pictures: told apart with every kind of
// colour blindness. Seven colours and eight shapes repeat together only after 56 groups.

export interface Theme {
  dark: boolean;
  paper: string;
  ink: string;
  soft: string;
  axis: string;
  grid: string;
  accent: string;
  mark: string;
  groups: string[];
  other: string;
}

const LIGHT: Theme = {
  dark: false,
  paper: "#ffffff",
  ink: "#1f242b",
  soft: "#555d68",
  axis: "#8a929c",
  grid: "#eceff2",
  accent: "#0067a3",
  mark: "#c24a00",
  groups: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1f242b"],
  other: "#9aa3ad",
};

const DARK: Theme = {
  dark: true,
  paper: "#171b21",
  ink: "#e6e9ed",
  soft: "#a8b1bd",
  axis: "#6c7682",
  grid: "#262c35",
  accent: "#6db9ea",
  mark: "#f28a48",
  groups: ["#3f9fe0", "#f07b2e", "#1fbf90", "#e08fc0", "#f2b632", "#8fd0f7", "#dfe4ea"],
  other: "#77818d",
};

export function theme(): Theme {
  const set = document.documentElement.dataset.theme;
  const dark = set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return dark ? DARK : LIGHT;
}

export const SHAPES = 8;

// Viridis; its end that is hard to see on the paper is left out.
const VIRIDIS = [0x440154, 0x46327e, 0x365c8d, 0x277f8e, 0x1fa187, 0x4ac16d, 0x8fd744, 0xc8e020, 0xfde725];

/** The colour of a share of 0 to 1 on a scale, as 0xrrggbb. */
export function sequential(t: number, dark: boolean): number {
  const stops = dark ? VIRIDIS.slice(1) : VIRIDIS.slice(0, 8);
  return along(stops, t);
}

/** Orange for −1, paper for 0, blue for 1. */
export function diverging(t: number): number {
  return along([0x8f3b00, 0xd55e00, 0xf2b27e, 0xf9f8f6, 0x8fc1e3, 0x0072b2, 0x003f6b], (t + 1) / 2);
}

function along(stops: number[], t: number): number {
  const place = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const index = Math.min(Math.floor(place), stops.length - 2);
  const part = place - index;
  const channel = (shift: number) => {
    const a = (stops[index] >> shift) & 255;
    const b = (stops[index + 1] >> shift) & 255;
    return Math.round(a + (b - a) * part);
  };
  return (channel(16) << 16) | (channel(8) << 8) | channel(0);
}

export function css(color: number): string {
  return `#${color.toString(16).padStart(6, "0")}`;
}

export function rgb(color: string): number {
  return parseInt(color.slice(1), 16);
}
