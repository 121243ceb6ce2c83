import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isCertificateOf } from "@harrier/rpc";
import { chartFolder, installHelm, type Manifest, parseManifests, renderChart } from "@harrier/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";

const dir = mkdtempSync(join(tmpdir(), "harrier-secrets-"));
// The first run builds Helm, for which the hooks have time.
beforeAll(async () => void (await installHelm()));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const script = join(chartFolder, "..", "make-secrets.mjs");
const environment = {
  PATH: process.env["PATH"] ?? "",
  HARRIER_ADMIN_DB_PASSWORD: "p@ss/word",
  HARRIER_S3_ACCESS_KEY: "access",
  HARRIER_S3_SECRET_KEY: "secret",
  HARRIER_AMQP_URL: "amqp://harrier:word@broker:5672",
  HARRIER_AMQP_MANAGEMENT_URL: "http://harrier:word@broker:15672",
};
const makeSecrets = (): Manifest[] => {
  const text = execFileSync(process.execPath, [script, "--database", "db.example.com:5432/harrier", "--tls", dir], { env: environment });
  return JSON.parse(text.toString()).items;
};

it("makes every Secret that the chart mounts, with every key, and the same again", { timeout: 120_000 }, async () => {
  const secrets = makeSecrets();
  const keysOf = new Map(secrets.map((secret) => [secret.metadata.name, Object.keys(secret["stringData"])]));
  const manifests = parseManifests(
    await renderChart([join(chartFolder, "ci", "everything-values.yaml")], ["mutualTls.mode=secret", "storage.kind=s3"]),
  );
  const mounted = manifests
    .filter(({ kind }) => kind === "Deployment" || kind === "Job")
    .flatMap((manifest) => manifest["spec"].template.spec.volumes)
    .flatMap(({ secret }) => (secret === undefined || secret.secretName === "updates-certificate" ? [] : [secret]));
  expect(mounted.length).toBeGreaterThan(12);
  for (const { secretName, items = [] } of mounted) {
    expect([secretName, keysOf.get(secretName)]).toEqual([
      secretName,
      expect.arrayContaining(items.map(({ key }: { key: string }) => key)),
    ]);
  }
  expect(makeSecrets()).toEqual(secrets);
});

it("makes certificates in the names of the services and of their addresses", { timeout: 60_000 }, () => {
  const named = makeSecrets().filter((secret) => secret["type"] === "kubernetes.io/tls");
  expect(named.length).toBe(6);
  for (const { metadata, stringData } of named.map((one) => ({ metadata: one.metadata, stringData: one["stringData"] }))) {
    const service = metadata.name.replace(/^harrier-|-tls$/g, "");
    const certificate = new X509Certificate(stringData["tls.crt"]);
    expect(isCertificateOf({ subjectaltname: certificate.subjectAltName }, service as "gateway")).toBe(true);
    for (const host of [`harrier-${service}`, `harrier-${service}-grpc`]) expect(certificate.checkHost(host)).toBe(host);
    expect(certificate.verify(new X509Certificate(stringData["ca.crt"]).publicKey)).toBe(true);
  }
});
