import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callPairs } from "@harrier/rpc";
import { chartFolder, conform, helm, kubernetesVersion, type Manifest, parseManifests, renderChart } from "@harrier/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { complaintOf, settingsOf } from "./support/settings.ts";

// What the chart makes of each file of values, without a cluster.
const files = { defaults: [], everything: ["everything-values.yaml"], plain: ["plain-values.yaml"] } as const;
type Case = keyof typeof files;
const cases = Object.keys(files) as Case[];
const valuesOf = (name: Case) => files[name].map((file) => join(chartFolder, "ci", file));

let dir = "";
const texts = {} as Record<Case, string>;
const all = {} as Record<Case, Manifest[]>;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "harrier-chart-"));
  for (const name of cases) {
    texts[name] = await renderChart(valuesOf(name));
    all[name] = parseManifests(texts[name]);
  }
}, 900_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ofKind = (name: Case, kind: string) => all[name].filter((manifest) => manifest.kind === kind);
const component = (manifest: Manifest): string => manifest.metadata.labels?.["app.kubernetes.io/component"] ?? "";
const pods = (name: Case) =>
  [...ofKind(name, "Deployment"), ...ofKind(name, "Job")].map(({ metadata, spec }) => ({ name: metadata.name, ...spec.template.spec }));
const refusalOf = (set: readonly string[]) =>
  renderChart([], set).then(
    () => "accepted",
    (error: Error) => error.message,
  );

it.each(cases)("helm lint accepts the chart: %s", { timeout: 60_000 }, async (name) => {
  const values = valuesOf(name).flatMap((file) => ["--values", file]);
  expect(await helm(["lint", "--strict", "--kube-version", kubernetesVersion, chartFolder, ...values])).toContain("0 chart(s) failed");
});

it.each(cases)("every object has the form of its kind, and no member that the kind lacks: %s", { timeout: 900_000 }, async (name) => {
  const file = join(dir, `${name}.yaml`);
  writeFileSync(file, texts[name]);
  expect(await conform(file)).toBe("");
});

it("PostgreSQL and MinIO for one machine are where the values for it look, in the versions of compose", { timeout: 900_000 }, async () => {
  const file = join(chartFolder, "..", "on-one-machine.yaml");
  expect(await conform(file)).toBe("");
  const manifests = parseManifests(readFileSync(file, "utf8"));
  const portOf = (name: string) => manifests.find(({ kind, metadata }) => kind === "Service" && metadata.name === name)?.spec.ports[0].port;
  expect({ postgres: portOf("postgres"), minio: portOf("minio") }).toEqual({ postgres: 5432, minio: 9000 });
  expect(readFileSync(join(chartFolder, "ci", "plain-values.yaml"), "utf8")).toContain("http://minio:9000");
  const compose = readFileSync(join(chartFolder, "..", "..", "compose", "compose.yaml"), "utf8");
  const images = manifests.filter(({ kind }) => kind === "StatefulSet").map(({ spec }) => spec.template.spec.containers[0].image as string);
  for (const image of images) expect(compose).toContain(`image: ${image}\n`);
});

it("would notice a misspelt member", { timeout: 900_000 }, async () => {
  const file = join(dir, "wrong.yaml");
  writeFileSync(file, texts.defaults.replace("terminationGracePeriodSeconds", "terminationGraceSeconds"));
  expect(await conform(file)).toContain("terminationGraceSeconds");
});

it.each(cases)("each service starts with the settings that it gets, and knows every name: %s", { timeout: 120_000 }, async (name) => {
  const services = ofKind(name, "Deployment").map(component).toSorted();
  const usual = ["artifact-store", "controller", "gateway", "management", "rollout-engine"];
  expect(services).toEqual(name === "everything" ? [...usual, "dmf"].toSorted() : usual);
  for (const deployment of ofKind(name, "Deployment")) {
    expect([component(deployment), await complaintOf(component(deployment), settingsOf(deployment), dir)]).toEqual([
      component(deployment),
      "",
    ]);
  }
  for (const job of ofKind(name, "Job").filter(({ metadata }) => metadata.name.includes("-migrate-"))) {
    const service = job.metadata.name.split("-migrate-")[1] ?? "";
    expect([service, await complaintOf(service, settingsOf(job), dir)]).toEqual([service, ""]);
  }
});

it("would notice a setting that no service has", { timeout: 60_000 }, async () => {
  const text = await renderChart([], ["services.controller.settings.HARRIER_NO_SUCH_THING=some"]);
  const [deployment] = parseManifests(text).filter((one) => one.kind === "Deployment" && component(one) === "controller");
  expect(await complaintOf("controller", settingsOf(deployment as Manifest), dir)).toContain("HARRIER_NO_SUCH_THING");
});

describe("network policies", () => {
  const forwards = ["artifact-store", "controller", "management", "rollout-engine"].map((audience) => `gateway/${audience}:http`);
  /** The edges `caller/audience:port` of the call graph between these services. */
  const graph = (services: readonly string[]) =>
    [...callPairs().map((pair) => `${pair}:grpc`), ...forwards]
      .filter((edge) =>
        edge
          .split(":")[0]
          ?.split("/")
          .every((service) => services.includes(service)),
      )
      .toSorted();
  const peerOf = (peer: { podSelector?: { matchLabels: Record<string, string> } }) =>
    peer.podSelector?.matchLabels["app.kubernetes.io/component"] ?? "";
  // biome-ignore lint/suspicious/noExplicitAny: rules are read as they are sent
  const portsOf = (rule: any): unknown[] => rule.ports.map(({ port }: { port: unknown }) => port);

  it.each(["defaults", "everything"] as const)("are the call graph, seen from both ends: %s", (name) => {
    const policies = ofKind(name, "NetworkPolicy").filter((policy) => component(policy) !== "setup");
    const services = policies.map(component);
    // biome-ignore lint/suspicious/noExplicitAny: rules are read as they are sent
    const edges = (policy: Manifest, rules: any[], side: "from" | "to") =>
      rules.flatMap((rule) =>
        (rule[side] ?? [])
          .filter((peer: object) => peerOf(peer) !== "")
          .flatMap((peer: object) =>
            portsOf(rule).map((port) =>
              side === "from" ? `${peerOf(peer)}/${component(policy)}:${port}` : `${component(policy)}/${peerOf(peer)}:${port}`,
            ),
          ),
      );
    expect(policies.flatMap((policy) => edges(policy, policy["spec"].ingress, "from")).toSorted()).toEqual(graph(services));
    const outgoing = policies.flatMap((policy) => edges(policy, policy["spec"].egress, "to")).toSorted();
    expect(outgoing).toEqual(graph(services));
  });

  it("let nobody else in but to the gateway, and let only who needs it reach the database", () => {
    for (const policy of ofKind("defaults", "NetworkPolicy")) {
      const { ingress = [], egress, policyTypes } = policy["spec"];
      expect(policyTypes).toEqual(["Ingress", "Egress"]);
      const open = ingress.filter((rule: { from?: unknown[] }) => (rule.from ?? []).length === 0);
      expect(open.length).toBe(component(policy) === "gateway" ? 1 : 0);
      const database = egress.filter((rule: object) => portsOf(rule).includes(5432));
      expect([component(policy), database.length]).toEqual([component(policy), ["gateway", "dmf"].includes(component(policy)) ? 0 : 1]);
      expect(egress.every((rule: { ports: unknown[] }) => rule.ports.length > 0)).toBe(true);
    }
  });
});

it.each(cases)("every pod fits the restricted profile and has no token: %s", (name) => {
  expect(pods(name).length).toBeGreaterThanOrEqual(10);
  for (const pod of pods(name)) {
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    for (const container of pod.containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(container.resources.limits.memory).toMatch(/^\d+[GM]i$/);
    }
    for (const volume of pod.volumes) expect(Object.keys(volume)).not.toContain("hostPath");
  }
  for (const account of ofKind(name, "ServiceAccount")) expect(account["automountServiceAccountToken"]).toBe(false);
});

it.each(cases)("no secret is in the objects, and each service mounts its own alone: %s", (name) => {
  expect(ofKind(name, "Secret")).toEqual([]);
  for (const deployment of ofKind(name, "Deployment")) {
    const service = component(deployment);
    const mounted: string[] = deployment["spec"].template.spec.volumes.flatMap(
      (volume: { secret?: { secretName: string } }) => volume.secret?.secretName ?? [],
    );
    const own = [`harrier-${service}`, `harrier-${service}-tls`, ...(service === "gateway" ? ["updates-certificate"] : [])];
    expect(mounted.filter((secret) => !own.includes(secret))).toEqual([]);
  }
});

it.each(cases)("a pod has both times of its drain and 8 s more before it is killed: %s", (name) => {
  for (const deployment of ofKind(name, "Deployment")) {
    const settings = new Map(settingsOf(deployment).map((one) => [one.name, one.value]));
    const drain = Number(settings.get("HARRIER_DRAIN_MS")) + Number(settings.get("HARRIER_DRAIN_TRANSFERS_MS"));
    expect(deployment["spec"].template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drain / 1000 + 8);
  }
});

it("the database is set up, and every schema migrated, before a Deployment changes", () => {
  const jobs = ofKind("defaults", "Job");
  const weight = ({ metadata }: Manifest) => Number(metadata.annotations?.["helm.sh/hook-weight"]);
  expect(jobs.every(({ metadata }) => metadata.annotations?.["helm.sh/hook"] === "pre-install,pre-upgrade")).toBe(true);
  const names = jobs.toSorted((a, b) => weight(a) - weight(b)).map(({ metadata }) => metadata.name);
  expect(names[0]).toBe("harrier-bootstrap");
  expect(names.slice(1).toSorted()).toEqual(
    ["artifact-store", "controller", "management", "rollout-engine"].map((service) => `harrier-migrate-${service}`),
  );
});

it.each([
  ["a service that there is not", ["services.console.enabled=true"]],
  ["a misspelt value", ["networkPolicies.enabled=false"]],
  ["a number in place of a text", ["services.gateway.settings.HARRIER_RATE_USER_READS=5"]],
  ["a name that is no setting", ["services.gateway.settings.RATE=x"]],
  ["a digest that is none", ["services.gateway.image.digest=latest"]],
  ["an unknown mode", ["mutualTls.mode=none"]],
] as const)("refuses %s", { timeout: 30_000 }, async (_what, set) => {
  expect(await refusalOf(set)).toMatch(/values don't meet the specifications/);
});

it("one service goes to a new version after all schemas have", { timeout: 30_000 }, async () => {
  const manifests = parseManifests(await renderChart([], ["migrate.tag=0.2.0", "services.controller.image.tag=0.2.0"]));
  const versionOf = ({ spec }: Manifest) => spec.template.spec.containers[0].image.split(":").at(-1);
  const versions = (kind: string) => manifests.filter((one) => one.kind === kind).map((one) => [one.metadata.name, versionOf(one)]);
  expect(versions("Job").every(([, version]) => version === "0.2.0")).toBe(true);
  expect(versions("Deployment").filter(([, version]) => version === "0.2.0")).toEqual([["harrier-controller", "0.2.0"]]);
});
