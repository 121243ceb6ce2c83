import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { workspaceRoot } from "../workspace.ts";
import { cached, install } from "./cache.ts";
import { crdSchemas, openApiSchemas } from "./kubernetes-schemas.ts";

/** The release of Kubernetes whose schemas and API server the chart is checked against. */
export const kubernetesVersion = "1.34.1";

const helmVersion = "v3.22.0";
const kubeconformVersion = "v0.8.0";
/** The definitions of kinds that are not Kubernetes' own, each with the folder of its module that has them. */
const definitions = [
  { module: "sigs.k8s.io/gateway-api@v1.3.0", folder: "config/crd/standard", file: /httproutes\.yaml$/ },
  { module: "github.com/cert-manager/cert-manager@v1.18.2", folder: "deploy/crds", file: /crd-certificates\.yaml$/ },
  {
    module: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    folder: "example/prometheus-operator-crd",
    file: /(servicemonitors|prometheusrules)\.yaml$/,
  },
] as const;

const run = promisify(execFile);
const maxBuffer = 64 * 1024 * 1024;

/** An object as it is sent to Kubernetes. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly generation?: number;
  };
  // biome-ignore lint/suspicious/noExplicitAny: what is inside depends on the kind
  readonly [member: string]: any;
}

function goInstall(name: string, path: string): Promise<string> {
  return cached(join("bin", name), async (dir) => {
    await install("go", ["install", path], { env: { ...process.env, GOBIN: dir, GOFLAGS: "-p=2" } });
    return join(dir, name.replace(/-v[\d.]+$/, ""));
  });
}

/** Answers the path of helm; it is built from source once (a minute and a half). It needs Go. */
export const installHelm = (): Promise<string> => goInstall(`helm-${helmVersion}`, `helm.sh/helm/v3/cmd/helm@${helmVersion}`);

/** Answers the path of kubeconform, which checks objects against schemas without a cluster. It needs Go. */
export const installKubeconform = (): Promise<string> =>
  goInstall(`kubeconform-${kubeconformVersion}`, `github.com/yannh/kubeconform/cmd/kubeconform@${kubeconformVersion}`);

/** Answers the folder of a Go module's files, which is downloaded where it is not there yet. */
export async function goModule(module: string): Promise<string> {
  const { stdout } = await run("go", ["mod", "download", "-json", module], { maxBuffer, env: { ...process.env, GOFLAGS: "-mod=mod" } });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

/** Answers the files of the definitions of kinds that are not Kubernetes' own. */
export async function customDefinitions(): Promise<string[]> {
  const found = definitions.map(async ({ module, folder, file }) => {
    const dir = join(await goModule(module), folder);
    return readdirSync(dir)
      .filter((name) => file.test(name))
      .map((name) => join(dir, name));
  });
  return (await Promise.all(found)).flat();
}

/** Answers the folder with a strict JSON schema for each kind: no member is allowed that the kind does not have. */
export function kubernetesSchemas(): Promise<string> {
  return cached(join("kubernetes", `schemas-${kubernetesVersion}-2`), async (dir) => {
    const swagger = join(await goModule(`k8s.io/kubernetes@v${kubernetesVersion}`), "api", "openapi-spec", "swagger.json");
    const own = openApiSchemas(JSON.parse(readFileSync(swagger, "utf8")));
    const others = (await customDefinitions()).flatMap((file) => parseManifests(readFileSync(file, "utf8")).flatMap(crdSchemas));
    const out = join(dir, "schemas");
    mkdirSync(out);
    for (const { name, schema } of [...own, ...others]) writeFileSync(join(out, name), JSON.stringify(schema));
    return out;
  });
}

/** Reads all objects of a text of YAML documents. */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if ("errors" in document && document.errors.length > 0) throw document.errors[0];
    const value = "toJS" in document ? (document.toJS() as Manifest | null) : null;
    return value === null ? [] : [value];
  });
}

/** The folder of the chart. */
export const chartFolder = join(workspaceRoot, "deploy", "helm", "harrier");

/** Runs helm and answers what it printed; rejects with what it complained of. */
export async function helm(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const command = await installHelm();
  const { stdout } = await run(command, [...args], { maxBuffer, env: { ...process.env, ...env } });
  return stdout;
}

/** Answers what the chart makes of these files of values. */
export function renderChart(values: readonly string[], set: readonly string[] = []): Promise<string> {
  const options = [...values.flatMap((file) => ["--values", file]), ...set.flatMap((one) => ["--set", one])];
  return helm(["template", "harrier", chartFolder, "--namespace", "fleet", "--kube-version", kubernetesVersion, ...options]);
}

/** Checks objects against the schemas; answers what is wrong with them, empty if nothing is. */
export async function conform(file: string): Promise<string> {
  const [command, schemas] = await Promise.all([installKubeconform(), kubernetesSchemas()]);
  const location = `${schemas}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  const options = ["-strict", "-summary", "-output", "json", "-schema-location", location, file];
  const { stdout } = await run(command, options, { maxBuffer }).catch((error: { stdout: string }) => error);
  const { resources = [], summary } = JSON.parse(stdout) as { resources?: unknown[]; summary: { valid: number; skipped: number } };
  if (resources.length > 0) return JSON.stringify(resources);
  return summary.valid > 0 && summary.skipped === 0 ? "" : JSON.stringify(summary);
}

/** Answers what Grafana's own schema has against a dashboard, empty if nothing. The check is built once (a minute); it needs Go. */
export async function complaintsOfGrafana(file: string): Promise<string> {
  const command = await cached(join("bin", "dashboard-check-0.0.22"), async (dir) => {
    cpSync(join(workspaceRoot, "packages", "testkit", "dashboard-check"), dir, { recursive: true });
    await install("go", ["build", "-o", "dashboard-check", "."], { cwd: dir, env: { ...process.env, GOFLAGS: "-p=2 -mod=readonly" } });
    return join(dir, "dashboard-check");
  });
  return (await run(command, [file])).stdout.trim();
}
