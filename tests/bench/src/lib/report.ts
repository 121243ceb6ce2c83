/** One figure beside its limit. */
export interface Row {
  scenario: string;
  figure: string;
  value: number;
  unit: string;
  limit?: string;
  /** True or false where the row is a budget, else absent. */
  ok?: boolean;
}

export interface Report {
  readonly rows: readonly Row[];
  add(row: Row): void;
  /** Prints a table for people. */
  print(): void;
  missed(): Row[];
}

export function createReport(): Report {
  const rows: Row[] = [];
  return {
    rows,
    add: (row) => void rows.push(row),
    print() {
      const cells = rows.map((r) => [
        r.scenario,
        r.figure,
        `${format(r.value)} ${r.unit}`.trim(),
        r.limit ?? "",
        r.ok === undefined ? "" : r.ok ? "ok" : "MISSED",
      ]);
      const head = ["scenario", "figure", "value", "limit in the same run", "budget"];
      const widths = head.map((h, i) => Math.max(h.length, ...cells.map((c) => (c[i] ?? "").length)));
      const line = (c: readonly string[]) => c.map((text, i) => text.padEnd(widths[i] ?? 0)).join("  ");
      console.log([line(head), widths.map((w) => "-".repeat(w)).join("  "), ...cells.map(line)].join("\n"));
    },
    missed: () => rows.filter((r) => r.ok === false),
  };
}

function format(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en");
  return value >= 10 ? value.toFixed(1) : value.toFixed(3);
}
