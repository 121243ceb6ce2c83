import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const compose = read("deploy/compose/compose.yaml");

/** Returns the part of the file that describes one service. */
function serviceOf(name: string): string {
  const from = compose.indexOf(`\n  ${name}:\n`);
  const rest = compose.slice(from + 1);
  const next = rest.slice(3).search(/\n {2}\S|\n\S/);
  return from < 0 ? "" : rest.slice(0, next + 3);
}

test("every image is named by an exact version", () => {
  const images = [...compose.matchAll(/image: (\S+)/g)].map(([, image]) => image);
  expect(images.length).toBeGreaterThanOrEqual(4);
  for (const image of images) expect(image).toMatch(/:(\d+\.\d+(\.\d+)?|RELEASE\.[\dTZ-]+)(@sha256:[0-9a-f]{64})?$/);
  const dockerfile = read("deploy/docker/Dockerfile");
  expect(dockerfile).toMatch(/^ARG NODE=\d+\.\d+\.\d+-/m);
  expect([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)).toEqual([`node:\${NODE}`, `node:\${NODE}`]);
});

test("artifact-store has a user of its own, who may use only one bucket", () => {
  expect(serviceOf("artifact-store")).toMatch(/HARRIER_S3_SECRET_KEY_FILE: \/run\/secrets\/s3-secret-key/);
  expect(serviceOf("artifact-store")).not.toMatch(/root/);
  const holders = [
    "postgres",
    "minio",
    "minio-setup",
    "bootstrap",
    "controller",
    "management",
    "artifact-store",
    "rollout-engine",
    "gateway",
  ];
  expect(holders.filter((name) => serviceOf(name).includes("minio-root-password"))).toEqual(["minio", "minio-setup"]);
  const { Statement: statements } = JSON.parse(read("deploy/compose/minio/policy.json")) as {
    Statement: { Effect: string; Action: string[]; Resource: string[] }[];
  };
  for (const { Effect: effect, Action: actions, Resource: resources } of statements) {
    expect(effect).toBe("Allow");
    expect(actions.join()).not.toMatch(/\*|admin:/);
    expect(resources.every((resource) => /^arn:aws:s3:::harrier(\/\*)?$/.test(resource))).toBe(true);
  }
});

test("passwords of the database come as files, each only for the service that needs it", () => {
  expect(compose).not.toMatch(/postgres:\/\/|_DB_PASSWORD\}|POSTGRES_PASSWORD:/);
  for (const service of ["controller", "management", "artifact-store", "rollout-engine"]) {
    const own = [...serviceOf(service).matchAll(/[\w-]+-database-url/g)].map(([name]) => name);
    expect(new Set(own)).toEqual(new Set([`${service}-database-url`]));
    expect(compose).toContain(`  ${service}-database-url: { file: ./secrets/${service}-database-url }`);
  }
  expect(read("deploy/compose/make-secrets.mjs")).toMatch(/secret\(`\$\{service\}-database-url`/);
  expect(read(".gitignore")).toContain("deploy/compose/secrets");
});

test("an image is built only from the files that the recipe copies: no history, no data, no secrets", () => {
  const lines = read(".dockerignore").split("\n");
  expect(lines).toContain("**");
  const kept = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const copied = [...read("deploy/docker/Dockerfile").matchAll(/^COPY (?!--from)(?:--\S+ )?(.+) \S+$/gm)].flatMap(([, names]) =>
    (names ?? "").split(" "),
  );
  expect(copied.length).toBeGreaterThan(8);
  expect(copied.toSorted()).toEqual(kept.toSorted());
  for (const name of ["**/node_modules", "**/dist", "**/.env", "**/.harrier"]) expect(lines).toContain(name);
});

test("every limit of the gateway can be set in .env, and only services that publish events reach Kafka", () => {
  const names = read("apps/gateway/src/config.ts").match(/HARRIER_(RATE|IN_FLIGHT|CONNECTIONS|DRAIN|SIGN_IN_FAILURES)_[A-Z_]+(?=:)/g) ?? [];
  expect(names.length).toBeGreaterThan(20);
  const example = read("deploy/compose/.env.example");
  for (const name of names) {
    expect(compose).toContain(`      ${name}: \${${name}:-}\n`);
    expect(example).toContain(`\n${name}=\n`);
  }
  for (const name of ["controller", "management", "artifact-store", "rollout-engine", "gateway"]) {
    const publishes = ["controller", "management", "rollout-engine"].includes(name);
    const own = compose.slice(compose.indexOf(`\n  ${name}:\n`)).split("\n\n", 1)[0] ?? "";
    expect([name, /networks:.*\bevents\b/.test(own), own.includes("HARRIER_KAFKA_BROKERS")]).toEqual([name, publishes, publishes]);
  }
});

interface Schema {
  readonly description?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** Returns the paths of what the schema names without a word about it. */
function undescribed(schema: Schema, path: string): string[] {
  const own = path === "" || schema.$ref !== undefined || (schema.description ?? "") !== "" ? [] : [path];
  const parts = Object.entries({ ...schema.properties, ...schema.definitions });
  return [...own, ...parts.flatMap(([name, part]) => undescribed(part, path === "" ? name : `${path}.${name}`))];
}

test("every value of the chart is described in its schema", () => {
  const schema = JSON.parse(read("deploy/helm/harrier/values.schema.json")) as Schema;
  expect(Object.keys(schema.properties ?? {}).length).toBeGreaterThan(20);
  expect(undescribed(schema, "")).toEqual([]);
});
