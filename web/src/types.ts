// The data of the page, as `eigenlens-report` writes them.

export interface ArrayRef {
  id: string;
  form: "u8" | "u16" | "f32" | "f64";
  n: number;
  first: number;
  step: number;
}

export interface Component {
  name: string;
  share: number | null;
  of: string | null;
}

export interface Table {
  caption: string;
  columns: { name: string; number: boolean }[];
  rows: string[][];
}

export interface Scree {
  what: string;
  heights: number[];
  cumulative: number[];
  of: string;
  errors: number[];
  kept: number | null;
}

export interface Rule {
  name: string;
  k: number | null;
  note: string;
}

export interface ColumnData {
  name: string;
  groups: string[] | null;
  values: ArrayRef;
  association: number[];
}

export interface MonitoringData {
  tSquared: ArrayRef;
  q: ArrayRef;
  limits: [number | null, number | null];
  label: string;
  caption: string;
}

export interface SamplesData {
  n: number;
  of: number;
  numbers: ArrayRef | null;
  named: boolean;
  scores: ArrayRef[];
  cosines: ArrayRef[];
  monitoring: MonitoringData | null;
  columns: ColumnData[];
  color: number | null;
}

export interface FeaturesData {
  names: string[];
  weights: ArrayRef[];
  loadings: ArrayRef[];
  correlations: ArrayRef[];
  caption: string;
  center: ArrayRef | null;
  inverseScale: ArrayRef | null;
  values: ArrayRef[];
}

export interface PageData {
  title: string;
  subtitle: string;
  facts: [string, string][];
  warnings: string[];
  leftOut: string[];
  components: Component[];
  componentTable: Table;
  scree: Scree | null;
  rules: Rule[];
  samples: SamplesData | null;
  features: FeaturesData;
  trust: [string, string][];
  certificate: Table | null;
  provenance: { heading: string; rows: [string, string][] }[];
  methods: string[];
  image: { width: number; height: number } | null;
  compact: boolean;
}

export type Numbers = Float32Array | Float64Array;
export type Point = [number, number];
export type Rect = [number, number, number, number];
