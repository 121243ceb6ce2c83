import { ask, r } from "../api/client.ts";

/** What settings there are; that changes with a release alone. */
export const schemaOfConfigs = { ...ask(r.configs.schema), staleTime: 600_000 };
