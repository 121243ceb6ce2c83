// Makes what the composition keeps secret, each once, as files in secrets/: passwords of database and object store, keys of the services, and with
// --tls an authority and a certificate per service; and .env from .env.example. What is there already stays, so it may run again. Run it here:
//   node make-secrets.mjs [--tls] [directory]
import { execFileSync } from "node:child_process";
import { createPrivateKey, createPublicKey, randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const given = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const dir = given.find((argument) => !argument.startsWith("--")) ?? here;
const secrets = join(dir, "secrets");
const services = ["gateway", "controller", "management", "artifact-store", "rollout-engine", "dmf"];
/** Who calls whom (packages/rpc/src/callers.ts): a key for each, which only these two get. */
const pairs = [
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

const base64 = () => randomBytes(32).toString("base64");

/** The directory keeps others out; the files themselves are read in the containers, by a user who is not the one out here. */
function write(name, text) {
  const file = join(secrets, name);
  if (existsSync(file)) return;
  writeFileSync(file, `${text}\n`, { mode: 0o644 });
  console.log(`made ${file}`);
}

/** The text of a secret, made where it is not there yet. */
function secret(name, make) {
  write(name, make());
  return readFileSync(join(secrets, name), "utf8").trim();
}

const password = () => randomBytes(24).toString("hex");

function makeEnv() {
  const file = join(dir, ".env");
  if (existsSync(file)) return;
  copyFileSync(join(here, ".env.example"), file);
  console.log(`made ${file}`);
}

/** A password per role of the database, and the address with it for the one service that signs in so. */
function makeDatabasePasswords() {
  const address = (role, word) => `postgres://${role}:${word}@postgres:5432/harrier`;
  secret("admin-database-url", () => address("postgres", secret("postgres-password", password)));
  for (const service of services.filter((name) => name !== "gateway" && name !== "dmf")) {
    const word = secret(`${service}-db-password`, password);
    secret(`${service}-database-url`, () => address(`harrier_${service.replaceAll("-", "_")}`, word));
  }
}

/** MinIO's own administrator, and the user that artifact-store is. */
function makeStoreUsers() {
  write("minio-root-user", "harrier-root");
  write("minio-root-password", password());
  write("s3-access-key", "harrier-artifacts");
  write("s3-secret-key", password());
}

/** The user that management and dmf are at the message broker (profile dmf), and their addresses with it. */
function makeBrokerUser() {
  const word = secret("rabbitmq-password", password);
  write("rabbitmq-conf", `default_user = harrier\ndefault_pass = ${word}\nloopback_users = none\nmax_message_size = 4194304`);
  write("amqp-url", `amqp://harrier:${word}@rabbitmq:5672`);
  write("amqp-management-url", `http://harrier:${word}@rabbitmq:15672`);
}

/** With them services sign what they see of the others' audit trails; management verifies with the public halves (Ed25519). */
function makeAuditKeys() {
  const privatePrefix = Buffer.from("302e020100300506032b657004220420", "hex"); // of 32 bytes in PKCS #8 (RFC 8410 §7)
  const publicKeys = ["management", "rollout-engine", "artifact-store"].map((service) => {
    const seed = Buffer.from(secret(`${service}-audit-key`, base64), "base64");
    const key = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: "der", type: "pkcs8" });
    const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
    return `${service}=${publicKey.toString("base64")}`;
  });
  write("audit-public-keys", publicKeys.join(","));
}

/** All keys at once or none: half a pair would be no pair. Those of a release without dmf get what dmf adds to them. */
function makeIdentityKeys() {
  const present = services.filter((service) => existsSync(join(secrets, `${service}-identity-keys`)));
  if (present.length === services.length) return;
  if (present.length === services.length - 1 && !present.includes("dmf")) {
    const pair = `dmf/controller=k1:${base64()}`;
    const file = join(secrets, "controller-identity-keys");
    writeFileSync(file, `${readFileSync(file, "utf8").trim()};${pair}\n`);
    return write("dmf-identity-keys", pair);
  }
  if (present.length > 0)
    throw new Error(`identity keys of ${present.join(", ")} are there, the others' are not: remove them or bring the others back`);
  const keys = pairs.map((pair) => [pair, `${pair}=k1:${base64()}`]);
  for (const service of services) {
    const own = keys.filter(([pair]) => pair.split("/").includes(service));
    write(`${service}-identity-keys`, own.map(([, text]) => text).join(";"));
  }
}

function makeCertificates() {
  const file = (name) => join(secrets, name);
  if (existsSync(file("ca.pem"))) return;
  const openssl = (...options) => execFileSync("openssl", options, { stdio: ["ignore", "ignore", "pipe"] });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...newKey, "-days", "3650", "-subj", "/CN=harrier", "-keyout", file("ca.key"), "-out", file("ca.pem"));
  for (const name of services) {
    const [request, names] = [file(`${name}.csr`), file(`${name}.ext`)];
    openssl("req", ...newKey, "-subj", `/CN=${name}`, "-keyout", file(`${name}.key`), "-out", request);
    writeFileSync(names, `subjectAltName=DNS:${name}\n`);
    const signedBy = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-CAcreateserial", "-days", "825", "-extfile", names];
    openssl("x509", "-req", "-in", request, ...signedBy, "-out", file(`${name}.pem`));
    for (const left of [request, names]) rmSync(left);
    // the containers' user reads it; the directory keeps others out
    execFileSync("chmod", ["644", file(`${name}.key`)]);
  }
  rmSync(file("ca.srl"), { force: true });
  console.log(`made an authority and ${services.length} certificates; keep ${file("ca.key")} away from this machine`);
}

mkdirSync(secrets, { recursive: true, mode: 0o700 });
makeEnv();
makeDatabasePasswords();
makeStoreUsers();
makeBrokerUser();
makeIdentityKeys();
makeAuditKeys();
write("secret-key", base64());
write("admin-password", randomBytes(18).toString("base64url"));
if (given.includes("--tls")) makeCertificates();
