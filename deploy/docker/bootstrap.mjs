// Makes the four database roles and schemas; run once before the services, again whenever a password changes.
// HARRIER_ADMIN_DATABASE_URL: a role that may create roles. HARRIER_<SERVICE>_DB_PASSWORD: the password of each service's role.
// Each may also be given as NAME_FILE, the path of a file that holds it.
import { readFileSync } from "node:fs";
import { bootstrap, databaseServices } from "@harrier/db";

const need = (name) => {
  const file = process.env[`${name}_FILE`];
  const value = process.env[name] || (file && readFileSync(file, "utf8").trim());
  if (!value) {
    console.error(`${name} is not set, nor is ${name}_FILE`);
    process.exit(1);
  }
  return value;
};
const passwords = Object.fromEntries(databaseServices.map((s) => [s, need(`HARRIER_${s.toUpperCase().replaceAll("-", "_")}_DB_PASSWORD`)]));
await bootstrap({ adminUrl: need("HARRIER_ADMIN_DATABASE_URL"), passwords });
console.log("roles and schemas are ready");
