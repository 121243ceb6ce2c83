import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { routes } from "@harrier/contracts";
import { createJobs } from "@harrier/jobs";
import { createLog, createMetrics } from "@harrier/service";
import { chartFolder, complaintsOfGrafana, debianPackages, parseManifests, workspaceRoot } from "@harrier/testkit";
import { describe, expect, it } from "vitest";

const folder = join(chartFolder, "monitoring");
const text = (name: string) => readFileSync(join(folder, name), "utf8");

interface Query {
  readonly where: string;
  readonly expr: string;
}

// biome-ignore lint/suspicious/noExplicitAny: rules are read as they are written
const rules: any[] = parseManifests(text("alerts.yaml")).flatMap((file) => file["groups"].flatMap((group: any) => group.rules));
// biome-ignore lint/suspicious/noExplicitAny: panels are read as they are written
const panels: any[] = JSON.parse(text("dashboard.json")).panels;
const queries: Query[] = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }: Query) => ({ where: title, expr }))),
];

/** The labels of each metric that the services have, by its name as it is scraped. */
function knownMetrics(): Map<string, readonly string[]> {
  const { registry } = createMetrics({ service: "gateway" });
  createJobs({}, {}, { log: createLog({ service: "gateway", level: "silent" }), registry });
  const known = new Map<string, readonly string[]>();
  for (const metric of registry.getMetricsAsArray() as unknown as {
    name: string;
    type?: string;
    labelNames?: string[];
    buckets?: unknown;
  }[]) {
    const labels = metric.labelNames ?? [];
    known.set(metric.name, labels);
    for (const end of ["_bucket", "_sum", "_count"]) known.set(`${metric.name}${end}`, end === "_bucket" ? [...labels, "le"] : labels);
  }
  const dmf = readFileSync(join(workspaceRoot, "apps", "dmf", "src", "message-metrics.ts"), "utf8");
  for (const [, name = "", labels = ""] of dmf.matchAll(/name: "(harrier_\w+)"(?:[^}]*?labelNames: \[([^\]]*)\])?/g))
    known.set(name, labels.match(/\w+/g) ?? []);
  return known;
}

/** The table of background jobs, which is written from the services' own lists. */
const jobNames = [
  ...readFileSync(join(workspaceRoot, "docs", "operations.md"), "utf8").matchAll(
    /^\| `([a-z-]+)` \| (?:gateway|controller|management|artifact|rollout|dmf)/gm,
  ),
].map(([, name]) => name);

describe("alerts and dashboard", () => {
  it("name metrics and labels that the services have", () => {
    const known = knownMetrics();
    let seen = 0;
    for (const { where, expr } of queries) {
      for (const [, name = "", selector = ""] of expr.matchAll(/\b((?:harrier|process|nodejs)_\w+)(\{[^}]*\})?/g)) {
        seen += 1;
        expect([where, name, known.has(name)]).toEqual([where, name, true]);
        for (const [, label] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)) {
          expect([where, name, label, [...(known.get(name) ?? []), "service"].includes(label ?? "")]).toEqual([where, name, label, true]);
        }
      }
    }
    expect(seen).toBeGreaterThan(40);
  });

  it("name routes, services and jobs that there are", () => {
    const patterns = new Set(routes.map(({ path }) => path));
    const services = readdirSync(join(workspaceRoot, "apps"));
    for (const { where, expr } of queries) {
      for (const [, value] of expr.matchAll(/route="([^"]+)"/g))
        expect([where, value, patterns.has(value ?? "")]).toEqual([where, value, true]);
      for (const [, value] of expr.matchAll(/service="([^"]+)"/g)) expect(services).toContain(value);
      for (const [, value = ""] of expr.matchAll(/job[=!]~?"([^"]+)"/g))
        for (const name of value.split("|")) expect(jobNames).toContain(name);
    }
  });

  it("promtool accepts the alerts, and each fires when it shall", { timeout: 600_000 }, async () => {
    const { root, env } = await debianPackages(["prometheus"]);
    const promtool = (...words: string[]) =>
      promisify(execFile)(join(root, "usr", "bin", "promtool"), words, { cwd: folder, env: { ...process.env, ...env } });
    expect((await promtool("check", "rules", "alerts.yaml")).stdout).toContain("SUCCESS");
    expect((await promtool("test", "rules", "alerts.test.yaml")).stdout).toContain("SUCCESS");
    const tested = text("alerts.test.yaml");
    for (const { alert } of rules) expect(tested).toContain(alert);
  });

  it("Grafana's own schema knows every member of the dashboard, and misses none", { timeout: 600_000 }, async () => {
    expect(await complaintsOfGrafana(join(folder, "dashboard.json"))).toBe("");
    const dir = mkdtempSync(join(tmpdir(), "harrier-dashboard-"));
    try {
      const wrong = join(dir, "wrong.json");
      writeFileSync(wrong, text("dashboard.json").replace(/"legendFormat"/, '"legendFormatt"'));
      expect(await complaintsOfGrafana(wrong)).toContain("legendFormatt");
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it("the panels have numbers of their own, lie beside each other, and ask the chosen data source", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)}/${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const panel of panels.filter(({ type }) => type !== "row")) expect(panel.datasource.uid).toBe(`\${datasource}`);
  });
});
