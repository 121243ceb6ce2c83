import { execFileSync } from "node:child_process";

/** What is deployed, and the package whose production dependencies that are. */
export const deployed = ["artifact-store", "cli", "console", "controller", "dmf", "gateway", "management", "rollout-engine"];

/**
 * Makes a bill of materials the same whenever it is made of the same lock file: no serial number, the time of the commit, parts in one order.
 * @param {any} bill CycloneDX as pnpm writes it
 * @param {string} time ISO 8601
 */
export function reproducible({ serialNumber: _, ...bill }, time) {
  const byRef = (a, b) => (a["bom-ref"] ?? a.ref).localeCompare(b["bom-ref"] ?? b.ref, "en");
  return {
    ...bill,
    metadata: { ...bill.metadata, timestamp: time },
    components: bill.components.toSorted(byRef),
    dependencies: bill.dependencies
      .map((one) => ({ ...one, ...(one.dependsOn ? { dependsOn: one.dependsOn.toSorted() } : {}) }))
      .toSorted(byRef),
  };
}

/** The bill of materials (CycloneDX 1.6) of what is deployed under a name, as text. */
export function billOf(name, { root, time }) {
  const options = ["--sbom-format", "cyclonedx", "--sbom-spec-version", "1.6", "--sbom-type", "application", "--prod", "--lockfile-only"];
  const made = execFileSync("pnpm", ["sbom", ...options, "--filter", `@harrier/${name}`], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return `${JSON.stringify(reproducible(JSON.parse(made), time), null, 2)}\n`;
}
