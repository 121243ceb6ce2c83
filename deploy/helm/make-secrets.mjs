// Prints the Secrets that the chart refers to, for `kubectl apply -f -`: passwords, keys, and with --tls an authority and certificates of the services.
// What is secret is kept as files in ./secrets (or the given folder), each made once, so it may run again. Keep them as long as the database.
//   node make-secrets.mjs --database postgres.example.com:5432/harrier --admin postgres [--name harrier] [--tls] [folder]
// The password of the database's administrator is read from HARRIER_ADMIN_DB_PASSWORD, the keys of the object store from HARRIER_S3_ACCESS_KEY and
// HARRIER_S3_SECRET_KEY, and the message broker from HARRIER_AMQP_URL and HARRIER_AMQP_MANAGEMENT_URL, if they are there.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
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

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: "string" },
    admin: { type: "string", default: "postgres" },
    name: { type: "string", default: "harrier" },
    tls: { type: "boolean", default: false },
  },
});
if (options.database === undefined) {
  console.error("usage: node make-secrets.mjs --database host:port/database [--admin user] [--name fullname] [--tls] [folder]");
  process.exit(2);
}
const folder = join(positionals[0] ?? ".", "secrets");
mkdirSync(folder, { recursive: true, mode: 0o700 });

/** Answers the text of a file of the folder, which is made where it is not there yet. */
function kept(name, make) {
  const file = join(folder, name);
  if (!existsSync(file)) writeFileSync(file, `${make()}\n`, { mode: 0o600 });
  return readFileSync(file, "utf8").trim();
}

const passwordOf = (service) => kept(`${service}-db-password`, password);
const setting = (service) => service.toUpperCase().replaceAll("-", "_");
const addressOf = (user, word) => `postgres://${encodeURIComponent(user)}:${encodeURIComponent(word)}@${options.database}`;

const auditKeyOf = (service) => kept(`${service}-audit-key`, key);
/** Answers those of these settings that are in the environment. */
const given = (...names) => Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));

function secretsOf(service) {
  const own = pairs.filter((pair) => pair.split("/").includes(service));
  const identityKeys = own.map((pair) => `${pair}=k1:${kept(`identity-${pair.replace("/", "-")}`, key)}`).join(";");
  const data = { HARRIER_IDENTITY_KEYS: identityKeys };
  if (withDatabase.includes(service)) data.HARRIER_DATABASE_URL = addressOf(databaseRole(service), passwordOf(service));
  if (["controller", "management"].includes(service)) data.HARRIER_SECRET_KEY = kept("secret-key", key);
  if (audited.includes(service)) data.HARRIER_AUDIT_KEY = auditKeyOf(service);
  if (service === "artifact-store") Object.assign(data, given("HARRIER_S3_ACCESS_KEY", "HARRIER_S3_SECRET_KEY"));
  if (service === "dmf") Object.assign(data, given("HARRIER_AMQP_URL"));
  if (service !== "management") return data;
  return {
    ...data,
    HARRIER_ADMIN_PASSWORD: kept("admin-password", password),
    HARRIER_AUDIT_PUBLIC_KEYS: audited.map((one) => `${one}=${publicKeyOf(auditKeyOf(one))}`).join(","),
    ...given("HARRIER_AMQP_URL", "HARRIER_AMQP_MANAGEMENT_URL"),
  };
}

/** Makes the authority and a certificate in the name of each service and of its addresses in the cluster. */
function certificateOf(service) {
  makeAuthority(folder);
  const own = `${options.name}-${service}`;
  if (!existsSync(join(folder, `${own}.pem`))) makeCertificate(folder, own, service, [service, own, `${own}-grpc`]);
  const text = (name) => readFileSync(join(folder, name), "utf8");
  return { "tls.crt": text(`${own}.pem`), "tls.key": text(`${own}.key`), "ca.crt": text("ca.pem") };
}

const secret = (name, type, stringData) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: `${options.name}-${name}`, labels: { "app.kubernetes.io/part-of": "harrier" } },
  type,
  stringData,
});

const adminPassword = process.env.HARRIER_ADMIN_DB_PASSWORD;
const items = services.map((service) => secret(service, "Opaque", secretsOf(service)));
if (adminPassword) {
  const passwords = withDatabase.map((service) => [`HARRIER_${setting(service)}_DB_PASSWORD`, passwordOf(service)]);
  const data = { HARRIER_ADMIN_DATABASE_URL: addressOf(options.admin, adminPassword), ...Object.fromEntries(passwords) };
  items.push(secret("bootstrap", "Opaque", data));
} else {
  console.error("HARRIER_ADMIN_DB_PASSWORD is not set: no Secret for the set-up of the database");
}
if (options.tls) items.push(...services.map((service) => secret(`${service}-tls`, "kubernetes.io/tls", certificateOf(service))));
console.log(JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2));
