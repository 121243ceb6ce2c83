import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ApiServer,
  chartFolder,
  customDefinitions,
  helm,
  type Manifest,
  parseManifests,
  renderChart,
  startApiServer,
} from "@harrier/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";

// Helm installs and upgrades the chart in a real API server, which has no controllers: pods do not run, and Jobs of hooks would never end.
const namespace = "fleet";
const everything = join(chartFolder, "ci", "everything-values.yaml");
const own = `/api/v1/namespaces/${namespace}`;
const apps = `/apis/apps/v1/namespaces/${namespace}/deployments`;

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
  for (const manifest of (await customDefinitions()).flatMap((file) => parseManifests(readFileSync(file, "utf8")))) {
    // some of them are templates of charts, whose labels are filled in there
    const { name, annotations = {} } = manifest.metadata;
    const plain = { ...manifest, metadata: { name, annotations } };
    const { status, body } = await server.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", plain);
    expect([status, body["message"]]).toEqual([201, undefined]);
  }
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  await server.ask("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } });
});
afterAll(() => server?.stop());

const withHelm = (...words: string[]) => helm([...words, "--namespace", namespace, "--kubeconfig", server.kubeconfig]);
const change = (verb: "install" | "upgrade", ...options: string[]) => withHelm(verb, "harrier", chartFolder, "--no-hooks", ...options);
const itemsOf = async (path: string): Promise<Manifest[]> => (await server.ask("GET", path)).body["items"];
const imagesOf = async () =>
  Object.fromEntries((await itemsOf(apps)).map(({ metadata, spec }) => [metadata.name, spec.template.spec.containers[0].image]));

it("is installed", { timeout: 120_000 }, async () => {
  expect(await change("install")).toContain("STATUS: deployed");
  const services = ["artifact-store", "controller", "gateway", "management", "rollout-engine"];
  expect((await itemsOf(apps)).map(({ metadata }) => metadata.name)).toEqual(services.map((service) => `harrier-${service}`));
  const policies = await itemsOf(`/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`);
  expect(policies.length).toBe(services.length + 1);
});

it("an upgrade of one service changes that one alone, and keeps addresses and the replicas that autoscaling chose", {
  timeout: 120_000,
}, async () => {
  const scale = { spec: { replicas: 5 } };
  const scaled = await server.ask("PATCH", `${apps}/harrier-gateway/scale`, scale, "application/merge-patch+json");
  expect(scaled.status).toBe(200);
  const addresses = async () => (await itemsOf(`${own}/services`)).map(({ metadata, spec }) => [metadata.name, spec.clusterIP]);
  const [before, images] = [await addresses(), await imagesOf()];
  await change("upgrade", "--reuse-values", "--set", "services.controller.image.tag=0.2.0");
  expect(await addresses()).toEqual(before);
  expect(await imagesOf()).toEqual({ ...images, "harrier-controller": "harrier/controller:0.2.0" });
  const generations = (await itemsOf(apps)).map(({ metadata, spec }) => [metadata.name, metadata.generation, spec.replicas]);
  // the gateway's was raised by its scale alone
  expect(generations).toEqual([
    ["harrier-artifact-store", 1, 1],
    ["harrier-controller", 2, 1],
    ["harrier-gateway", 2, 5],
    ["harrier-management", 1, 2],
    ["harrier-rollout-engine", 1, 2],
  ]);
});

it("everything can be turned on, taken back, and removed except for artifacts", { timeout: 180_000 }, async () => {
  const images = await imagesOf();
  await change("upgrade", "--reset-values", "--values", everything);
  const names = async (path: string) => (await itemsOf(path)).map(({ metadata }) => metadata.name);
  expect(await names(`/apis/cert-manager.io/v1/namespaces/${namespace}/certificates`)).toHaveLength(6);
  expect(await names(`/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/httproutes`)).toEqual(["harrier"]);
  expect(await names(`/apis/monitoring.coreos.com/v1/namespaces/${namespace}/servicemonitors`)).toEqual(["harrier"]);
  await withHelm("rollback", "harrier", "2", "--no-hooks");
  expect(await imagesOf()).toEqual(images);
  expect(await names(`/apis/cert-manager.io/v1/namespaces/${namespace}/certificates`)).toEqual([]);
  await change("upgrade", "--reset-values", "--values", everything);
  await withHelm("uninstall", "harrier", "--no-hooks");
  expect(await names(apps)).toEqual([]);
  expect(await names(`${own}/persistentvolumeclaims`)).toEqual(["harrier-artifacts"]);
});

it("the restricted profile admits every pod, those of Jobs too, and would not admit root", { timeout: 120_000 }, async () => {
  const manifests = parseManifests(await renderChart([everything]));
  for (const account of manifests.filter(({ kind }) => kind === "ServiceAccount")) {
    expect((await server.ask("POST", `${own}/serviceaccounts`, account)).status).toBe(201);
  }
  const classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  await server.ask("POST", classes, { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "high" }, value: 1000 });
  const create = (name: string, spec: object) =>
    server.ask("POST", `${own}/pods?dryRun=All`, { apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
  const pods = manifests.filter(({ kind }) => kind === "Deployment" || kind === "Job");
  expect(pods.length).toBe(11);
  for (const { metadata, spec } of pods) {
    const { status, body } = await create(metadata.name, spec.template.spec);
    expect([metadata.name, status, body["message"]]).toEqual([metadata.name, 201, undefined]);
  }
  const pod = pods[0]?.["spec"].template.spec;
  const asRoot = await create("root", { ...pod, securityContext: { ...pod.securityContext, runAsNonRoot: false } });
  expect([asRoot.status, asRoot.body["message"]]).toEqual([403, expect.stringContaining("runAsNonRoot")]);
});
