/**
 * Answers the administrator's URL of the PostgreSQL that tests/setup/postgres.ts started for this vitest run. vitest is imported late, because
 * testkit also serves programs that run without it, which pass a URL instead.
 */
export async function providedPostgresUrl(): Promise<string> {
  const { inject } = await import("vitest");
  const url = (inject as (key: string) => unknown)("postgresUrl");
  if (typeof url !== "string")
    throw new Error("no postgresUrl: is this test in a vitest project with tests/setup/postgres.ts as its globalSetup?");
  return url;
}
