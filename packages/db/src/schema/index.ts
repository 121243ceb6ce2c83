import { createDatabase } from "../database.ts";
import { unsuitableText } from "../text-support.ts";
import { migrate, type ServiceSchema } from "./migrate.ts";
import { applyFunctions, applyViews } from "./objects.ts";

export { migrate, type ServiceSchema } from "./migrate.ts";
export { checkNeeds } from "./needs.ts";
export { applyFunctions, applyViews } from "./objects.ts";

/**
 * Applies migrations, then functions, then views, before a service does anything else. Files that are already applied are left alone. A database that
 * cannot hold Harrier's text is refused before that: one that was set up by hand has been seen by nobody else.
 */
export async function prepareSchema(service: ServiceSchema): Promise<void> {
  const unsuitable = await unsuitableText(service.pool);
  if (unsuitable !== undefined) throw new Error(unsuitable);
  await migrate(service);
  await applyFunctions(service);
  await applyViews(service);
}

/** `prepareSchema` by itself, for a set-up that migrates before the services start; `url` is that of the service's own role. */
export async function migrateDatabase(url: string, own: Omit<ServiceSchema, "pool">): Promise<void> {
  const db = createDatabase({ url, applicationName: `harrier/${own.schema}/migrate` });
  try {
    await prepareSchema({ pool: db.background, ...own });
  } finally {
    await db.close();
  }
}
