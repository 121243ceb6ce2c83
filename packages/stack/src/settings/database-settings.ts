import { type DatabaseService, databaseServices } from "@harrier/db";
import { StartError } from "../start-error.ts";
import type { Value } from "./read-value.ts";

/** It is embedded, one server that we may set up, or four databases' URLs that are used as they are. */
export type DatabaseSettings =
  | { kind: "embedded" }
  | { kind: "one"; url: string }
  | { kind: "per-service"; urls: Readonly<Record<DatabaseService, string>> };

const databaseSetting = (service: DatabaseService) => `HARRIER_${service.toUpperCase().replaceAll("-", "_")}_DATABASE_URL`;
/** Each may also be given as the path of a file. */
export const databaseNames = ["HARRIER_DATABASE_URL", ...databaseServices.map(databaseSetting)];

/** Reads where the databases are. @throws StartError without the value, which contains a password */
export function readDatabase(value: Value): DatabaseSettings {
  const one = value("HARRIER_DATABASE_URL");
  const given = databaseServices.map((service) => ({ service, name: databaseSetting(service), url: value(databaseSetting(service)) }));
  if (one !== undefined) checkPostgresUrl("HARRIER_DATABASE_URL", one);
  if (given.every(({ url }) => url === undefined)) return one === undefined ? { kind: "embedded" } : { kind: "one", url: one };
  const first = given.find(({ url }) => url !== undefined);
  if (one !== undefined) throw new StartError(`HARRIER_DATABASE_URL and ${first?.name} are both given: use one URL, or one per service`);
  const urls: Partial<Record<DatabaseService, string>> = {};
  for (const { service, name, url } of given) {
    if (url === undefined) throw new StartError(`${name} is missing: with ${first?.name} each of the four services needs its own URL`);
    checkPostgresUrl(name, url);
    urls[service] = url;
  }
  return { kind: "per-service", urls: urls as Record<DatabaseService, string> };
}

// the value itself is never shown, because it contains a password
function checkPostgresUrl(name: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol) || url.hostname === "" || url.pathname.length < 2)
    throw new StartError(`${name} must be a URL like postgres://user:password@host:5432/database`);
}
