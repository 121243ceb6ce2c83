import type { TestProject } from "vitest/node";
import { startPostgres } from "../../packages/stack/src/postgres.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The URL of this run's PostgreSQL for its superuser. */
    postgresUrl: string;
  }
}

/** Starts one PostgreSQL per vitest run, which is deleted afterwards. With DATABASE_URL that server is used in its place (a superuser's URL). */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["DATABASE_URL"];
  if (given !== undefined && given !== "") {
    project.provide("postgresUrl", given);
    return async () => {};
  }
  const server = await startPostgres();
  project.provide("postgresUrl", server.url);
  return () => server.stop();
}
