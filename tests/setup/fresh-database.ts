import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { createDatabase } from "../../packages/db/src/database.ts";
import type {} from "./postgres.ts"; // declares what is provided

/** Makes an empty database on this run's PostgreSQL, for the packages that testkit itself is built on. All others use testkit's `testDatabase`. */
export async function freshDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const serverUrl = inject("postgresUrl");
  const name = `harrier_fresh_${randomBytes(6).toString("hex")}`;
  const onServer = async (text: string) => {
    const server = createDatabase({ url: serverUrl, applicationName: "harrier/fresh-database" });
    try {
      await server.pool.query(text);
    } finally {
      await server.close();
    }
  };
  await onServer(`create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`drop database if exists ${name} with (force)`) };
}
