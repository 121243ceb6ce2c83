// What the secrets of every kind of deployment have in common: who has them, how they are made, and what belongs together.
import { execFileSync } from "node:child_process";
import { createPrivateKey, createPublicKey, randomBytes } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const services = ["gateway", "controller", "management", "artifact-store", "rollout-engine", "dmf"];
export const withDatabase = ["controller", "management", "artifact-store", "rollout-engine"];
/** They sign what they see of the others' audit trails (Ed25519); management verifies with the public halves. */
export const audited = ["management", "rollout-engine", "artifact-store"];

/** Who calls whom (packages/rpc/src/callers.ts, and what the gateway forwards): a key for each pair, which only these two get. */
export const pairs = [
  "gateway/controller",
  "gateway/management",
  "gateway/artifact-store",
  "gateway/rollout-engine",
  "management/controller",
  "management/artifact-store",
  "management/rollout-engine",
  "rollout-engine/controller",
  "rollout-engine/management",
  "artifact-store/controller",
  "artifact-store/management",
  "dmf/controller",
];

export const key = () => randomBytes(32).toString("base64");
export const password = () => randomBytes(24).toString("hex");
export const databaseRole = (service) => `harrier_${service.replaceAll("-", "_")}`;

/** Answers the public half of an audit key. */
export function publicKeyOf(seed) {
  const prefix = Buffer.from("302e020100300506032b657004220420", "hex"); // of 32 bytes in PKCS #8 (RFC 8410 §7)
  const own = createPrivateKey({ key: Buffer.concat([prefix, Buffer.from(seed, "base64")]), format: "der", type: "pkcs8" });
  return createPublicKey(own).export({ format: "der", type: "spki" }).subarray(-32).toString("base64");
}

const openssl = (...words) => execFileSync("openssl", words, { stdio: ["ignore", "ignore", "pipe"] });
const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Makes the authority of a folder, `ca.pem` and `ca.key`, where it is not there yet. */
export function makeAuthority(folder) {
  const [pem, own] = ["ca.pem", "ca.key"].map((name) => join(folder, name));
  if (!existsSync(pem)) openssl("req", "-x509", ...newKey, "-days", "3650", "-subj", "/CN=harrier", "-keyout", own, "-out", pem);
}

/** Makes `<name>.pem` and `<name>.key` of a service, signed by the authority of the folder, for these names of hosts. */
export function makeCertificate(folder, name, service, hosts) {
  const file = (ending) => join(folder, `${name}.${ending}`);
  openssl("req", ...newKey, "-subj", `/CN=${service}`, "-keyout", file("key"), "-out", file("csr"));
  writeFileSync(file("ext"), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(",")}\n`);
  const authority = ["-CA", join(folder, "ca.pem"), "-CAkey", join(folder, "ca.key"), "-CAcreateserial"];
  openssl("x509", "-req", "-in", file("csr"), ...authority, "-days", "825", "-extfile", file("ext"), "-out", file("pem"));
  for (const ending of ["csr", "ext"]) rmSync(file(ending));
}
