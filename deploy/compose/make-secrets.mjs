// Makes what the composition keeps secret, each once, as files in secrets/: passwords of database and object store, keys of the services, and with
// --tls an authority and a certificate per service; and .env from .env.example. What is there already stays, so it may run again. Run it here:
//   node make-secrets.mjs [--tls] [directory]
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  audited,
  databaseRole,
  key,
  makeAuthority,
  makeCertificate,
  pairs,
  password,
  publicKeyOf,
  services,
  withDatabase,
} from "../secrets.mjs";

const given = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const dir = given.find((argument) => !argument.startsWith("--")) ?? here;
const secrets = join(dir, "secrets");

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
  for (const service of withDatabase) {
    const word = secret(`${service}-db-password`, password);
    secret(`${service}-database-url`, () => address(databaseRole(service), word));
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

function makeAuditKeys() {
  const publicKeys = audited.map((service) => `${service}=${publicKeyOf(secret(`${service}-audit-key`, key))}`);
  write("audit-public-keys", publicKeys.join(","));
}

/** All keys at once or none: half a pair would be no pair. Those of a release without dmf get what dmf adds to them. */
function makeIdentityKeys() {
  const present = services.filter((service) => existsSync(join(secrets, `${service}-identity-keys`)));
  if (present.length === services.length) return;
  if (present.length === services.length - 1 && !present.includes("dmf")) {
    const pair = `dmf/controller=k1:${key()}`;
    const file = join(secrets, "controller-identity-keys");
    writeFileSync(file, `${readFileSync(file, "utf8").trim()};${pair}\n`);
    return write("dmf-identity-keys", pair);
  }
  if (present.length > 0)
    throw new Error(`identity keys of ${present.join(", ")} are there, the others' are not: remove them or bring the others back`);
  const keys = pairs.map((pair) => [pair, `${pair}=k1:${key()}`]);
  for (const service of services) {
    const own = keys.filter(([pair]) => pair.split("/").includes(service));
    write(`${service}-identity-keys`, own.map(([, text]) => text).join(";"));
  }
}

function makeCertificates() {
  const file = (name) => join(secrets, name);
  if (existsSync(file("ca.pem"))) return;
  makeAuthority(secrets);
  for (const name of services) {
    makeCertificate(secrets, name, name, [name]);
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
write("secret-key", key());
write("admin-password", randomBytes(18).toString("base64url"));
if (given.includes("--tls")) makeCertificates();
